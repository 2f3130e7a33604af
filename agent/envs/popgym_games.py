"""POPGym's games of memory (Morad et al. 2023), one at a time, and which of them AMAGO-2 plays together."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from agent.envs.adapted import AdaptedEnv, Called, Observation
from agent.envs.base import MAX_SEED, Game
from store.errors import AmagoError

_LEVELS = ("Easy", "Medium", "Hard")

# Mean returns of uniformly random actions: computed where each answer is right by chance, such as one suit of four,
# else measured over hundreds of episodes of version 1.0.7.
_RANDOM_RETURNS: dict[str, tuple[float, ...]] = {
    "Autoencode": (-0.5, -0.5, -0.5),
    "RepeatPrevious": (-0.5, -0.5, -0.5),
    "RepeatFirst": (-0.5, -0.5, -0.5),
    "CountRecall": (2 / 27 - 1, 2 / 27 - 1, 2 / 17 - 1),
    "PositionOnlyCartPole": (0.113, 0.056, 0.037),
    "VelocityOnlyCartpole": (0.113, 0.056, 0.037),
    "NoisyPositionOnlyCartPole": (0.113, 0.113, 0.113),
    "MultiarmedBandit": (0.0, 0.0),
    "HigherLower": (0.0, 0.0, 0.0),
    "MineSweeper": (-0.24,),
}
_MOST = 1.0  # no return is higher; where luck decides (HigherLower, MultiarmedBandit) nobody gets there

MULTI_TASK = {
    f"{family}{level}": Game(f"{family}{level}", low=low, high=_MOST)
    for family, returns in _RANDOM_RETURNS.items()
    for level, low in zip(_LEVELS, returns, strict=False)
}
"""The 27 with discrete actions, combinations counted, and observations, both of fewer than 30 dimensions.

AMAGO-2 scales returns from a random policy to the best agent trained on that game alone; here `high` is the bound.
"""


class PopGymEnv(AdaptedEnv):
    """One game with its own spaces; actions of several parts count as one.

    What an attempt plays is a variant of the game (cards, mines, payouts), drawn from the world's seed and the number
    of the attempt: a later attempt knows the rules, and not what is to be remembered.
    """

    name = "popgym"

    def __init__(self, label: str, game: gymnasium.Env):
        super().__init__(game, Called("the POPGym game", label), _steps_of(game), success_return=None)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        if seed is not None:
            drawn = np.random.default_rng((seed, (options or {}).get("attempt", 0))).integers(MAX_SEED // 2)
            seed = 2 * int(drawn) + seed % 2  # even for training, odd for evaluations, as the worlds are
        return super().reset(seed=seed)


def game_classes() -> dict[str, type[gymnasium.Env]]:
    """Every game that is installed; AmagoError without the package."""
    try:
        from popgym.envs import ALL
    except ImportError as error:
        raise AmagoError('popgym needs its package: pip install "amago[popgym]"') from error
    classes: Any = ALL  # which the package takes for instances
    return {said["id"].split("-")[1]: game for game, said in classes.items()}


def _steps_of(game: Any) -> int:
    """The most steps that an episode takes."""
    limit = getattr(game, "max_episode_length", None)
    return game.deck_size - 1 if limit is None else limit  # the others are card games whose first card is dealt
