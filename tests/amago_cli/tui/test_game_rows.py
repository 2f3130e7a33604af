"""Return by game as the screen shows it: figures by hand, and the panel on a real screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from screen_run import empty_run, rollout, screen_text, until

from amago_cli.tui.app import WatchApp
from amago_cli.tui.game_rows import GameRow, game_rows
from store.games import StoredGame
from store.layout import RunPaths
from store.metrics import MetricsWriter, Series
from store.rollout_index import Index, join_indexes
from store.rollouts import RolloutWriter

COINS, GOLD = StoredGame("coins", low=0.0, high=8.0), StoredGame("gold", scale=0.01)


def series(*values: float) -> Series:
    steps = np.arange(len(values))
    return Series(steps, steps, steps.astype(float), np.array(values))


def index(*games: str) -> Index:
    """Rollouts of these games."""
    return replace(join_indexes({}), game=np.array(games, dtype=str))


def test_rows_by_hand() -> None:
    metrics = {
        "rollout/game/coins/return": series(*[1.0] * 20, *[3.0, 5.0] * 10),
        "rollout/game/gold/return": series(200.0, float("nan"), 400.0),
        "rollout/game/gold/success": series(0.0, 1.0),
        "rollout/game/silver/return": series(1.0),
    }
    games = (GOLD, StoredGame("silver", held_out=True), StoredGame("iron"), COINS)
    found = game_rows(games, metrics, index("coins", "gold", "coins"))
    assert found == (
        GameRow("coins", 2, 4.0, 0.5, 1),
        GameRow("gold", 1, 300.0, 0.5, 0),
        GameRow("iron", 0, None, None, 0),
    )


@pytest.mark.parametrize(("before", "after", "trend"), [(5.0, 1.0, -1), (1.0, 1.0, 0)])
def test_trends(before: float, after: float, trend: int) -> None:
    values = series(*[before, before + 1] * 10, *[after, after + 1] * 10)
    (row,) = game_rows((COINS,), {"rollout/game/coins/return": values}, index())
    assert row.trend == trend


@asynccontextmanager
async def shown(paths: RunPaths) -> AsyncIterator[Any]:
    """The screen at 80 x 24."""
    app = WatchApp(paths.root.parent, paths, owns_trainer=False)
    async with app.run_test(size=(80, 24)) as pilot:
        yield pilot


def check(scenario: Any) -> None:
    asyncio.run(scenario())


def games_run(runs_dir: Path, count: int) -> RunPaths:
    """A run of so many games, the last held out, whose environment tells no success."""
    paths = empty_run(runs_dir, "calm-otter-7")
    names = [f"game {number}" for number in range(1, count + 1)]
    said = {name: {"held_out": name == names[-1], "low": 0.0, "high": 8.0, "scale": 1.0} for name in names}
    writer = RolloutWriter(paths, "train", spec={"name": "own:games", "vocabulary": "", "games": said})
    for number, name in enumerate(names[:-1], 1):
        alone = rollout(number)
        info = replace(alone.info, game=name, cause="ended", wanted=False)
        writer.append(replace(alone, instruction=np.zeros(0, np.int16), progress=np.zeros(7, np.uint8), info=info))
    writer.close()
    metrics = MetricsWriter(paths, 0)
    for step in range(4):
        metrics.log(step, 0, {f"rollout/game/{name}/return": 2.0 * (i + 1) for i, name in enumerate(names[:-1])})
    metrics.close()
    return paths


def test_the_best_game_comes_first_and_episodes_name_theirs(runs_dir: Path) -> None:
    async def scenario() -> None:
        async with shown(games_run(runs_dir, 4)) as pilot:
            await until(pilot, lambda: "game 1" in screen_text(pilot.app))
            text = screen_text(pilot.app)
            assert "return by game, last attempts: 3 games" in text and "game 4" not in text
            assert text.index("game 3") < text.index("game 2") < text.index("game 1")
            assert any("game 2" in line and " 50 %" in line and " 4 " in line for line in text.splitlines())
            await pilot.press("b")
            await until(pilot, lambda: "training, all: 3" in screen_text(pilot.app))
            assert any(" 3 game 3 " in line for line in screen_text(pilot.app).splitlines())

    check(scenario)


def test_what_does_not_fit_is_counted(runs_dir: Path) -> None:
    async def scenario() -> None:
        async with shown(games_run(runs_dir, 41)) as pilot:
            await until(pilot, lambda: "40 games" in screen_text(pilot.app))
            await until(pilot, lambda: "share, return, rollouts" in screen_text(pilot.app))
            text = screen_text(pilot.app)
            seen = sum(f"game {number} " in text for number in range(20, 41))
            assert 0 < seen < 20 and f"and {40 - seen} more" in text

    check(scenario)
