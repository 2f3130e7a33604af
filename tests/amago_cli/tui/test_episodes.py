"""The browser of stored episodes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from screen_run import screen_text, until

from amago_cli.tui.app import WatchApp
from amago_cli.tui.screens.episodes import EpisodeScreen
from amago_cli.tui.screens.live import LiveScreen
from store.layout import RunPaths


def browsing(run: RunPaths, scenario: Callable[[Any], Any]) -> None:
    """Run `scenario` on the open browser."""

    async def whole() -> None:
        app = WatchApp(run.root.parent, run, owns_trainer=False)
        async with app.run_test(size=(110, 30)) as pilot:
            await until(pilot, lambda: "rollout 6" in screen_text(app))
            await pilot.press("b")
            await until(pilot, lambda: isinstance(app.screen, EpisodeScreen) and "step 0 of 6" in screen_text(app))
            await scenario(pilot)

    asyncio.run(whole())


def test_steps(run: RunPaths) -> None:
    async def scenario(pilot: Any) -> None:
        for key, step in (("right", 1), ("right", 2), ("left", 1), ("end", 6), ("right", 6), ("home", 0), ("left", 0)):
            await pilot.press(key)
            await until(pilot, lambda step=step: f"step {step} of 6" in screen_text(pilot.app))
        await pilot.press("space")
        await until(pilot, lambda: "step 6 of 6: completed, return 2" in screen_text(pilot.app))

    browsing(run, scenario)


def test_list_and_filter(run: RunPaths) -> None:
    async def scenario(pilot: Any) -> None:
        app = pilot.app
        assert "training, all: 6" in screen_text(app) and "episode 6" in screen_text(app)
        await pilot.press("down", "down")
        await until(pilot, lambda: "episode 4" in screen_text(app))
        await pilot.press("f")
        await until(pilot, lambda: "successes: 4" in screen_text(app) and "episode 6" in screen_text(app))
        await pilot.press("f")
        await until(pilot, lambda: "failures: 2" in screen_text(app) and "episode 4" in screen_text(app))
        await pilot.press("down")
        await until(pilot, lambda: "episode 2" in screen_text(app))
        await pilot.click("#list", offset=(5, 1))
        await until(pilot, lambda: "episode 4" in screen_text(app))

    browsing(run, scenario)


def test_evaluations_and_back(run: RunPaths) -> None:
    async def scenario(pilot: Any) -> None:
        await pilot.press("v")
        await until(pilot, lambda: "evaluation, all: 1" in screen_text(pilot.app))
        await pilot.press("v")
        await until(pilot, lambda: "training, all: 6" in screen_text(pilot.app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))

    browsing(run, scenario)


def test_a_shard_that_went_bad_is_told(run: RunPaths) -> None:
    async def scenario(pilot: Any) -> None:
        shard = next(run.rollouts("train").glob("*.h5"))
        shard.write_bytes(shard.read_bytes()[:100])
        await pilot.press("down")
        await until(pilot, lambda: "is damaged" in " ".join(screen_text(pilot.app).split()))

    browsing(run, scenario)
