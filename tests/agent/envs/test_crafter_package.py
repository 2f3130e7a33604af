import itertools
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import crafter.engine
import numpy as np
import pytest
from crafter import objects

from agent.envs.crafter.engine import ACTIONS, DEATH_CAUSES, ITEMS
from agent.envs.crafter.package import PackageEngine
from agent.envs.crafter.textures import MATERIAL_IDS, OFF_MAP, split, texture_id, texture_name
from agent.goals.vocabulary import ACHIEVEMENTS

DIGEST = """
import hashlib
import numpy as np
from agent.envs.crafter.env import make_crafter
env = make_crafter("package", "symbolic", 300)
actions, digest = np.random.default_rng(0), hashlib.sha1()
for seed in (2, 7):
    observation, _ = env.reset(seed=seed)
    over = False
    while not over:
        observation, reward, terminated, truncated, info = env.step(actions.integers(17))
        over = terminated or truncated
        digest.update(b"".join(value.tobytes() for value in observation.values()) + repr(info).encode())
print(digest.hexdigest())
"""


def test_one_seed_is_one_game_in_every_process():
    root = Path(__file__).parents[3]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "1", "4242")
    ]
    digests = [process.communicate()[0] for process in processes]
    assert len(set(digests)) == 1 and len(digests[0]) == 41


class InsertionOrderedSet(dict):
    """What the package's `set` is replaced by to define its order."""

    def __init__(self, members: Iterable = ()):
        super().__init__(dict.fromkeys(members))

    def add(self, member: object) -> None:
        self[member] = None

    def remove(self, member: object) -> None:
        del self[member]


@pytest.fixture
def ordered_package(monkeypatch):
    """The package with its chunks in order of insertion: in its world module, `set` is another class."""
    monkeypatch.setattr(crafter.engine, "set", InsertionOrderedSet, raising=False)


@pytest.mark.parametrize("seed", [1, 8])
def test_plays_the_packages_game_in_lock_step(ordered_package, seed):
    original = crafter.Env(seed=seed)
    original._obs = lambda: None  # drawing would spend random numbers
    engine = PackageEngine()
    rng = np.random.default_rng(seed)
    achieved = np.zeros(len(ACHIEVEMENTS))
    for step in range(400):
        if step == 0 or engine.dead:
            original.reset()
            engine.reset(hash((seed, original._episode)) % (2**31 - 1))  # how the package seeds its worlds
        if step % 10 == 0:
            for player in (original._player, engine._game.player):
                player.inventory.update(dict.fromkeys(ITEMS, 9))  # rich and healthy: every recipe is reached
        action = int(rng.choice([*range(17), 1, 2, 3, 4, 5, 5, 5, 5]))
        *_, info = original.step(action)
        engine.step(action)
        assert engine.inventory.tolist() == list(info["inventory"].values())
        assert engine.achievements.tolist() == list(info["achievements"].values())
        assert engine.position.tolist() == info["player_pos"].tolist()
        assert engine.daylight == original._world.daylight
        assert engine.dead == (info["discount"] == 0)
        assert_same_world(original._world, engine._game._world)
        achieved = np.maximum(achieved, engine.achievements)
    assert np.count_nonzero(achieved) >= 8


def assert_same_world(original, own) -> None:
    assert np.array_equal(original._mat_map, own._mat_map)
    assert np.array_equal(original._obj_map, own._obj_map)
    assert [obj.texture for obj in original.objects] == [obj.texture for obj in own.objects]
    for one, other in zip(original.random.get_state(), own.random.get_state(), strict=True):
        assert np.array_equal(one, other)


def test_stock_order_is_available():
    engine = PackageEngine(ordered=False)
    engine.reset(0)
    assert all(type(members) is set for members in engine._game._world.chunks.values())
    assert isinstance(engine._game._world._chunks, defaultdict)


@pytest.fixture
def engine() -> PackageEngine:
    """A game whose player stands alone in the middle of grass."""
    engine = PackageEngine()
    engine.reset(0)
    world, player = engine._game._world, engine._game.player
    for obj in world.objects:
        if obj is not player:
            world.remove(obj)
    world._mat_map[:] = MATERIAL_IDS["grass"]
    return engine


def go_to(engine: PackageEngine, x: int, y: int) -> None:
    engine._game._world.move(engine._game.player, (x, y))
    engine.step(0)


def test_cells_off_the_map_are_zero_on_every_side(engine):
    for x, y in itertools.product((0, 3, 32, 60, 63), (0, 2, 61, 63)):
        go_to(engine, x, y)
        assert engine.position.tolist() == [x, y]
        columns, rows = x - 4 + np.arange(9)[:, None], y - 3 + np.arange(7)[None, :]
        inside = (columns >= 0) & (columns < 64) & (rows >= 0) & (rows < 64)
        assert np.array_equal(engine.view != OFF_MAP, inside)
        assert texture_name(engine.view[4, 3]) == "player-down on grass"


def test_view_shows_objects_on_their_ground_with_x_first(engine):
    world, player = engine._game._world, engine._game.player
    world[33, 32] = "sand"
    world.add(objects.Zombie(world, (33, 32), player))
    world.add(objects.Plant(world, (32, 29)))
    world[28, 35] = "diamond"
    engine.step(ACTIONS.index("move_left"))
    x, y = engine.position.tolist()
    assert (x, y) == (31, 32) and engine.facing == 0
    materials, things = split(engine.view)
    assert materials[28 - x + 4, 35 - y + 3] == MATERIAL_IDS["diamond"]
    assert engine.view[32 - x + 4, 29 - y + 3] == texture_id("grass", "plant")
    assert engine.view[4, 3] == texture_id("grass", "player-left")
    assert (things > 0).sum() == 3


def test_sleeping_is_seen(engine):
    engine._game.player.inventory["energy"] = 3
    engine.step(ACTIONS.index("sleep"))
    assert engine.sleeping and texture_name(engine.view[4, 3]) == "player-sleep on grass"


def die_of_zombie(world, player) -> None:
    world.add(objects.Zombie(world, (33, 32), player))
    player.health = 2


def die_of_arrow(world, player) -> None:
    world.add(objects.Arrow(world, (34, 32), (-1, 0)))
    player.health = 2


def die_of_lava(world, player) -> None:
    world[32, 33] = "lava"


def die_of(need: str):
    def starve(world, player) -> None:
        player.inventory[need], player.health, player._recover = 0, 1, -15

    return starve


@pytest.mark.parametrize(
    ("cause", "prepare", "action"),
    [
        ("zombie", die_of_zombie, "noop"),
        ("skeleton arrow", die_of_arrow, "noop"),
        ("lava", die_of_lava, "move_down"),
        ("starvation", die_of("food"), "noop"),
        ("thirst", die_of("drink"), "noop"),
        ("exhaustion", die_of("energy"), "noop"),
    ],
)
def test_cause_of_death(engine, cause, prepare, action):
    prepare(engine._game._world, engine._game.player)
    for _ in range(20):
        engine.step(ACTIONS.index(action))
        if engine.dead:
            break
    assert engine.dead and engine.death_cause == cause and cause in DEATH_CAUSES


def test_a_reset_brings_the_player_back_to_life(engine):
    engine._game.player.health = 1
    engine._game._world.add(objects.Arrow(engine._game._world, (33, 32), (-1, 0)))
    engine.step(0)
    assert engine.dead and engine.inventory[0] == 0
    engine.reset(0)
    assert not engine.dead and engine.death_cause == "" and engine.inventory[0] == 9
