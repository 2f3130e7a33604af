"""Pictures and characters of stored states: against the environments' own frames, and drawn by hand."""

import numpy as np
import pytest

from agent.envs.crafter.draw import draw
from agent.envs.crafter.env import make_crafter
from agent.envs.crafter.textures import MATERIALS, OBJECTS, texture_id
from agent.envs.delivery import DeliveryEnv
from agent.envs.key_door import KeyDoorEnv
from agent.envs.picture import glyphs, legend, picture
from agent.envs.tmaze import TMazeEnv

LEFT, RIGHT = 1, 2  # moves of Crafter's player


def play(env, actions, seed=0, **options):
    """The observations (T+1, ...) by name, up to the end of the attempt."""
    observation, _ = env.reset(seed=seed, options=options)
    seen = [observation]
    for action in actions:
        observation, _, terminated, truncated, _ = env.step(action)
        seen.append(observation)
        if terminated or truncated:
            break
    return {key: np.stack([each[key] for each in seen]) for key in seen[0]}


@pytest.fixture(scope="module")
def symbolic():
    return play(make_crafter("fast", "symbolic", 100), [RIGHT, LEFT, LEFT, 5] * 3)


def crafter_state(view: np.ndarray, daylight: float = 1.0) -> dict[str, np.ndarray]:
    return {
        "view": view[None].astype(np.uint8),
        "inventory": np.full((1, 16), 3, np.uint8),
        "daylight": np.array([[daylight]], np.float32),
    }


class TestCrafter:
    def test_a_stored_state_is_the_frame_that_was_seen(self, symbolic):
        """The same actions in the same world, by day, seen as pixels: 64x64 with cells of 7."""
        seen = play(make_crafter("fast", "pixels", 100), [RIGHT, LEFT, LEFT, 5] * 3)
        for t in range(len(seen["image"])):
            frame = picture("crafter", symbolic, t, unit=7)
            assert frame is not None and frame.dtype == np.uint8
            assert symbolic["daylight"][t, 0] >= 0.5
            np.testing.assert_allclose(
                frame.astype(int), seen["image"][t, :63, :63], atol=1
            )  # daylight is stored in 32 bits

    @pytest.mark.parametrize("unit", [4, 16])
    def test_it_has_nine_times_nine_cells(self, symbolic, unit):
        frame = picture("crafter", symbolic, 0, unit)
        assert frame is not None and frame.shape == (9 * unit, 9 * unit, 3)

    def test_the_noise_of_the_night_follows_from_the_time(self):
        dark = {key: np.repeat(array, 3, axis=0) for key, array in crafter_state(np.full((9, 7), 2), 0.1).items()}
        one, again, other = (picture("crafter", dark, t) for t in (1, 1, 2))
        assert one is not None and again is not None and other is not None
        np.testing.assert_array_equal(one, again)
        assert (one != other).any()

    @pytest.mark.parametrize("kind", ["pixels", "crop"])
    def test_images_come_enlarged(self, kind):
        seen = play(make_crafter("fast", kind, 100), [RIGHT, LEFT])
        frame = picture("crafter", seen, 2)
        assert frame is not None
        np.testing.assert_array_equal(frame[::2, ::2], seen["image"][2])
        np.testing.assert_array_equal(frame[1::2, 1::2], seen["image"][2])
        assert glyphs("crafter", seen, 2) is None

    def test_characters_lie_as_the_cells_do(self):
        view = np.full((9, 7), texture_id("grass"))
        view[0, 0] = texture_id("water")
        view[8, 0] = texture_id("tree")
        view[4, 3] = texture_id("grass", "player-left")
        view[5, 3] = texture_id("path", "zombie")
        rows = glyphs("crafter", crafter_state(view), 0)
        assert rows == ["~.......T", *["........."] * 2, "....@Z...", *["........."] * 3]

    def test_everything_has_a_character_and_a_meaning(self):
        meanings = legend("crafter")
        view = np.full((9, 7), texture_id("grass"))
        for obj in OBJECTS:
            for material in MATERIALS:
                view[0, 0] = texture_id(material, obj)
                rows = glyphs("crafter", crafter_state(view), 0)
                assert rows is not None
                meaning = meanings[rows[0][0]]
                expected = "player" if obj.startswith("player") else (obj or material).split("-")[0]
                assert meaning.split(",")[0] == expected.replace("plant", "sapling")
        assert all(len(glyph) == 1 and glyph.isascii() for glyph in meanings)

    def test_what_a_strange_file_says_is_drawn_within_bounds(self):
        strange = crafter_state(np.full((9, 7), 255), np.nan) | {"inventory": np.full((1, 16), 200, np.uint8)}
        bounded = np.full((9, 7), 13 * 15 - 1)
        frame = picture("crafter", strange, 0)
        expected = draw(bounded, np.full(16, 9), 1.0, 16, np.random.default_rng(0))
        np.testing.assert_array_equal(frame, expected)
        assert picture("crafter", crafter_state(np.zeros((9, 6))), 0) is None


def test_any_image_is_enlarged_to_about_the_same_size():
    rng = np.random.default_rng(0)
    small, large = (rng.integers(0, 256, (2, *size, 3), dtype=np.uint8) for size in ((30, 40), (210, 160)))
    frame = picture("SomeEnv-v0", {"x": np.zeros((2, 3)), "screen": small}, 1)
    assert frame is not None and frame.shape == (120, 160, 3)  # 40 pixels times 4 come nearest to 144
    np.testing.assert_array_equal(frame[::4, ::4], small[1])
    np.testing.assert_array_equal(picture("SomeEnv-v0", {"screen": large}, 0), large[0])


@pytest.mark.parametrize("observations", [{"x": np.zeros((2, 3), np.float32)}, {"x": np.zeros((2, 5, 5), np.uint8)}])
def test_where_nothing_can_be_drawn_nothing_is(observations):
    for environment in ("CartPole-v1", "crafter", "maze", "tmaze", "delivery"):
        assert picture(environment, observations, 0) is None and glyphs(environment, observations, 0) is None
    assert legend("CartPole-v1") == {}


def babyai_view() -> dict[str, np.ndarray]:
    return {key: np.zeros((2, 7, 7), np.uint8) for key in ("objects", "colours", "states")}


def cells(*rows):
    return np.array(rows, np.uint8)


class TestSmallWorlds:
    def test_a_maze_shows_what_has_been_seen(self):
        """From (1, 1) the agent sees two cells to the right and one down, then walks right."""
        seen = {"position": cells((1, 1), (2, 1)), "sight": cells((0, 2, 1, 0), (0, 1, 0, 1))}
        assert glyphs("maze", seen, 0) == [" #   ", "#@..#", " .   ", " #   ", "     "]
        assert glyphs("maze", seen, 1) == [" ##  ", "#+@.#", " .#  ", " #   ", "     "]

    def test_a_dark_room_shows_its_walker(self):
        actions = [1, 1, 2]  # up, up, right
        seen = play(KeyDoorEnv(5, 50, dark=True), actions, seed=3)
        rows = glyphs("dark-key-door", seen, 3)
        x, y = seen["position"][3].tolist()
        been = {tuple(place) for place in seen["position"].tolist()} - {(x, y)}
        assert rows is not None and rows[y][x] in "@&" and "".join(rows).count("+") == len(been)
        assert all(rows[j][i] == "+" for i, j in been)
        assert {len(row) for row in rows} == {len(rows)} and "k" not in "".join(rows)

    def test_a_light_room_shows_key_and_door_and_who_has_the_key(self):
        seen = {
            "position": cells((0, 0), (1, 0)),
            "has_key": cells((0,), (1,)),
            "key": cells((1, 0), (1, 0)),
            "door": cells((2, 1), (2, 1)),
        }
        assert glyphs("dark-key-door", seen, 0) == ["@k.", "..D", "..."]
        assert glyphs("dark-key-door", seen, 1) == ["+&.", "..D", "..."]

    def test_a_frozen_lake_shows_the_way(self):
        seen = {"position": cells((0, 0), (1, 0), (1, 1))}
        assert glyphs("frozen-lake", seen, 1) == ["+@", ".."]

    def test_a_tmaze_shows_the_sign_when_it_is_seen(self):
        seen = play(TMazeEnv(4, active=False), [0, 0, 0, 1], seed=1)
        sign = "^" if seen["sign"][0, 0] == 1 else "v"
        assert glyphs("tmaze", seen, 0) == [f"{sign}####.", "@.....", "#####."]
        assert glyphs("tmaze", seen, 1) == ["#####.", "s.@...", "#####."]
        assert glyphs("tmaze", seen, 3) == ["#####.", "s....@", "#####."]
        assert glyphs("tmaze", seen, 4) == ["#####@", "s.....", "#####."]

    def test_a_road_shows_what_was_told_and_seen(self):
        seen = {
            "position": cells((0,), (1,), (2,)),
            "fork": cells((0,), (1,), (0,)),
            "addresses": cells((2, 11), (0, 0), (0, 0)),
            "packages": cells((2,), (2,), (1,)),
        }
        assert glyphs("delivery", seen, 0) == ["@.A.......", ".A        ", "pp        "]
        assert glyphs("delivery", seen, 2) == [".Y@.......", ".A        ", "p         "]

    def test_the_real_ones_are_drawn(self):
        seen = play(DeliveryEnv(8, 2, 2), [0, 1, 2, 3])
        frame = picture("delivery", seen, 1)
        assert frame is not None and frame.dtype == np.uint8 and frame.shape == (28, 140, 3)

    def test_a_view_of_babyai_shows_things_in_their_colours(self):
        seen = babyai_view()
        seen["objects"][:, 2, 1:5] = [6, 7, 5, 2]  # ball, box, key, wall
        seen["colours"][:, 2, 1:5] = [0, 2, 4, 5]  # red, blue, yellow, grey
        seen["objects"][:, 0, :3], seen["states"][:, 0, :3] = 4, [0, 1, 2]  # doors: open, closed, locked
        seen["objects"][1, 6, 3], seen["colours"][1, 6, 3] = 6, 3
        assert glyphs("babyai", seen, 0) == ["/DL    ", " " * 7, " obk#  ", *[" " * 7] * 3, "   ^   "]
        assert glyphs("babyai", seen, 1)[-1] == "   &   "
        frame = picture("babyai", seen, 0)
        assert frame is not None and frame.shape == (140, 140, 3)  # seven cells of 20 pixels
        middles = frame[10::20, 10::20]
        assert middles[2, 1].argmax() == 0 and middles[2, 2].argmax() == 2
        assert (frame != picture("babyai", seen, 1)).any(axis=(1, 2)).nonzero()[0].min() > 120
        assert set("".join(glyphs("babyai", seen, 1))) <= legend("babyai").keys()

    def test_impossible_numbers_of_babyai_are_drawn_within_bounds(self):
        strange = {key: np.full((1, 7, 7), 255, np.uint8) for key in ("objects", "colours", "states")}
        assert picture("babyai", strange, 0) is not None
        assert picture("babyai", strange | {"colours": np.zeros((1, 49), np.uint8)}, 0) is None

    @pytest.mark.parametrize("environment", ["maze", "dark-key-door", "frozen-lake", "tmaze", "delivery"])
    def test_every_character_has_a_meaning_and_a_colour(self, environment):
        keys = {"position": 2, "sight": 4, "has_key": 1, "place": 1, "sign": 1, "fork": 1, "packages": 1}
        rng = np.random.default_rng(0)
        for _ in range(20):
            seen = {key: rng.integers(0, 3, (5, width)).astype(np.uint8) for key, width in keys.items()}
            if environment == "delivery":
                seen |= {"position": seen["fork"], "addresses": seen["sight"]}
            rows = glyphs(environment, seen, 4)
            assert rows is not None and set("".join(rows)) <= legend(environment).keys()
            assert picture(environment, seen, 4) is not None

    @pytest.mark.parametrize("value", [-1, 2**40])
    def test_impossible_places_are_not_drawn(self, value):
        assert picture("frozen-lake", {"position": np.full((2, 2), value)}, 0) is None
