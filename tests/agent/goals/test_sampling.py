from collections import Counter

import numpy as np
import pytest

from agent.goals.sampling import TECH_TREE, InstructionSampler, sample_instruction
from agent.goals.vocabulary import GOALS, goal_id

NUM_DRAWS = 6000


@pytest.fixture(scope="module")
def draws() -> list[tuple[int, ...]]:
    rng = np.random.default_rng(0)
    return [sample_instruction(rng) for _ in range(NUM_DRAWS)]


def test_lengths_are_uniform(draws):
    lengths = Counter(map(len, draws))
    assert sorted(lengths) == [1, 2, 3, 4, 5]
    assert all(abs(count / NUM_DRAWS - 0.2) < 0.02 for count in lengths.values())


def test_goals_have_the_papers_frequencies(draws):
    goals = [GOALS[goal] for instruction in draws for goal in instruction]
    verbs = Counter(goal.verb for goal in goals)
    names = Counter(goal.name for goal in goals)

    def share(count: int) -> float:
        return count / len(goals)

    expected = {"collect": 0.30, "defeat": 0.10, "eat": 0.10, "make": 0.15, "place": 0.15, "travel": 0.20}
    assert {verb: share(count) for verb, count in verbs.items()} == pytest.approx(expected, abs=0.015)
    assert share(names["collect wood"]) == pytest.approx(0.06, abs=0.008)
    assert share(names["collect diamond"]) == pytest.approx(0.015, abs=0.005)
    assert share(names["make wood sword"]) == pytest.approx(0.045, abs=0.008)
    assert share(names["make iron pickaxe"]) == pytest.approx(0.0075, abs=0.004)
    assert share(names["place table"]) == pytest.approx(0.06, abs=0.008)
    assert names["wake up"] == 0


def test_near_travels_are_drawn_more_often_than_far_ones(draws):
    travels = [goal for instruction in draws for goal in map(GOALS.__getitem__, instruction) if goal.x is not None]
    distances = np.array([np.hypot(goal.x - 32, goal.y - 32) for goal in travels])
    near, middle, far = (np.mean((low <= distances) & (distances < low + 15)) for low in (0, 15, 30))
    assert near > middle > far > 0
    assert distances.max() <= 44
    assert len({goal.id for goal in travels}) > 100


def test_wanted_share():
    wanted = (goal_id("collect iron"), goal_id("wake up"))
    rng = np.random.default_rng(1)
    sampler = InstructionSampler(wanted, wanted_share=0.5, tech_tree_share=0.0)
    samples = [sampler.sample(rng, 0) for _ in range(2000)]
    assert np.mean([is_wanted for _, is_wanted in samples]) == pytest.approx(0.5, abs=0.04)
    assert all(instruction == wanted for instruction, is_wanted in samples if is_wanted)
    nobody = InstructionSampler(None, wanted_share=0.5, tech_tree_share=0.0)
    assert not any(is_wanted for _, is_wanted in (nobody.sample(rng, 0) for _ in range(100)))


def test_the_tech_tree_grows_by_one_step_past_the_best():
    rng = np.random.default_rng(2)
    sampler = InstructionSampler(None, wanted_share=0.0, tech_tree_share=1.0)
    assert sampler.sample(rng, 0) == ((goal_id("collect wood"),), False)
    sampler.observe([], 0, [goal_id("collect wood"), goal_id("make wood pickaxe"), goal_id("eat cow")])
    sampler.observe([], 0, [goal_id("place table")])
    assert sampler.best_step == 2
    samples = [sampler.sample(rng, 0)[0] for _ in range(300)]
    assert {goal for instruction in samples for goal in instruction} == set(TECH_TREE[:4])
    for instruction in samples:
        steps = [TECH_TREE.index(goal) for goal in instruction]
        assert steps == sorted(set(steps))
    sampler.observe([], 0, TECH_TREE)
    assert max(map(len, (sampler.sample(rng, 0)[0] for _ in range(100)))) == 5


def test_the_curriculum_asks_for_what_is_neither_certain_nor_hopeless():
    wood, iron, table = (goal_id(name) for name in ("collect wood", "collect iron", "place table"))

    def shares(curriculum_share: float) -> dict[int, float]:
        sampler = InstructionSampler(None, 0.0, 0.0, curriculum_share, max_length=1)
        for turn in range(400):
            sampler.observe([wood], 1, [])
            sampler.observe([iron], 0, [])
            sampler.observe([table], turn % 2, [])
        rng = np.random.default_rng(0)
        counts = Counter(sampler.sample(rng, 0)[0][0] for _ in range(2000))
        return {goal: counts[goal] / 2000 for goal in (wood, iron, table)}

    plain, chosen = shares(0.0), shares(1.0)
    assert chosen[table] > 0.8 * plain[table]
    assert chosen[wood] < 0.3 * plain[wood] and chosen[iron] < 0.3 * plain[iron]


def test_max_length_and_reproducibility():
    first, second = ([sample_instruction(np.random.default_rng(3), max_length=2) for _ in range(20)] for _ in range(2))
    assert first == second and all(1 <= len(instruction) <= 2 for instruction in first)
