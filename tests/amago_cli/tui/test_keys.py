"""Every key of the live view, and what a person is told when it makes no sense."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from screen_run import empty_run, full_run, screen_text, set_status, until

from amago_cli.tui.app import WatchApp
from amago_cli.tui.screens.ask import Ask
from amago_cli.tui.screens.episodes import EpisodeScreen
from amago_cli.tui.screens.help import Help
from amago_cli.tui.screens.live import LiveScreen
from amago_cli.tui.screens.metrics import MetricPicker
from amago_cli.tui.screens.runs import RunsScreen
from store.control import take_orders
from store.layout import RunPaths


@asynccontextmanager
async def shown(paths: RunPaths, *, owns_trainer: bool = False) -> AsyncIterator[Any]:
    """The screen at 80 x 24 once it has read the run."""
    app = WatchApp(paths.root.parent, paths, owns_trainer=owns_trainer)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: app.snapshot is not None and paths.name in screen_text(app))
        yield pilot


def check(scenario: Any) -> None:
    asyncio.run(scenario())


def test_keys_give_orders(run: RunPaths) -> None:
    async def scenario() -> None:
        async with shown(run) as pilot:
            for key, order in (("space", "pause"), ("c", "checkpoint"), ("e", "evaluate")):
                await pilot.press(key)
                await until(pilot, lambda: any(run.orders.glob("*")))
                assert take_orders(run) == [order]
            await until(pilot, lambda: "asked for" in screen_text(pilot.app))

    check(scenario)


def test_a_paused_run_can_go_on_or_be_stopped_after_a_question(run: RunPaths) -> None:
    set_status(run, phase="paused")

    async def scenario() -> None:
        async with shown(run) as pilot:
            assert "‖ paused" in screen_text(pilot.app)
            await pilot.press("space")
            assert take_orders(run) == ["resume"]
            for answer, orders in (("escape", []), ("n", []), ("y", ["stop"])):
                await pilot.press("s")
                await until(pilot, lambda: isinstance(pilot.app.screen, Ask))
                await pilot.press(answer)
                await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
                if orders:
                    await until(pilot, lambda: any(run.orders.glob("*")))
                assert take_orders(run) == orders

    check(scenario)


def test_orders_to_a_finished_run_are_refused_in_words(run: RunPaths) -> None:
    set_status(run, state="finished", message="steps")

    async def scenario() -> None:
        async with shown(run) as pilot:
            await pilot.press("space", "c", "e", "s")
            await until(pilot, lambda: "nothing to stop" in screen_text(pilot.app))
            assert "its steps are done; next: amago eval" in screen_text(pilot.app)
            assert isinstance(pilot.app.screen, LiveScreen)
            assert not run.orders.exists()

    check(scenario)


@pytest.mark.parametrize("key", ["q", "ctrl+c", "ctrl+q"])
def test_leaving_does_not_stop_the_run(run: RunPaths, key: str) -> None:
    async def scenario() -> None:
        async with shown(run) as pilot:
            await pilot.press(key)
            await until(pilot, lambda: pilot.app.return_value is not None)
            assert pilot.app.return_value.state == "running"
        assert take_orders(run) == []

    check(scenario)


@pytest.mark.parametrize(("answer", "orders"), [("d", []), ("s", ["stop"])])
def test_leaving_asks_whoever_started_the_trainer(run: RunPaths, answer: str, orders: list[str]) -> None:
    async def scenario() -> None:
        async with shown(run, owns_trainer=True) as pilot:
            for key in ("escape", answer):  # the first stays
                assert pilot.app.return_value is None
                await pilot.press("q")
                await until(pilot, lambda: isinstance(pilot.app.screen, Ask))
                await pilot.press(key)
                await until(pilot, lambda: not isinstance(pilot.app.screen, Ask) or pilot.app.return_value)
            await until(pilot, lambda: pilot.app.return_value is not None)
            leaving = pilot.app.return_value
            assert leaving is not None and leaving.is_stopping == (answer == "s")
        assert take_orders(run) == orders

    check(scenario)


def test_another_run_can_be_chosen(run: RunPaths) -> None:
    other = full_run(run.root.parent, "brisk-heron-2")

    async def scenario() -> None:
        async with shown(run) as pilot:
            await pilot.press("r")
            await until(pilot, lambda: "brisk-heron-2" in screen_text(pilot.app))
            assert isinstance(pilot.app.screen, RunsScreen)
            await pilot.press("enter")  # the newest is highlighted
            await until(pilot, lambda: pilot.app.snapshot is not None and pilot.app.snapshot.paths == other)

    check(scenario)


def test_metrics_are_chosen_with_marks_that_need_no_colour(run: RunPaths) -> None:
    async def scenario() -> None:
        async with shown(run) as pilot:
            await until(pilot, lambda: "rollout/wanted_success" in screen_text(pilot.app))
            await pilot.press("m")
            await until(pilot, lambda: isinstance(pilot.app.screen, MetricPicker))
            assert "[x] rollout/return" in screen_text(pilot.app)
            assert "[ ] rollout/unlocked_collect_wood" in screen_text(pilot.app)
            await pilot.press("space", "down", "space", "down", "space", "down", "space", "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
            await until(pilot, lambda: "rollout/unlocked_collect_wood" in screen_text(pilot.app))
            assert "rollout/wanted_success" not in screen_text(pilot.app)

    check(scenario)


def test_help_theme_and_tree(run: RunPaths) -> None:
    async def scenario() -> None:
        async with shown(run) as pilot:
            await pilot.press("question_mark")
            await until(pilot, lambda: isinstance(pilot.app.screen, Help) and "next theme" in screen_text(pilot.app))
            await pilot.press("escape")
            before = pilot.app.theme
            await pilot.press("t")
            assert pilot.app.theme != before
            await pilot.press("g")
            await until(pilot, lambda: "technology tree" in screen_text(pilot.app))

    check(scenario)


def test_the_palette_knows_the_orders(run: RunPaths) -> None:
    async def scenario() -> None:
        async with shown(run) as pilot:
            titles = {command.title for command in pilot.app.get_system_commands(pilot.app.screen)}
            orders = {"Pause", "Resume", "Checkpoint", "Evaluate", "Stop"}
            assert titles == orders | {"Episodes", "Metrics", "Tree", "Runs", "Theme", "Help", "Quit"}
            await pilot.press("ctrl+p", *"evaluate")
            await until(pilot, lambda: "Evaluate now" in screen_text(pilot.app))
            await pilot.press("enter")
            await until(pilot, lambda: any(run.orders.glob("*")))
            assert take_orders(run) == ["evaluate"]

    check(scenario)


def test_there_is_nothing_to_browse_yet(runs_dir: Path) -> None:
    run = empty_run(runs_dir, "new-run")

    async def scenario() -> None:
        async with shown(run) as pilot:
            for key, words in (("b", "no episode stored yet"), ("m", "no metrics yet")):
                await pilot.press(key)
                await until(pilot, lambda words=words: words in screen_text(pilot.app))
            assert not isinstance(pilot.app.screen, EpisodeScreen)

    check(scenario)
