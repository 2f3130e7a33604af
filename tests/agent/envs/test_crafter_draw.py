import hashlib

import numpy as np
import pytest
from crafter import constants, engine, objects
from fake_engine import ScriptedEngine

from agent.envs.crafter.draw import draw
from agent.envs.crafter.engine import ITEMS
from agent.envs.crafter.env import CrafterEnv, make_crafter
from agent.envs.crafter.package import PackageEngine

GROUNDS = (
    "water",
    "grass",
    "stone",
    "path",
    "sand",
    "tree",
    "lava",
    "coal",
    "iron",
    "diamond",
    "table",
    "furnace",
)
TEXTURES = engine.Textures(constants.root / "assets")  # pyright: ignore[reportAttributeAccessIssue]


class Scene:
    """A package game put into a random state around the player, and the package's own drawing of it."""

    def __init__(self, seed: int, position: tuple[int, int], sleeping: bool):
        self.rng = np.random.default_rng(seed)
        self.engine = PackageEngine()
        self.engine.reset(seed)
        self.world, self.player = self.engine._game._world, self.engine._game.player
        self._clear_around(position)
        if position != (32, 32):  # where it stands already
            self.world.move(self.player, position)
        self._scatter(position)
        self.player.sleeping = sleeping
        self.player.facing = [(-1, 0), (1, 0), (0, -1), (0, 1)][seed % 4]
        self.player.inventory = {name: int(self.rng.integers(10)) for name in ITEMS}

    def _clear_around(self, position: tuple[int, int]) -> None:
        for obj in self.world.objects:
            if obj is not self.player and abs(obj.pos - position).max() < 6:
                self.world.remove(obj)

    def _scatter(self, position: tuple[int, int]) -> None:
        makers = (
            lambda cell: objects.Cow(self.world, cell),
            lambda cell: objects.Zombie(self.world, cell, self.player),
            lambda cell: objects.Skeleton(self.world, cell, self.player),
            lambda cell: objects.Plant(self.world, cell),
            lambda cell: self._ripe_plant(cell),
            lambda cell: objects.Arrow(self.world, cell, [(-1, 0), (1, 0), (0, -1), (0, 1)][cell[0] % 4]),
        )
        for x in range(max(position[0] - 4, 0), min(position[0] + 5, 64)):
            for y in range(max(position[1] - 3, 0), min(position[1] + 4, 64)):
                self.world[x, y] = GROUNDS[self.rng.integers(len(GROUNDS))]
                if (x, y) != position and self.rng.random() < 0.4:
                    self.world.add(makers[self.rng.integers(len(makers))]((x, y)))

    def _ripe_plant(self, cell: tuple[int, int]) -> objects.Plant:
        plant = objects.Plant(self.world, cell)
        plant.grown = 301
        return plant

    def package_frame(self, daylight: float, unit: int) -> np.ndarray:
        self.world.daylight = daylight
        view = engine.LocalView(self.world, TEXTURES, [9, 7])(self.player, np.array([unit, unit]))
        items = engine.ItemView(TEXTURES, [9, 2])(self.player.inventory, np.array([unit, unit]))
        return np.concatenate([view, items], 1).astype(np.uint8).transpose(1, 0, 2)

    def own_frame(self, daylight: float, unit: int, rng: np.random.Generator | None = None) -> np.ndarray:
        self.world.daylight = daylight
        self.engine._publish()
        rng = rng or np.random.default_rng(0)
        return draw(self.engine.view, self.engine.inventory, self.engine.daylight, unit, rng)


@pytest.fixture(
    scope="module",
    params=[
        (0, (32, 32), False),
        (1, (0, 0), False),
        (2, (63, 63), False),
        (3, (1, 40), False),
        (5, (20, 62), True),
    ],
    ids=str,
)
def scene(request) -> Scene:
    return Scene(*request.param)


@pytest.mark.parametrize("unit", [7, 16, 20])
@pytest.mark.parametrize("daylight", [1.0, 0.77, 0.5])
def test_by_day_the_frame_is_the_packages_pixel_by_pixel(scene, unit, daylight):
    frame = scene.own_frame(daylight, unit)
    assert frame.dtype == np.uint8 and frame.shape == (9 * unit, 9 * unit, 3)
    assert np.array_equal(frame, scene.package_frame(daylight, unit))


class OneNoise:
    """A stream that gives the same noise to both drawings; the package asks for it with x first."""

    def __init__(self, transposed: bool):
        self.transposed = transposed

    def uniform(self, low: float, high: float, shape: tuple[int, int]) -> np.ndarray:
        rows, columns = shape[::-1] if self.transposed else shape
        noise = np.random.default_rng(1).uniform(low, high, (rows, columns))
        return noise.T if self.transposed else noise


@pytest.mark.parametrize("daylight", [0.0, 0.31])
def test_by_night_only_the_stream_of_the_noise_differs(scene, daylight):
    ours = scene.own_frame(daylight, 7, OneNoise(transposed=False))  # type: ignore[arg-type]
    scene.world.random, before = OneNoise(transposed=True), scene.world.random
    theirs = scene.package_frame(daylight, 7)
    scene.world.random = before
    assert np.array_equal(ours, theirs)


def test_frames_of_the_environment_have_the_games_size_and_black_border():
    pixels = CrafterEnv(ScriptedEngine(), "pixels").reset(seed=0)[0]["image"]
    crop = CrafterEnv(ScriptedEngine(), "crop").reset(seed=0)[0]
    assert pixels.shape == (64, 64, 3) and crop["image"].shape == (48, 64, 3)
    assert not pixels[63].any() and not pixels[:, 63].any() and pixels[49:63, :63].any()
    assert np.array_equal(pixels[:48], crop["image"])
    assert crop["inventory"].tolist() == [9] * 16


def test_looking_does_not_change_the_game():
    digests = []
    for observation in ("symbolic", "pixels"):
        env = make_crafter("package", observation, 400)
        env.reset(seed=4)
        env.engine._game._step = 180  # night falls
        states = hashlib.sha1()
        for action in np.random.default_rng(0).integers(17, size=60):
            env.step(action)
            states.update(env.engine.view.tobytes() + env.engine.inventory.tobytes())
        digests.append(states.hexdigest())
    assert digests[0] == digests[1]


def test_night_noise_is_reproducible_and_its_own():
    def frames(world: int) -> list[np.ndarray]:
        env = CrafterEnv(ScriptedEngine(daylight=0.1), "pixels")
        return [env.reset(seed=world)[0]["image"], env.step(0)[0]["image"]]

    assert np.array_equal(frames(1), frames(1))
    assert not np.array_equal(*frames(1)) and not np.array_equal(frames(1), frames(2))
