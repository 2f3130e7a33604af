"""Which instruction a training rollout carries: the wanted one, a draw along the tech tree, or a free draw.

The weights are those of the AMAGO paper's Crafter experiments. Knows goal ids, not environments or
trajectories.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from agent.goals.record import SuccessRecord, choose_learnable
from agent.goals.vocabulary import GOALS, MAX_SUBGOALS, goal_id

CANDIDATES = 8
"""Free draws among which the curriculum chooses."""

_VERBS = {"collect": 0.30, "defeat": 0.10, "eat": 0.10, "make": 0.15, "place": 0.15, "travel": 0.20}
_NOUNS = {
    "collect": {
        "sapling": 0.20,
        "wood": 0.20,
        "stone": 0.18,
        "drink": 0.17,
        "coal": 0.10,
        "iron": 0.10,
        "diamond": 0.05,
    },
    "defeat": {"zombie": 0.6, "skeleton": 0.4},
    "eat": {"cow": 0.7, "plant": 0.3},
    "make": {
        "wood pickaxe": 0.30,
        "wood sword": 0.30,
        "stone pickaxe": 0.15,
        "stone sword": 0.15,
        "iron pickaxe": 0.05,
        "iron sword": 0.05,
    },
    "place": {"table": 0.4, "stone": 0.3, "plant": 0.2, "furnace": 0.1},
}

TECH_TREE = tuple(
    goal_id(name)
    for name in (
        "collect wood",
        "place table",
        "make wood pickaxe",
        "collect coal",
        "make wood sword",
        "collect stone",
        "make stone pickaxe",
        "make stone sword",
        "collect iron",
        "place furnace",
        "make iron pickaxe",
        "make iron sword",
        "collect diamond",
    )
)
"""The steps of the game's technology in the order in which they become possible."""

_TRAVELS = [goal for goal in GOALS if goal.verb == "travel"]
_TRAVEL_IDS = np.array([goal.id for goal in _TRAVELS])
_DISTANCES = np.array([np.hypot((goal.x or 0) - 32, (goal.y or 0) - 32) for goal in _TRAVELS])
_CAPS = np.arange(1, 45)  # metres from the middle of the map, where the player starts
_CAP_WEIGHTS = (45 - _CAPS) / (45 - _CAPS).sum()


class InstructionSampler:
    """Draws Crafter's instructions; remembers how far along the tech tree anybody has come, and what succeeded.

    `wanted_share` of all draws are `wanted` (if given), `tech_tree_share` of the others follow the tech tree,
    and the rest have a uniformly drawn number of independent subgoals, 1 to `max_length`. "wake up" is never
    drawn. `curriculum_share` of these free draws are drawn CANDIDATES times, and the record of successes chooses.
    """

    def __init__(
        self,
        wanted: tuple[int, ...] | None,
        wanted_share: float,
        tech_tree_share: float,
        curriculum_share: float = 0.0,
        max_length: int = MAX_SUBGOALS,
    ):
        self._wanted = wanted
        self._wanted_share = wanted_share if wanted else 0.0
        self._tech_tree_share = tech_tree_share
        self._curriculum_share = curriculum_share
        self._record = SuccessRecord()
        self._max_length = max_length
        self.best_step = -1
        """Index in TECH_TREE of the farthest step reached so far, -1 before the first."""

    def observe(self, instruction: Sequence[int], progress: int, achieved: Iterable[int]) -> None:
        """Take note of a rollout: the subgoals it finished of its instruction, all goals it reached, wanted or not."""
        self._record.add(instruction, progress)
        reached = [TECH_TREE.index(goal) for goal in achieved if goal in TECH_TREE]
        self.best_step = max(self.best_step, *reached) if reached else self.best_step

    def sample(self, rng: np.random.Generator, seed: int) -> tuple[tuple[int, ...], bool]:
        """An instruction, and whether it is the wanted one; every world is asked for the same, whatever its `seed`."""
        if self._wanted and rng.random() < self._wanted_share:
            return self._wanted, True
        if rng.random() < self._tech_tree_share:
            return self._along_tech_tree(rng), False
        if rng.random() < self._curriculum_share:
            candidates = [sample_instruction(rng, self._max_length) for _ in range(CANDIDATES)]
            return choose_learnable(candidates, self._record.rates(), rng), False
        return sample_instruction(rng, self._max_length), False

    def snapshot(self) -> dict[str, Any]:
        """What it remembers, as JSON's own types."""
        return {"best_step": self.best_step, "record": self._record.snapshot()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `snapshot` returned."""
        self.best_step = state["best_step"]
        self._record.restore(state["record"])

    def _along_tech_tree(self, rng: np.random.Generator) -> tuple[int, ...]:
        """An ordered subset of the tree up to one past the best step."""
        reachable = min(self.best_step + 2, len(TECH_TREE))
        length = rng.integers(1, min(self._max_length, reachable) + 1)
        steps = np.sort(rng.choice(reachable, size=length, replace=False))
        return tuple(TECH_TREE[step] for step in steps)


def sample_instruction(rng: np.random.Generator, max_length: int = MAX_SUBGOALS) -> tuple[int, ...]:
    """1 to `max_length` independent subgoals of the training distribution."""
    return tuple(_sample_goal(rng) for _ in range(rng.integers(1, max_length + 1)))


def _sample_goal(rng: np.random.Generator) -> int:
    verb = _choose(rng, _VERBS)
    return _sample_travel(rng) if verb == "travel" else goal_id(f"{verb} {_choose(rng, _NOUNS[verb])}")


def _sample_travel(rng: np.random.Generator) -> int:
    """The farthest grid point within a distance cap, the nearest of all if none is within it.

    Distances compete with up to a metre of noise, so that points about as far away all have their turn.
    """
    cap = rng.choice(_CAPS, p=_CAP_WEIGHTS)
    noisy = _DISTANCES + rng.random(len(_DISTANCES))
    within = cap >= _DISTANCES
    choice = np.argmax(np.where(within, noisy, -1.0)) if within.any() else np.argmin(noisy)
    return int(_TRAVEL_IDS[choice])


def _choose(rng: np.random.Generator, weights: Mapping[str, float]) -> str:
    names = list(weights)
    return names[rng.choice(len(names), p=list(weights.values()))]
