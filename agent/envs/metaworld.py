"""Meta-World (Yu et al. 2019): one robot arm, up to fifty tasks, each with a goal that is not seen, only paid for.

As AMAGO-2 plays its benchmark ML45 (arXiv 2411.11188): a rollout draws a task and a goal and tries three times, 500
steps each. A task is a game here; five of them are held out. An attempt succeeds when the goal is reached at any step,
and goes on after that.

The package's own benchmark classes try out fifty goals of every task before the first step, which takes most of a
minute; here a task is made when it is played. Its goals are drawn by the world's seed: as many for training, by even
seeds, as others for evaluations, by odd ones.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.envs.base import MAX_SEED, Game
from agent.envs.games import chosen_games, played_game
from store.errors import AmagoError

_VERSION = "-v3"  # at the end of the package's names
_ONE_TASK = "ML1-"
_NUM_STATE, _NUM_ACTION = 39, 4
_KEPT = 16  # tasks, of some megabytes and a tenth of a second each
_SUCCESS = 0  # the goal's id in the vocabulary "success"

Observation = dict[str, np.ndarray]


class MetaWorldEnv(gymnasium.Env):
    """One attempt at a task. Observation: `state` of hand and objects, now and a step ago. Cause: "time limit"."""

    name = "metaworld"
    max_instruction = 0
    vocabulary = "success"
    success_return = None

    def __init__(self, benchmark: str, names: Sequence[str], goals: int, max_steps: int):
        """`benchmark`: "ML45", "ML10" or "ML1-<task>"; `names`: those of its tasks that are played, none for all.

        `goals`: how many each task has for training, and as many others. `max_steps`: of an attempt, 500 at most.
        AmagoError for a benchmark or a task that does not exist, or without the package.
        """
        held_out = tasks_of(benchmark)
        chosen = chosen_games(f"metaworld's {benchmark}", names, held_out)
        self.games = tuple(Game(name, held_out[name]) for name in chosen)
        self.max_steps = max_steps
        self.observation_space = spaces.Dict({"state": spaces.Box(-np.inf, np.inf, (_NUM_STATE,), np.float32)})
        self.action_space = spaces.Box(-1.0, 1.0, (_NUM_ACTION,), np.float32)
        self._num_goals = goals
        self._made: OrderedDict[str, Any] = OrderedDict()  # the one played last at the end

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        world = int(self.np_random.integers(MAX_SEED)) if seed is None else seed
        self._task = self._make(played_game(options, self.games, np.random.default_rng(world)))
        self._task.np_random = np.random.default_rng((world // 2 % self._num_goals, world % 2))
        self._steps, self._succeeded = 0, False
        state, _ = self._task.reset()
        return _observation(state), {"cause": ""}

    def step(self, action: np.ndarray) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        state, reward, _, _, said = self._task.step(action)
        self._steps += 1
        first_success = bool(said["success"]) and not self._succeeded
        self._succeeded = self._succeeded or first_success
        late = self._steps >= self.max_steps
        info = {"achieved": (_SUCCESS,) if first_success else (), "cause": "time limit" if late else ""}
        return _observation(state), float(reward), False, late, info

    def close(self) -> None:
        for task in self._made.values():
            task.close()
        self._made.clear()

    def _make(self, name: str) -> Any:
        """The package's own environment of a task; the one that was not played for the longest time gives way."""
        if name not in self._made:
            if len(self._made) >= _KEPT:
                self._made.popitem(last=False)[1].close()
            task = _package().ALL_V3_ENVIRONMENTS[name + _VERSION]()
            # What the package's benchmarks do, but that goals come from the generator that a reset gives to the task.
            task._set_task_called, task._freeze_rand_vec, task.seeded_rand_vec = True, False, True
            self._made[name] = task
        self._made.move_to_end(name)
        return self._made[name]


def tasks_of(benchmark: str) -> dict[str, bool]:
    """The tasks of a benchmark, and whether they are held out; AmagoError for one that does not exist."""
    package = _package()
    sets = {"ML45": package.ML45_V3, "ML10": package.ML10_V3}
    if benchmark in sets:
        return {
            name.removesuffix(_VERSION): split == "test"
            for split in ("train", "test")
            for name in sets[benchmark][split]
        }
    if benchmark.startswith(_ONE_TASK):
        known = [name.removesuffix(_VERSION) for name in package.ALL_V3_ENVIRONMENTS]
        return dict.fromkeys(chosen_games("metaworld", [benchmark.removeprefix(_ONE_TASK)], known), False)
    raise AmagoError(
        f"metaworld has no benchmark '{benchmark}'; there are ML45, ML10 and ML1-<task>, such as ML1-reach"
    )


def _observation(state: np.ndarray) -> Observation:
    return {"state": state.astype(np.float32)}


def _package() -> Any:
    try:
        from metaworld import env_dict
    except ImportError as error:
        raise AmagoError('metaworld needs the package of that name: pip install "amago[metaworld]"') from error
    return env_dict
