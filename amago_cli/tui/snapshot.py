"""What the screen knows of a run at one moment: frozen data, made by the feed and drawn by widgets.

What did not change since the snapshot before is the very same object, so a widget compares with `is`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amago_cli.tui.game_rows import GameRow
from amago_cli.tui.goal_rows import AttemptRow, GoalTable

if TYPE_CHECKING:
    from store.events import RunEvent
    from store.games import StoredGame
    from store.layout import RunPaths
    from store.metrics import Series
    from store.rollout_index import Index
    from store.status import Status
    from store.trajectory import Trajectory


@dataclass(frozen=True)
class About:
    """What config.json says."""

    environment: str = ""
    instruction: str = ""  # in words; empty where none is wanted
    wanted: tuple[int, ...] = ()  # its goal ids


@dataclass(frozen=True, eq=False, kw_only=True)
class Rollouts:
    """What the stored training rollouts say."""

    index: Index | None = None
    names: tuple[str, ...] = ()  # of the goals, by id; empty where the environment knows none
    success_return: float | None = None  # from which on an attempt without goals is a success
    goals: GoalTable = field(default_factory=GoalTable)
    attempts: tuple[AttemptRow, ...] = ()
    games: tuple[StoredGame, ...] = ()  # where the environment plays several
    newest: Trajectory | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Snapshot:
    """Everything the screen shows."""

    paths: RunPaths
    taken: float  # monotonic seconds when it was read
    state: str  # as `store.status.describe_state`, and "paused"
    status: Status | None
    about: About
    events: tuple[RunEvent, ...]  # oldest first
    metrics: dict[str, Series]
    rollouts: Rollouts
    games: tuple[GameRow, ...]  # how the games do, the best first; empty where there are none
    checkpointed: float | None  # seconds since 1970 of the newest checkpoint
    last_words: tuple[str, ...]  # of a trainer that crashed
    problems: tuple[str, ...]  # what cannot be read

    @property
    def is_empty(self) -> bool:
        """Nothing was trained yet."""
        return not self.metrics and not len(self.rollouts.index or ())

    @property
    def is_crafter(self) -> bool:
        """Whether there is a technology tree to show."""
        return self.about.environment == "crafter"
