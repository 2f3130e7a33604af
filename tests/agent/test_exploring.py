"""Exploration: how much noise, of which kind, and never an action that may not be taken."""

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from agent.exploring import anything, disturb, num_chances

BOX = spaces.Box(np.float32([-1, 0, 5]), np.float32([3, 10, 5.5]))
LAST = np.nextafter(np.float32(1), np.float32(0))  # the largest chance there is
few = settings(deadline=None, max_examples=60)
seeds = st.integers(0, 10_000)


def uniform(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, np.float32)


def edgy(seed: int, *shape: int) -> np.ndarray:
    """Uniform numbers among which the first and the last are frequent."""
    rng = np.random.default_rng(seed)
    chances = rng.random(shape, np.float32)
    chances[rng.random(shape) < 0.2] = 0.0
    chances[rng.random(shape) < 0.2] = LAST
    return chances


def masks(seed: int, count: int, width: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    legal = rng.random((count, width)) < 0.4
    legal[np.arange(count), rng.integers(width, size=count)] = True
    return legal


@pytest.mark.parametrize(
    ("space", "count"), [(spaces.Discrete(7), 2), (spaces.MultiBinary(3), 6), (BOX, 3), (spaces.Box(-1, 1, (1,)), 1)]
)
def test_how_many_chances(space, count):
    assert num_chances(space) == count


class TestChoices:
    SPACE = spaces.Discrete(4)

    @pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
    def test_the_share_of_other_actions(self, epsilon):
        """A quarter of epsilon for every action, the rest for the policy's."""
        actions = np.full(8000, 2)
        done = disturb(self.SPACE, actions, uniform(0, 8000, 2), np.full(8000, epsilon))
        expected = np.full(4, epsilon / 4) + (1 - epsilon) * np.eye(4)[2]
        np.testing.assert_allclose(np.bincount(done, minlength=4) / 8000, expected, atol=0.02)

    def test_every_actor_has_its_own_share(self):
        epsilon = np.tile([0.0, 1.0], 2000)
        done = disturb(self.SPACE, np.zeros(4000, int), uniform(0, 4000, 2), epsilon)
        assert (done[::2] == 0).all()
        assert stats.chisquare(np.bincount(done[1::2], minlength=4)).pvalue > 0.01

    def test_among_the_legal_ones_all_are_equal(self):
        legal = np.tile([True, False, True, True], (6000, 1))
        done = anything(self.SPACE, uniform(0, 6000, 1), legal)
        counts = np.bincount(done, minlength=4)
        assert counts[1] == 0 and stats.chisquare(counts[[0, 2, 3]]).pvalue > 0.01

    @few
    @given(seeds, st.integers(1, 20), st.floats(0, 1))
    def test_masks_are_never_violated(self, seed, width, epsilon):
        space, legal = spaces.Discrete(width), masks(seed, 30, width)
        actions = legal.argmax(1)
        for chances in (uniform(seed, 30, 2), edgy(seed, 30, 2)):
            done = disturb(space, actions, chances, np.full(30, epsilon), legal)
            assert legal[np.arange(30), done].all()
            assert legal[np.arange(30), anything(space, chances, legal)].all()

    @few
    @given(seeds, st.integers(1, 2000))
    def test_the_last_chance_is_the_last_action(self, seed, width):
        chances = np.array([[0.0], [LAST]], np.float32)
        assert anything(spaces.Discrete(width), chances).tolist() == [0, width - 1]
        everything = np.ones((2, width), bool)
        assert anything(spaces.Discrete(width), chances, everything).tolist() == [0, width - 1]

    def test_where_nothing_is_legal_nothing_fails(self):
        done = anything(self.SPACE, uniform(0, 5, 1), np.zeros((5, 4), bool))
        assert all(self.SPACE.contains(action) for action in done)


class TestBits:
    SPACE = spaces.MultiBinary(3)

    @pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
    def test_the_share_of_other_bits(self, epsilon):
        actions = np.tile(np.int8([1, 0, 1]), (6000, 1))
        done = disturb(self.SPACE, actions, uniform(0, 6000, 6), np.full(6000, epsilon))
        assert done.dtype == np.int8
        np.testing.assert_allclose((done != actions).mean(0), np.full(3, epsilon / 2), atol=0.025)

    def test_bits_are_explored_one_by_one(self):
        done = disturb(self.SPACE, np.zeros((6000, 3), np.int8), uniform(0, 6000, 6), np.full(6000, 0.5))
        assert np.abs(np.corrcoef(done.T) - np.eye(3)).max() < 0.06

    def test_anything(self):
        done = anything(self.SPACE, uniform(0, 4000, 6))
        assert stats.chisquare(np.bincount(done @ [1, 2, 4], minlength=8)).pvalue > 0.01


class TestNumbers:
    MIDDLE = (BOX.low + BOX.high) / 2

    @pytest.mark.parametrize("epsilon", [0.05, 0.2])
    def test_noise_is_gaussian_in_units_of_half_the_range(self, epsilon):
        actions = np.tile(self.MIDDLE, (4000, 1))
        done = disturb(BOX, actions, uniform(0, 4000, 3), np.full(4000, epsilon))
        assert done.dtype == np.float32
        for column, low, high, middle in zip(done.T, BOX.low, BOX.high, self.MIDDLE, strict=True):
            scaled = (column - middle) / ((high - low) / 2) / epsilon
            assert stats.kstest(scaled, "norm").pvalue > 0.01
        assert np.abs(np.corrcoef(done.T) - np.eye(3)).max() < 0.06

    def test_without_epsilon_there_is_no_noise(self):
        actions = anything(BOX, uniform(1, 50, 3))
        np.testing.assert_array_equal(disturb(BOX, actions, uniform(0, 50, 3), np.zeros(50)), actions)

    def test_what_would_leave_the_box_stays_at_its_edge(self):
        actions = np.tile(BOX.high, (2000, 1))
        done = disturb(BOX, actions, uniform(0, 2000, 3), np.full(2000, 0.5))
        assert 0.45 < (done == BOX.high).mean() < 0.55
        assert all(BOX.contains(action) for action in done)

    @few
    @given(seeds, st.floats(-1e4, 1e4, width=32), st.floats(0, 1e4, width=32), st.floats(0, 1))
    def test_nothing_leaves_any_box(self, seed, low, width, epsilon):
        space = spaces.Box(np.float32([low, -1]), np.float32([low, -1]) + np.float32([width, 2]))
        for chances in (uniform(seed, 20, 2), edgy(seed, 20, 2)):
            actions = anything(space, chances)
            assert all(space.contains(action) for action in actions)
            done = disturb(space, actions, edgy(seed + 1, 20, 2), np.full(20, epsilon))
            assert np.isfinite(done).all() and all(space.contains(action) for action in done)

    def test_anything(self):
        done = anything(BOX, uniform(0, 3000, 3))
        for column, low, high in zip(done.T, BOX.low, BOX.high, strict=True):
            assert stats.kstest(column, "uniform", (low, high - low)).pvalue > 0.01
