"""What the live view shows in each state of a run and in each size, and what it survives."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from screen_run import SPEC, empty_run, full_run, rollout, screen_text, set_status, until

from amago_cli.tui.app import WatchApp
from amago_cli.tui.feed import Feed
from amago_cli.tui.snapshot import Snapshot
from store.layout import RunPaths
from store.rollouts import RolloutWriter

DEAD = 2**22 + 1  # no process has that number


def seen(runs_dir: Path, run: RunPaths | None, size: tuple[int, int], *texts: str) -> str:
    """The screen once all the texts are on it."""

    async def scenario() -> str:
        app = WatchApp(runs_dir, run, owns_trainer=False)
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: all(text in screen_text(app) for text in texts))
            return screen_text(app)

    return asyncio.run(scenario())


def test_a_run_at_140_columns(run: RunPaths) -> None:
    text = seen(run.root.parent, run, (140, 45), "technology tree", "rollout 6")
    for part in (
        "calm-otter-7  ▶ running  crafter · collect sapling, place plant",
        "collect sapling, place plant",
        "learning · 12,000 steps · 812 steps/s · 6.3 updates/s · no checkpoint yet · 700 updates · 6 rollouts",
        "cpu 1.5 GB",
        "34 %  1:02 elapsed  2:01 left",
        "✓ 1. collect sapling",
        "5/6",
        "● collect wood",
        "○ collect diamond",
        "rollout/return",
        "train/critic_loss",
        "★ collect sapling for the first",
        "return ▁",
        "value 0.25",
    ):
        assert part in text
    assert "@" in text or "▀" in text  # the agent's world


def test_a_run_at_80_columns(run: RunPaths) -> None:
    text = seen(run.root.parent, run, (80, 24), "rollout/wanted_success", "rollout 6", "★ collect sapling")
    assert "technology tree" not in text
    assert "q Quit" in text and "r Runs" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_run_at_40_columns(run: RunPaths) -> None:
    text = seen(run.root.parent, run, (40, 24), "1. collect sapling", "return ▁", "★ collect")
    assert "5/6" in text
    assert max(map(len, text.splitlines())) <= 40


def test_an_empty_folder_waits_for_its_first_run(runs_dir: Path) -> None:
    async def scenario() -> None:
        app = WatchApp(runs_dir, None, owns_trainer=False)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "no run in" in screen_text(app))
            full_run(runs_dir, "first-fox-1")
            await until(pilot, lambda: "first-fox-1" in screen_text(app))
            await pilot.press("enter")
            await until(pilot, lambda: "success by goal" in screen_text(app))

    asyncio.run(scenario())


def test_a_run_without_data(runs_dir: Path) -> None:
    run = empty_run(runs_dir, "new-run")
    seen(runs_dir, run, (80, 24), "▶ running", "warm-up", "no data yet", "no rollout stored yet", "nothing yet")


def test_a_world_that_cannot_be_drawn(runs_dir: Path) -> None:
    paths = empty_run(runs_dir, "vectors")
    writer = RolloutWriter(paths, "train", spec={**SPEC, "name": "own:a:b"})
    played = rollout(1)
    info = replace(played.info, environment="own:a:b")
    writer.append(replace(played, info=info, observations={"speed": np.zeros((7, 2), np.float32)}))
    writer.close()
    assert "nothing to draw" in seen(runs_dir, paths, (140, 45), "rollout 1", "nothing to draw")


def test_a_crash_shows_the_last_words_and_how_to_go_on(run: RunPaths) -> None:
    set_status(run, pid=DEAD)
    run.trainer_log.write_text("starting\namago: the collector died\x1b[2J\n")
    text = seen(run.root.parent, run, (80, 24), "✗ crashed", "The trainer is gone", "the collector died")
    assert "amago train --resume calm-otter-7" in " ".join(text.split())


def test_a_divergence_names_the_cure(run: RunPaths) -> None:
    set_status(run, state="diverged", message="critic_loss not finite at update 9")
    text = seen(run.root.parent, run, (100, 30), "! diverged", "critic_loss not finite at update 9")
    assert "optimizer.learning_rate" in text


def test_a_stalled_reader_is_told_and_keys_still_work(run: RunPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    stalls, read = threading.Event(), Feed.read

    def slow(feed: Feed) -> Snapshot:
        if stalls.is_set():
            time.sleep(3600)  # a daemon thread: the process does not wait for it
        return read(feed)

    monkeypatch.setattr(Feed, "read", slow)
    monkeypatch.setattr("amago_cli.tui.widgets.header.STALLED_AFTER", 1.0)

    async def scenario() -> None:
        app = WatchApp(run.root.parent, run, owns_trainer=False)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "calm-otter-7" in screen_text(app))
            stalls.set()
            await until(pilot, lambda: " old" in screen_text(app).splitlines()[0])
            await pilot.press("question_mark")
            await until(pilot, lambda: "next theme" in screen_text(app))

    asyncio.run(scenario())


def test_a_process_ends_while_its_reader_hangs(run: RunPaths) -> None:
    program = (
        "import sys, time; from pathlib import Path; from amago_cli.tui.reader import FeedThread;"
        "from amago_cli.tui.feed import Feed; from store.layout import RunPaths; begun = []\n"
        "Feed.read = lambda feed: (begun.append(1), time.sleep(3600))\n"
        "FeedThread(print).follow(RunPaths(Path(sys.argv[1])))\n"
        "while not begun: time.sleep(0.01)"
    )
    subprocess.run([sys.executable, "-c", program, str(run.root)], check=True, timeout=60)


def test_a_storm_of_sizes(run: RunPaths) -> None:
    async def scenario() -> None:
        app = WatchApp(run.root.parent, run, owns_trainer=False)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "rollout 6" in screen_text(app))
            for width, height in (
                (1, 1),
                (200, 60),
                (20, 5),
                (61, 18),
                (119, 80),
                (40, 12),
                (120, 17),
                (2, 50),
                (80, 24),
            ):
                await pilot.resize_terminal(width, height)
            await until(pilot, lambda: "rollout 6" in screen_text(app))

    asyncio.run(scenario())


def test_damaged_and_hostile_files_are_told_not_raised(run: RunPaths) -> None:
    with run.events.open("a") as file:
        file.write('{"time": 1e300, "step": 0, "update": 0, "kind": "x\\u001b", "text": "\\u001b[2Jgotcha"}\n{torn')
    (run.rollouts("train") / "000009.h5").write_bytes(b"no HDF5")
    (run.metrics_dir / "0009.h5").write_bytes(b"no HDF5")
    set_status(run, remaining=77.0, phase="\x1b[2J")
    run.status.write_text(run.status.read_text().replace("77.0", "NaN"))
    run.config.write_text("{")
    snapshot = Feed(run).read()
    assert any("000009.h5 is damaged" in problem for problem in snapshot.problems)
    assert any("config.json is damaged" in problem for problem in snapshot.problems)
    assert snapshot.events[-1].text == " [2Jgotcha"
    assert snapshot.status is not None and (snapshot.status.phase, snapshot.status.remaining) == (" [2J", -1.0)
    seen(run.root.parent, run, (80, 24), "gotcha", "damaged")


def test_what_did_not_change_is_the_same_object(run: RunPaths) -> None:
    feed = Feed(run)
    first, second = feed.read(), feed.read()
    assert first.metrics is second.metrics
    assert first.rollouts is second.rollouts
    assert first.events is second.events


def test_without_colours_and_unicode(run: RunPaths) -> None:
    async def scenario() -> Any:
        app = WatchApp(run.root.parent, run, owns_trainer=False, plain=True)
        async with app.run_test(size=(140, 45)) as pilot:
            await until(pilot, lambda: "rollout 6" in screen_text(app) and "+ 1. collect sapling" in screen_text(app))
            return screen_text(app)

    text = asyncio.run(scenario())
    assert "#" in text  # bars
    assert "@" in text  # the agent
    assert "> running" in text and "* collect sapling" in text
    assert text.isascii()
