"""The table of environments by name. Imports an environment only when one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import gymnasium

    from agent.config import EnvConfig


class Environment(NamedTuple):
    """One line of the table."""

    description: str
    factory: Callable[[EnvConfig], Callable[[], gymnasium.Env]]
    """From the configuration to a picklable function that makes the environment in any process."""


def _crafter(config: EnvConfig) -> Callable[[], gymnasium.Env]:
    from agent.envs.crafter.env import make_crafter

    return partial(make_crafter, config.engine, config.observation, config.max_steps)


ENVIRONMENTS = {
    "crafter": Environment("Crafter with instructions of up to five goals out of 191", _crafter),
}
