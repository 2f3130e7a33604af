"""The compiled Crafter is the package's game: same worlds, same play, same random stream, bit by bit."""

import subprocess
import sys
from collections import Counter, defaultdict

import crafter
import numba
import numpy as np
import pytest
from crafter import constants
from crafter_lockstep import POLICIES, Pair, play
from hypothesis import given, settings
from hypothesis import strategies as st
from opensimplex import OpenSimplex

from agent.envs.crafter import fast_recipes
from agent.envs.crafter.engine import ITEMS
from agent.envs.crafter.fast import FastEngine, daylight_at
from agent.envs.crafter.fast_noise import noise3, noise_tables
from agent.envs.crafter.fast_random import below, seed_random, uniform
from agent.envs.crafter.fast_world import WORLD
from agent.envs.crafter.package import PackageEngine
from agent.goals.vocabulary import ACHIEVEMENTS

MAX_SEED = 2**31 - 1


@numba.njit
def _draw(worlds, seed, bounds):
    """For each bound a number below it, or one of `uniform` where the bound is 0."""
    seed_random(worlds[0], seed)
    drawn = np.empty(len(bounds))
    for i in range(len(bounds)):
        drawn[i] = uniform(worlds[0]) if bounds[i] == 0 else below(worlds[0], bounds[i])
    return drawn


@numba.njit
def _noise(seed, points):
    tables = noise_tables(seed)
    values = np.empty(len(points))
    for i in range(len(points)):
        values[i] = noise3(tables, points[i, 0], points[i, 1], points[i, 2])
    return values


@given(
    seed=st.integers(0, 2**32 - 1),
    bounds=st.lists(st.one_of(st.just(0), st.integers(1, 2**31)), max_size=8),
)
@settings(max_examples=50, deadline=None)
def test_random_numbers_are_numpy_s(seed: int, bounds: list[int]) -> None:
    bounds = bounds * 200  # past the end of a block of 624 words
    worlds = np.zeros(1, WORLD)
    drawn = _draw(worlds, seed, np.array(bounds, np.int64))
    stream = np.random.RandomState(seed)
    assert drawn.tolist() == [stream.randint(0, bound) if bound else stream.uniform() for bound in bounds]
    _, key, used = stream.get_state()[:3]
    assert worlds["random_used"][0] == used and np.array_equal(worlds["random_key"][0], key)


@pytest.mark.parametrize("seed", [0, 1, 12345, MAX_SEED - 1])
def test_noise_is_opensimplex_s(seed: int) -> None:
    rng = np.random.default_rng(seed)
    anywhere = rng.uniform(-50, 50, (20_000, 3))
    lattice = rng.integers(-6, 6, (5_000, 3)) / 2
    cells = np.stack([rng.integers(0, 64, 20_000) / rng.integers(1, 16, 20_000) for _ in range(3)], 1)
    points = np.concatenate([anywhere, lattice, cells])
    simplex = OpenSimplex(seed)
    assert _noise(seed, points).tolist() == [simplex.noise3(*point) for point in points.tolist()]


def test_daylight_is_the_package_s() -> None:
    engine = PackageEngine()
    for step in (0, 1, 150, 299, 300, 301, 2500, 9999):
        engine._game._step = step
        engine._game._update_time()
        assert daylight_at(step) == engine._game.daylight


def test_recipes_are_those_of_the_package_s_data() -> None:
    assert tuple(constants.achievements) == ACHIEVEMENTS
    assert tuple(constants.items) == ITEMS
    for material, (needs, gives, leaves) in fast_recipes.COLLECT.items():
        info = constants.collect[material]
        assert info["require"] == ({needs: 1} if needs else {})
        assert (info["receive"], info["leaves"]) == ({gives: 1}, leaves)
        assert info.get("probability", 1) == (fast_recipes.SAPLING_PROBABILITY if material == "grass" else 1)
    for thing, (item, cost, where) in fast_recipes.PLACE.items():
        assert (constants.place[thing]["uses"], constants.place[thing]["where"]) == (
            {item: cost},
            list(where),
        )
    for tool, (costs, nearby) in fast_recipes.MAKE.items():
        info = constants.make[tool]
        assert (info["uses"], info["nearby"], info["gives"]) == (dict.fromkeys(costs, 1), list(nearby), 1)
    assert set(constants.collect) == set(fast_recipes.COLLECT)
    assert list(constants.place) == list(fast_recipes.PLACE)
    assert list(constants.make) == list(fast_recipes.MAKE)


@pytest.fixture(scope="module")
def pair() -> Pair:
    return Pair()


@pytest.mark.parametrize("policy", POLICIES)
def test_plays_in_lock_step_with_the_package(pair: Pair, policy: str) -> None:
    for seed in range(2):
        play(pair, seed, policy, 150, immortal=True, rich=seed == 0)


class _Ordered(dict):
    """A set in order of insertion, as far as the package uses its sets of objects."""

    def add(self, member) -> None:
        self[member] = None

    def remove(self, member) -> None:
        del self[member]


class _Published(crafter.Env):
    """The package's own environment, untouched but for drawing, the world's seed and the order of its sets."""

    def __init__(self, seed: int):
        super().__init__()
        reset = self._world.reset

        def reset_ordered(**_: int) -> None:
            reset(seed)
            self._world._chunks = defaultdict(_Ordered)

        self._world.reset = reset_ordered

    def _obs(self) -> None:
        pass


@pytest.mark.parametrize("seed", [11, 12])
def test_plays_the_published_environment_s_game(seed: int) -> None:
    engine, published = FastEngine(), _Published(seed)
    engine.reset(seed)
    published.reset()
    for action in np.random.default_rng(seed).integers(0, 17, 400).tolist():
        engine.step(action)
        _, _, done, info = published.step(action)
        assert engine.achievements.tolist() == list(info["achievements"].values())
        assert engine.inventory.tolist() == list(info["inventory"].values())
        assert engine.position.tolist() == info["player_pos"].tolist()
        assert np.array_equal(engine.world["material"][0], published._world._mat_map)
        assert np.array_equal(engine.world["occupant"][0] > 0, published._world._obj_map > 0)
        assert np.array_equal(engine.world["random_key"][0], published._world.random.get_state()[1])
        assert engine.dead == done
        if done:
            break


def test_nothing_can_be_made_at_the_left_border(pair: Pair) -> None:
    pair.reset(3)
    pair.give(wood=9, stone=9, iron_pickaxe=1, stone_pickaxe=1, wood_pickaxe=1)
    for _ in range(40):
        for action in (1, 5, 7, 5):  # go left; take away what is in the way, water and lava under a stone
            pair.give(health=9, food=9, drink=9, energy=9, stone=9)
            pair.step(action)
    assert pair.fast.position[0] == 0
    pair.give(wood=9, wood_sword=0)
    for action in (4, 5, 8, 3, 5, 8, 14):  # a table above or below, then a sword
        pair.step(action)
    assert (pair.fast.world[0]["material"] == fast_recipes.MATERIAL_IDS["table"]).any()
    assert pair.fast.inventory[ITEMS.index("wood_sword")] == 0


def test_a_reset_forgets_the_game_before() -> None:
    used, fresh = FastEngine(), FastEngine()
    used.reset(5)
    for action in np.random.default_rng(0).integers(0, 17, 300).tolist():
        used.step(action)
    for engine in (used, fresh):
        engine.reset(6)
        for action in np.random.default_rng(1).integers(0, 17, 100).tolist():
            engine.step(action)
    assert np.array_equal(used.world["material"], fresh.world["material"])
    assert np.array_equal(used.world["random_key"], fresh.world["random_key"])
    assert np.array_equal(used.view, fresh.view)


def test_a_copy_of_the_world_is_a_snapshot() -> None:
    engine = FastEngine()
    engine.reset(7)
    snapshot, seen = engine.world.copy(), []
    for _ in range(2):
        engine.world[:] = snapshot
        engine.num_steps = 0
        for action in np.random.default_rng(2).integers(0, 17, 100).tolist():
            engine.step(action)
        seen.append(engine.world.tobytes())
    assert seen[0] == seen[1]


def test_imports_neither_torch_nor_the_package() -> None:
    script = "import sys, agent.envs.crafter.fast; print('torch' in sys.modules, 'crafter' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_campaign_of_lock_step(pair: Pair) -> None:
    """Hundreds of worlds, 200,000 steps in all; every achievement and nearly every cause of death occurs."""
    counts: Counter = Counter()
    while counts["steps"] < 200_000:
        number = counts["worlds"]
        policy, turn = POLICIES[number % len(POLICIES)], number // len(POLICIES)
        seed = 1_000_003 * number % MAX_SEED
        counts["steps"] += play(pair, seed, policy, 1000, immortal=turn % 4 > 0, rich=turn % 2 == 0)
        counts["worlds"] += 1
        counts.update(dict(zip(ACHIEVEMENTS, pair.fast.achievements.tolist(), strict=True)))
        counts[pair.fast.death_cause] += 1
    print(dict(counts))
    assert counts["worlds"] >= 200
    assert all(counts[name] for name in (*ACHIEVEMENTS, "zombie", "skeleton arrow", "lava", "starvation"))
