"""What the recorder keeps of rollouts against a plain list of what happened."""

from dataclasses import replace

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_agent import Seen
from walk_env import WalkEnv

from agent.envs.base import EnvSpec, Task
from agent.goals.vocabulary import NO_GOAL
from agent.recorder import Recorder
from store.trajectory import validate

SPEC = EnvSpec.from_env(WalkEnv(max_steps=600))
N = 3


class Diary:
    """Random events of three actors, written down twice."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.recorder = Recorder(SPEC, N)
        self.pages: list[dict] = [{} for _ in range(N)]

    def observations(self) -> dict[str, np.ndarray]:
        return {
            "place": self.rng.integers(7, size=(N, 1)).astype(np.uint8),
            "wind": self.rng.random((N, 1), np.float32),
        }

    def begin(self, actor: int, instruction: tuple[int, ...]) -> None:
        seen = self.observations()
        self.recorder.begin(actor, Task(seed=40 + actor, instruction=instruction, wanted=actor == 1), seen)
        self.pages[actor] = {
            "place": [seen["place"][actor]], "actions": [], "rewards": [], "progress": [0], "events": [],
            "is_first": [True], "instruction": instruction,
        }  # fmt: skip

    def record(self, actors: list[int]) -> None:
        seen, rewards = self.observations(), self.rng.random(N).astype(np.float32)
        actions, is_first = self.rng.integers(3, size=N), self.rng.random(N) < 0.1
        achieved = [tuple(self.rng.integers(7, size=self.rng.integers(3)).tolist()) for _ in range(N)]
        progress = np.zeros(N, np.uint8)
        for actor in actors:
            page = self.pages[actor]
            most = len(page["instruction"])
            progress[actor] = min(page["progress"][-1] + int(self.rng.random() < 0.2), most)
            page["events"] += [(len(page["actions"]), goal) for goal in achieved[actor]]
            page["place"].append(seen["place"][actor])
            page["actions"].append(actions[actor])
            page["rewards"].append(rewards[actor])
            page["progress"].append(progress[actor])
            page["is_first"].append(is_first[actor])
        self.recorder.record(np.array(actors), actions, Seen(seen, rewards, is_first, progress, achieved))


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000), st.integers(1, 40))
def test_trajectories_hold_what_happened(seed, num_steps):
    diary = Diary(seed)
    for actor in range(N):
        diary.begin(actor, tuple(range(diary.rng.integers(3))))
    for _ in range(num_steps):
        active = [actor for actor in range(N) if diary.rng.random() < 0.8]
        if active:
            diary.record(active)
        if diary.rng.random() < 0.1:
            diary.begin(int(diary.rng.integers(N)), (5, 6))
    for actor in range(N):
        page = diary.pages[actor]
        if not page["actions"]:
            continue
        trajectory = diary.recorder.finish(
            actor, terminated=True, truncated=False, cause="death", policy_update=3, step=9, epsilon=0.5
        )
        validate(trajectory)
        np.testing.assert_array_equal(trajectory.observations["place"], page["place"])
        np.testing.assert_array_equal(trajectory.actions, page["actions"])
        np.testing.assert_array_equal(diary.recorder.actions(actor), page["actions"])
        np.testing.assert_array_equal(trajectory.rewards, np.array(page["rewards"], np.float32))
        np.testing.assert_array_equal(trajectory.progress, page["progress"])
        assert [tuple(row) for row in trajectory.events.tolist()] == page["events"]
        assert tuple(trajectory.instruction.tolist()) == page["instruction"]
        assert trajectory.terminated.tolist() == [False] * (trajectory.length - 1) + [True]
        assert not trajectory.truncated.any()
        np.testing.assert_array_equal(trajectory.is_first, page["is_first"])
        info = trajectory.info
        assert (info.seed, info.actor, info.wanted, info.cause) == (40 + actor, actor, actor == 1, "death")
        assert (info.policy_update, info.step, info.epsilon, info.number) == (3, 9, 0.5, -1)
        for t, done in enumerate(page["progress"]):
            left = page["instruction"][done:]
            expected = [*left, *[NO_GOAL] * (SPEC.max_instruction - len(left))]
            assert diary.recorder["goals"][actor, t].tolist() == expected


def test_trajectories_own_their_memory():
    diary = Diary(0)
    diary.begin(0, (1,))
    diary.record([0])
    trajectory = diary.recorder.finish(
        0, terminated=False, truncated=True, cause="time limit", policy_update=0, step=0, epsilon=0.0
    )
    kept = trajectory.observations["place"].copy(), trajectory.actions.copy(), trajectory.rewards.copy()
    diary.begin(0, (2,))
    diary.record([0])
    np.testing.assert_array_equal(trajectory.observations["place"], kept[0])
    np.testing.assert_array_equal(trajectory.actions, kept[1])
    np.testing.assert_array_equal(trajectory.rewards, kept[2])
    assert trajectory.truncated.tolist() == [True] and trajectory.terminated.tolist() == [False]


def test_rollouts_longer_than_the_first_arrays():
    diary = Diary(1)
    for actor in range(N):
        diary.begin(actor, (1, 2))
    for _ in range(300):
        diary.record([0, 2])
    assert diary.recorder.lengths.tolist() == [300, 0, 300]
    trajectory = diary.recorder.finish(
        2, terminated=False, truncated=True, cause="time limit", policy_update=0, step=0, epsilon=0.0
    )
    np.testing.assert_array_equal(trajectory.actions, diary.pages[2]["actions"])
    np.testing.assert_array_equal(trajectory.observations["place"], diary.pages[2]["place"])


def test_a_new_rollout_begins_without_a_past():
    diary = Diary(2)
    diary.begin(1, (1, 2))
    diary.record([1])
    diary.begin(1, (3,))
    recorder = diary.recorder
    assert recorder["is_first"][1, 0]
    assert recorder["previous_actions"][1, 0] == recorder["previous_rewards"][1, 0] == recorder["progress"][1, 0] == 0
    assert recorder["goals"][1, 0].tolist() == [3, NO_GOAL]
    assert recorder.lengths[1] == 0


@pytest.mark.parametrize("space", [spaces.MultiBinary(3), spaces.Box(-1, 1, (2,), np.float32)])
def test_actions_of_several_numbers(space):
    recorder = Recorder(replace(SPEC, action_space=space), N)
    diary = Diary(0)
    for actor in range(N):
        recorder.begin(actor, Task(seed=0), diary.observations())
    rows = []
    for _ in range(4):
        actions = np.stack([space.sample() for _ in range(N)])
        seen = Seen(diary.observations(), np.zeros(N), np.zeros(N, bool), np.zeros(N, np.uint8), [()] * N)
        recorder.record(np.arange(N), actions, seen)
        rows.append(actions[1])
    trajectory = recorder.finish(
        1, terminated=True, truncated=False, cause="death", policy_update=0, step=0, epsilon=0.0
    )
    validate(trajectory)
    assert trajectory.actions.dtype == space.dtype
    np.testing.assert_array_equal(trajectory.actions, rows)
    np.testing.assert_array_equal(recorder.actions(1), rows)
    assert not recorder["previous_actions"][1, 0].any()
