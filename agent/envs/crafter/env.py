"""Crafter as a Gymnasium environment that follows instructions, on any engine.

Adds to the game what an engine does not know: goals, rewards, the time limit, observations. With an
instruction, reaching its active subgoal pays 1 and the attempt ends when all are done; without one (free
play) the benchmark's own reward is paid, and only death or the time limit ends the attempt.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.envs.base import MAX_SEED
from agent.envs.crafter.engine import NUM_ACTIONS, Engine
from agent.envs.crafter.observation import OBSERVATION_SPACES, Observation, observer
from agent.goals.detection import advance
from agent.goals.vocabulary import MAX_SUBGOALS, NUM_GOALS, achievement_goal, travel_goal

TIME_LIMITS = {"instructions": 2500, "crafter": 10_000}
"""Steps of an attempt by kind of reward: those of the AMAGO paper, and those of the Crafter benchmark."""

_HEALTH = 0  # first of the inventory's items
_NOISE_STREAM = 1  # tells the stream of night noise apart from every other stream of the same seed


class CrafterEnv(gymnasium.Env):
    """One game at a time; `reset(seed=world, options={"instruction": goal ids})` starts it.

    With reward "instructions" it is told what to do; with "crafter" it takes no instruction (free play).

    Every info holds `achieved` (goal ids reached by the step), `progress` (finished subgoals) and `cause`,
    which is "" until the end, then "completed", "death by <what>" or "time limit".
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own convention)
    name = "crafter"
    vocabulary = "crafter"
    success_return = None

    def __init__(
        self,
        engine: Engine,
        observation: str = "symbolic",
        max_steps: int | None = None,
        reward: str = "instructions",
    ):
        """`max_steps`: None for the time limit of the kind of `reward`, see TIME_LIMITS."""
        self.engine = engine
        self.max_steps = max_steps or TIME_LIMITS[reward]
        self.max_instruction = MAX_SUBGOALS if reward == "instructions" else 0
        self.observation_space = OBSERVATION_SPACES[observation]
        self.action_space = spaces.Discrete(NUM_ACTIONS)
        self._observe = observer(observation)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        world = int(self.np_random.integers(MAX_SEED)) if seed is None else seed
        assert 0 <= world < MAX_SEED, f"world seeds lie in 0..{MAX_SEED - 1}, got {world}"
        self._instruction = tuple((options or {}).get("instruction", ()))
        assert len(self._instruction) <= self.max_instruction, self._instruction
        assert all(0 <= goal < NUM_GOALS for goal in self._instruction), self._instruction
        self._noise = np.random.default_rng([world, _NOISE_STREAM])
        self._steps = self._progress = 0
        self.engine.reset(world)
        self._counts = self.engine.achievements.copy()
        self._health = int(self.engine.inventory[_HEALTH])
        return self._observe(self.engine, self._noise), self._info((), "")

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        engine = self.engine
        engine.step(int(action))
        self._steps += 1
        risen = self._risen_achievements()
        achieved = self._achieved(risen)
        reward = self._reward(risen, achieved)
        cause = self._cause_of_end()
        truncated = cause == "time limit"
        terminated = bool(cause) and not truncated
        return self._observe(engine, self._noise), reward, terminated, truncated, self._info(achieved, cause)

    def _risen_achievements(self) -> list[tuple[int, int]]:
        """Achievements whose count rose on this step, as (index, count before)."""
        counts, before = self.engine.achievements, self._counts
        if counts.tobytes() == before.tobytes():  # most steps, seen the fastest way
            return []
        risen = [(int(index), int(before[index])) for index in np.flatnonzero(counts > before)]
        self._counts = counts.copy()
        return risen

    def _achieved(self, risen: list[tuple[int, int]]) -> tuple[int, ...]:
        goals = tuple(achievement_goal(index) for index, _ in risen)
        x, y = self.engine.position.tolist()
        place = travel_goal(x, y)
        return goals if place is None else (*goals, place)

    def _reward(self, risen: list[tuple[int, int]], achieved: tuple[int, ...]) -> float:
        if not self._instruction:
            return self._free_reward(risen)
        before, self._progress = self._progress, advance(self._instruction, self._progress, achieved)
        return float(self._progress - before)

    def _free_reward(self, risen: list[tuple[int, int]]) -> float:
        """The benchmark's (Hafner 2021, arXiv 2109.06780): 1 where anything is reached for the first time, and a tenth
        for each point of health won or lost."""
        before, self._health = self._health, int(self.engine.inventory[_HEALTH])
        return (self._health - before) / 10 + float(any(count == 0 for _, count in risen))

    def _cause_of_end(self) -> str:
        if self._instruction and self._progress == len(self._instruction):
            return "completed"
        if self.engine.dead:
            return f"death by {self.engine.death_cause}"
        return "time limit" if self._steps >= self.max_steps else ""

    def _info(self, achieved: tuple[int, ...], cause: str) -> dict[str, Any]:
        return {"achieved": achieved, "progress": self._progress, "cause": cause}


def make_crafter(
    engine: str, observation: str, max_steps: int | None = None, reward: str = "instructions"
) -> CrafterEnv:
    """The environment by names: engine "package" (published) or "fast" (compiled), kinds of observation and reward."""
    return CrafterEnv(_make_engine(engine), observation, max_steps, reward)


def _make_engine(name: str) -> Engine:
    if name == "package":
        from agent.envs.crafter.package import PackageEngine

        return PackageEngine()
    assert name == "fast", name
    from agent.envs.crafter.fast import FastEngine

    return FastEngine()
