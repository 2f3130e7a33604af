"""Reads a run's files into snapshots. Never raises: what cannot be read is one of the snapshot's problems.

Knows the store, no screen. One thread uses it at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from typing import Any, TypeVar

from agent.goals.grammar import format_instruction, wanted_instruction
from agent.goals.vocabularies import vocabulary
from amago_cli.background import last_words
from amago_cli.tui.game_rows import GameRow, game_rows
from amago_cli.tui.goal_rows import attempt_rows, goal_table
from amago_cli.tui.snapshot import About, Rollouts, Snapshot
from amago_cli.tui.sources import Source, stamp_of
from amago_cli.tui.text import clean
from store.events import RunEvent, read_events
from store.games import stored_games
from store.goal_outcomes import goal_outcomes
from store.layout import RunPaths
from store.metrics import Series, read_metrics
from store.rollout_index import Index
from store.rollouts import RolloutReader
from store.runs import read_config
from store.status import Status, describe_state, read_status
from store.trajectory import Trajectory

RECENT_ATTEMPTS = 10  # rollouts read whole for the returns of their attempts
CURVES_EVERY = 2.0  # seconds: a trainer that writes more often does not make the screen draw more often
_SAME_COLLECTOR = 64  # among so many of the newest rollouts one with the policy's notes is looked for

Value = TypeVar("Value")


class Feed:
    """The files of one run, and what was read of them last."""

    def __init__(self, paths: RunPaths) -> None:
        self.paths = paths
        self._reader = RolloutReader(paths.rollouts("train"))
        self._about = Source(paths.config, lambda: read_about(paths), About())
        self._status = Source(paths.status, lambda: _cleaned_status(read_status(paths)), None)
        self._events = Source(paths.events, lambda: _cleaned(read_events(paths)), ())
        self._metrics = Source(paths.metrics_dir, lambda: read_metrics(paths), {}, pause=CURVES_EVERY)
        self._rollouts = Source(paths.rollouts("train"), self._read_rollouts, Rollouts(), pause=CURVES_EVERY)
        self._words = Source(paths.trainer_log, lambda: tuple(clean(line) for line in last_words(paths)), ())
        self._wanted: tuple[int, ...] = ()  # goal ids of the instruction, as last read
        self._games: tuple[Rollouts, dict[str, Series], tuple[GameRow, ...]] | None = None  # with what it is made of
        self._problems: list[str] = []

    def read(self) -> Snapshot:
        """The run as it is now."""
        self._problems = []
        about = self._guarded(self._about.get, About())
        self._wanted = about.wanted
        status = self._guarded(self._status.get, None)
        state = "paused" if _is_paused(status) else describe_state(status)
        rollouts = self._guarded(self._rollouts.get, Rollouts())
        metrics = self._guarded(self._metrics.get, {})
        events = self._guarded(self._events.get, ())
        return Snapshot(
            paths=self.paths,
            taken=time.monotonic(),
            state=state,
            status=status,
            about=about,
            events=events,
            metrics=metrics,
            rollouts=rollouts,
            games=self._guarded(lambda: self._game_rows(rollouts, metrics), ()),
            checkpointed=_checkpointed(self.paths, events),
            last_words=self._guarded(self._words.get, ()) if state in ("crashed", "diverged") else (),
            problems=(*self._problems, *rollouts.problems),
        )

    def _guarded(self, get: Callable[[], Value], otherwise: Value) -> Value:
        """A damaged or vanishing file must not end the screen, whatever it makes our readers raise."""
        try:
            return get()
        except Exception as error:
            self._problems.append(self._within_run(str(error)) or type(error).__name__)
            return otherwise

    def _within_run(self, text: str) -> str:
        """A problem in words, its files named as seen from the run's folder: lines on a screen are short."""
        return clean(text.replace(f"{self.paths.root}/", ""))

    def _read_rollouts(self) -> Rollouts:
        index = self._reader.index()
        problems = tuple(map(self._within_run, self._reader.problems))
        if not len(index):
            return Rollouts(index=index, problems=problems)
        spec = self._reader.spec(len(index) - 1)
        names = vocabulary(str(spec.get("vocabulary", ""))).names
        return Rollouts(
            index=index,
            names=names,
            success_return=_number(spec.get("success_return")),
            goals=goal_table(goal_outcomes(index), index, self._wanted, names),
            attempts=() if names else attempt_rows(self._recent(index)),
            games=stored_games(spec),
            newest=self._reader.load(_newest(index)),
            problems=problems,
        )

    def _game_rows(self, rollouts: Rollouts, metrics: dict[str, Series]) -> tuple[GameRow, ...]:
        """Made anew only when what they are made of was read anew."""
        known = self._games
        if known is None or known[0] is not rollouts or known[1] is not metrics:
            rows = () if rollouts.index is None else game_rows(rollouts.games, metrics, rollouts.index)
            known = self._games = rollouts, metrics, rows
        return known[2]

    def _recent(self, index: Index) -> list[Trajectory]:
        first = max(len(index) - RECENT_ATTEMPTS, 0)
        return [self._reader.load(position) for position in range(first, len(index))]


def read_about(paths: RunPaths) -> About:
    """Environment and instruction of a run. Raises StorageError when its config.json is damaged."""
    return about_config(read_config(paths)["config"])


def about_config(config: Any) -> About:
    """What a run's configuration says, whoever wrote it."""
    environment = clean(next(filter(None, (_setting(config, "env", key) for key in ("id", "target", "name"))), ""))
    wanted: tuple[int, ...] = ()
    with suppress(ValueError):  # goals of another version: their text is not shown, the run is
        wanted = tuple(wanted_instruction(_setting(config, "task", "goals")))
    return About(environment, format_instruction(wanted) if wanted else "", wanted)


def _setting(config: Any, section: str, key: str) -> str:
    content = config.get(section) if isinstance(config, dict) else None
    return str(content.get(key, "")) if isinstance(content, dict) else ""


def _newest(index: Index) -> int:
    """Position of the newest trajectory; of actor 0, whose policy leaves notes, if there is a recent one."""
    last = len(index) - 1
    for position in range(last, max(last - _SAME_COLLECTOR, -1), -1):
        if index.actor[position] == 0:
            return position
    return last


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _checkpointed(paths: RunPaths, events: Sequence[RunEvent]) -> float | None:
    """When the newest checkpoint was written; a copied run's files are younger than that."""
    stamp = stamp_of(paths.pointer("latest"))
    if stamp is None:
        return None
    told = [event.time for event in events if event.kind == "checkpoint"]
    return told[-1] if told else stamp[0] / 1e9


def _is_paused(status: Status | None) -> bool:
    return status is not None and status.phase == "paused" and describe_state(status) == "running"


def _cleaned(events: list[RunEvent]) -> tuple[RunEvent, ...]:
    return tuple(replace(event, kind=clean(event.kind), text=clean(event.text)) for event in events)


def _cleaned_status(status: Status | None) -> Status | None:
    """Its texts without control characters, its numbers finite."""
    if status is None:
        return None
    texts = {key: clean(value) for key, value in vars(status).items() if isinstance(value, str)}
    unknown = {key: -1.0 for key, value in vars(status).items() if isinstance(value, float) and not isfinite(value)}
    return replace(status, **texts, **unknown)
