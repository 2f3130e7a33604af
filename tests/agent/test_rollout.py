"""The collector: what it plays, how it explores, what becomes of lost workers, and going on where it was."""

import json
from functools import partial

import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_agent import tiny_config
from walk_env import CrashingWalkEnv, SlideEnv, WalkEnv

from agent.envs.base import Task
from agent.envs.crafter.env import make_crafter
from agent.envs.exploration import ExplorationSchedule
from agent.envs.trial import make_trial
from agent.envs.vector import VectorEnv, WorkerError
from agent.exploring import disturb
from agent.interface import interface_of
from agent.nets.distributions import Categorical
from agent.nets.model import ActingModel
from agent.policy import ActionSource, Policy, UniformPolicy
from agent.rollout import Assignment, Collector
from agent.tasks import TrainingTasks
from agent.values import value_bins
from store.trajectory import Trajectory, validate

N = 3


class WalkTasks(TrainingTasks):
    """The counters of training with goals that `WalkEnv` knows."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(None, seed, N)

    def __call__(self, actor: int) -> Assignment:
        drawn = super().__call__(actor)
        goals = np.random.default_rng(drawn.seed).integers(7, size=2).tolist()
        return Assignment(Task(drawn.task.seed, tuple(goals), wanted=goals[0] == 3), drawn.seed)


class FixedPolicy:
    """The same probabilities always."""

    update, num_chances = 4, 3

    def __init__(self, *probabilities: float) -> None:
        self.distribution = Categorical(torch.tensor(probabilities).log())

    def choose(self, recorder, playing, chances, epsilon) -> np.ndarray:
        assert chances.shape == (recorder.num_actors, 3) and (chances >= 0).all() and (chances < 1).all()
        drawn = self.distribution.draw(torch.from_numpy(chances[:, :1])).argmax(-1).numpy()
        return drawn if epsilon is None else disturb(spaces.Discrete(3), drawn, chances[:, 1:], epsilon)

    def diagnostics(self, actor: int, length: int) -> dict[str, np.ndarray]:
        return {}


def schedule(start: float = 0.5, end: float = 0.5, anneal_steps: int = 1000) -> ExplorationSchedule:
    return ExplorationSchedule(start=(start, 0.0), end=(end, 0.0), anneal_steps=anneal_steps, max_steps=14)


def collector_of(policy: ActionSource | None = None, tasks=None, exploration=None, **how) -> Collector:
    envs = VectorEnv(WalkEnv, N, 0)
    return Collector(envs, policy or UniformPolicy(spaces.Discrete(3)), tasks or WalkTasks(), exploration, **how)


def collect(collector: Collector, advances: int) -> list[Trajectory]:
    return [trajectory for _ in range(advances) for trajectory in collector.advance()]


def same(one: Trajectory, other: Trajectory) -> bool:
    arrays = ("actions", "rewards", "terminated", "truncated", "is_first", "progress", "instruction", "events")
    return (
        one.info == other.info
        and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)
        and one.observations.keys() == other.observations.keys()
        and all(np.array_equal(value, other.observations[key]) for key, value in one.observations.items())
    )


def assert_same(some: list[Trajectory], others: list[Trajectory]) -> None:
    assert len(some) == len(others)
    for one, other in zip(some, others, strict=True):
        assert same(one, other), (one.info, other.info)


def replayed(trajectory: Trajectory) -> dict:
    """What the environment says when the trajectory's actions are played again."""
    env = WalkEnv()
    observation, _ = env.reset(seed=trajectory.info.seed, options={"instruction": trajectory.instruction.tolist()})
    rows: dict = {"place": [observation["place"]], "rewards": [], "terminated": [], "truncated": [], "progress": [0]}
    for action in trajectory.actions:
        observation, reward, terminated, truncated, info = env.step(action)
        rows["place"].append(observation["place"])
        for name, value in (("rewards", reward), ("terminated", terminated), ("truncated", truncated)):
            rows[name].append(value)
        rows["progress"].append(info["progress"])
    return rows


def test_trajectories_are_what_the_environment_played():
    finished = collect(collector_of(exploration=schedule()), 150)
    assert len(finished) > 30
    assert {t.info.cause for t in finished} == {"completed", "death by falling", "time limit"}
    for trajectory in finished:
        validate(trajectory)
        rows = replayed(trajectory)
        np.testing.assert_array_equal(trajectory.observations["place"], rows["place"])
        np.testing.assert_array_equal(trajectory.rewards, rows["rewards"])
        np.testing.assert_array_equal(trajectory.terminated, rows["terminated"])
        np.testing.assert_array_equal(trajectory.truncated, rows["truncated"])
        np.testing.assert_array_equal(trajectory.progress, rows["progress"])
        assert trajectory.completed == (trajectory.info.cause == "completed")


def test_steps_are_counted_once():
    collector = collector_of()
    finished = collect(collector, 100)
    under_way = sum(len(rollout["actions"]) for rollout in collector.snapshot()["rollouts"])
    assert collector.step == 100 * N == sum(t.length for t in finished) + under_way


def test_what_is_played_does_not_depend_on_the_other_actors():
    """A rollout's tasks and chances are its own."""

    class Only(WalkTasks):
        def __call__(self, actor: int) -> Assignment | None:
            return super().__call__(actor) if actor == 1 else None

    everybody, alone = (collect(collector_of(tasks=tasks), 60) for tasks in (WalkTasks(), Only()))
    mine = [t for t in everybody if t.info.actor == 1]
    assert len(mine) == len(alone) > 3
    for one, other in zip(mine, alone, strict=True):
        np.testing.assert_array_equal(one.actions, other.actions)
        assert one.info.seed == other.info.seed


def test_attempts_at_the_same_task_are_one_rollout():
    envs = VectorEnv(partial(make_trial, WalkEnv, 3, None), N, 0)
    collector = Collector(envs, UniformPolicy(spaces.Discrete(3)), WalkTasks())
    finished = collect(collector, 150)
    assert len(finished) > 8
    for trajectory in finished:
        validate(trajectory)
        begins = np.flatnonzero(trajectory.is_first)
        assert len(begins) == 3 == len(trajectory.attempts) and begins[0] == 0
        assert not trajectory.terminated[:-1].any() and not trajectory.truncated[:-1].any()
        assert (trajectory.progress[begins] == 0).all()
        places = trajectory.observations["place"][begins]
        assert (places == places[0]).all()  # the same world again


class TestChoice:
    def actions(self, collector: Collector, advances: int = 400) -> np.ndarray:
        return np.concatenate([t.actions for t in collect(collector, advances)])

    def frequencies(self, collector: Collector) -> np.ndarray:
        return np.bincount(self.actions(collector), minlength=3) / len(self.actions(collector))

    def test_actions_are_drawn_from_the_policy(self):
        frequencies = self.frequencies(collector_of(FixedPolicy(0.2, 0.3, 0.5)))
        np.testing.assert_allclose(frequencies, [0.2, 0.3, 0.5], atol=0.06)

    def test_impossible_actions_are_not_taken(self):
        assert set(self.actions(collector_of(FixedPolicy(0.0, 0.0, 1.0)))) == {2}
        assert set(self.actions(collector_of(FixedPolicy(0.5, 0.0, 0.5)))) == {0, 2}

    def test_exploration_mixes_in_uniform_actions(self):
        """Epsilon is .8 times a multiplier of mean 1/2, so a third of .4 goes to every action."""
        collector = collector_of(
            FixedPolicy(0.0, 0.0, 1.0),
            exploration=ExplorationSchedule(start=(0.8, 0.8), end=(0.8, 0.8), anneal_steps=1, max_steps=14),
        )
        np.testing.assert_allclose(self.frequencies(collector), [0.4 / 3, 0.4 / 3, 1 - 0.8 / 3], atol=0.06)

    def test_epsilon_is_reported_and_annealed_by_all_actors_steps(self):
        collector = collector_of(exploration=schedule(0.9, 0.9, anneal_steps=600))
        finished = collect(collector, 300)
        early = [t.info.epsilon for t in finished if t.info.step < 150]
        late = [t.info.epsilon for t in finished if t.info.step > 700]
        assert 0.2 < np.mean(early) < 0.7 and max(early) <= 0.9
        assert set(late) == {0.0}

    def test_trajectories_say_which_policy_acted(self):
        assert {t.info.policy_update for t in collect(collector_of(FixedPolicy(1, 0, 0)), 20)} == {4}


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 1000), st.integers(0, 40), st.integers(5, 30))
def test_rollouts_in_progress_go_on_bit_by_bit(seed, before, after):
    def fresh() -> Collector:
        return collector_of(tasks=WalkTasks(seed), exploration=schedule(0.9, 0.3, anneal_steps=100))

    old, new = fresh(), fresh()
    collect(old, before)
    state = json.loads(json.dumps({"collector": old.snapshot(), "tasks": old._tasks.snapshot()}))
    new._tasks.restore(state["tasks"])
    new.restore(state["collector"])
    assert new.step == old.step
    assert json.loads(json.dumps(new.snapshot())) == state["collector"]
    assert_same(collect(old, after), collect(new, after))
    assert new.snapshot() == old.snapshot()


@pytest.mark.parametrize("before", [0, 25])
@pytest.mark.parametrize("memory", ["transformer", "gru"])
def test_crafter_goes_on_bit_by_bit(before, memory):
    """With the agent's own policy: its memory is built anew from what is played again."""

    def fresh() -> Collector:
        envs = VectorEnv(partial(make_crafter, "fast", "symbolic", 40), 2, 0)
        torch.manual_seed(1)
        model = ActingModel(interface_of(envs.spec), config, value_bins(config.loss))
        model.actor.out.weight.data.normal_(std=0.5)
        schedule = ExplorationSchedule(anneal_steps=200, max_steps=40)
        tasks = TrainingTasks(None, 3, 2)
        return Collector(envs, Policy(model, 2, config.model.context), tasks, schedule)

    config = tiny_config(model__memory=memory)
    old, new = fresh(), fresh()
    collect(old, before)
    tasks, state = old._tasks.snapshot(), old.snapshot()
    new._tasks.restore(tasks)
    new.restore(json.loads(json.dumps(state)))
    finished = collect(old, 60)
    assert len(finished) >= 2
    assert_same(finished, collect(new, 60))


@settings(deadline=None, max_examples=6)
@given(seed=st.integers(0, 1000), before=st.integers(0, 30), space=st.sampled_from(["bits", "box"]))
def test_attempts_with_other_actions_go_on_bit_by_bit(seed, before, space):
    """Actions of several numbers survive JSON, and what is played again holds the same attempts."""
    make_attempt = {"bits": partial(SlideEnv, bits=True), "box": SlideEnv}[space]

    def fresh() -> Collector:
        envs = VectorEnv(partial(make_trial, make_attempt, 2, None), N, 0)
        exploration = ExplorationSchedule(anneal_steps=100, max_steps=envs.spec.max_steps)
        return Collector(envs, UniformPolicy(envs.spec.action_space), TrainingTasks(None, seed, N), exploration)

    old, new = fresh(), fresh()
    collect(old, before)
    state = json.loads(json.dumps({"collector": old.snapshot(), "tasks": old._tasks.snapshot()}))
    new._tasks.restore(state["tasks"])
    new.restore(state["collector"])
    assert json.loads(json.dumps(new.snapshot())) == state["collector"]
    assert_same(collect(old, 40), collect(new, 40))


def test_a_rollout_that_does_not_repeat_itself_is_dropped():
    old, new = collector_of(), collector_of()
    collect(old, 5)
    state = old.snapshot()
    for rollout in state["rollouts"]:
        rollout["actions"] = [0] * 13  # falls, or meets its goals, before the end
    new.restore(state)
    assert len(new.snapshot()["rollouts"]) < len(state["rollouts"])
    assert new.step == old.step
    assert collect(new, 30)


def test_fewer_actors_than_before():
    old = collector_of()
    collect(old, 3)
    new = Collector(VectorEnv(WalkEnv, 1, 0), UniformPolicy(spaces.Discrete(3)), WalkTasks())
    new.restore(old.snapshot())
    assert [rollout["actor"] for rollout in new.snapshot()["rollouts"]] == [0]


class TestLostWorkers:
    @pytest.fixture
    def envs(self, tmp_path):
        with VectorEnv(partial(CrashingWalkEnv, tmp_path / "crashed"), 2, 1) as envs:
            yield envs

    @staticmethod
    def tasks(limit: int):
        """`limit` walks for each of two actors, long enough to meet the crash."""
        left = {0: limit, 1: limit}

        def source(actor: int) -> Assignment | None:
            left[actor] -= 1
            return Assignment(Task(2, ()), (actor, left[actor])) if left[actor] >= 0 else None

        return source

    def run(self, envs, **how) -> list[Trajectory]:
        collector = Collector(envs, FixedPolicy(0.0, 1.0, 0.0), self.tasks(2), **how)
        finished = collect(collector, 40)
        assert collector.idle
        return finished

    def test_what_was_played_becomes_a_truncated_trajectory(self, envs):
        finished = self.run(envs)
        assert len(envs.incidents) == 1
        lost = [t for t in finished if t.info.cause == "worker lost"]
        assert [(t.length, t.info.actor) for t in lost] == [(3, 0), (3, 1)]
        for trajectory in lost:
            validate(trajectory)
            assert trajectory.truncated.tolist() == [False, False, True] and not trajectory.terminated.any()
        assert [t.info.cause for t in finished if t not in lost] == ["time limit"] * 2

    def test_with_retry_it_is_not_played_for_ever(self):
        """Here the environments are lost at every step, as if a world broke them each time."""
        envs = VectorEnv(WalkEnv, 1, 0)
        collector = Collector(envs, UniformPolicy(envs.spec.action_space), WalkTasks(), retry_lost=True)
        reset = envs.reset

        def begin(indices, tasks) -> None:
            envs.lost[:] = False
            reset(indices, tasks)

        def lose(actions) -> None:
            envs.lost[:] = True
            envs.incidents.append("a worker was lost")

        envs.reset, envs.step = begin, lose
        with pytest.raises(WorkerError, match=r"^world \d+ was lost 5 times; the last time: a worker was lost$"):
            for _ in range(20):
                collector.advance()
        assert len(envs.incidents) == 5

    def test_with_retry_it_is_played_again(self, envs, tmp_path):
        finished = self.run(envs, retry_lost=True)
        assert len(envs.incidents) == 1
        assert [t.info.cause for t in finished] == ["time limit"] * 4
        with VectorEnv(partial(CrashingWalkEnv, tmp_path / "crashed"), 2, 0) as sound:
            again = self.run(sound, retry_lost=True)
        for one, other in zip(finished, again, strict=True):
            np.testing.assert_array_equal(one.actions, other.actions)
            np.testing.assert_array_equal(one.observations["place"], other.observations["place"])
