"""The player in a real browser: keys, slider, typed frames, links, and two attempts on one clock or on two."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from store.layout import RunPaths
from store.rollouts import RolloutReader

ROOT = Path(__file__).parents[2]
CHROMIUM = Path("/usr/bin/chromium")
PATIENCE = 60_000  # milliseconds that a busy machine may take for anything

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),  # a browser on a busy machine
    pytest.mark.skipif(not CHROMIUM.exists(), reason="needs a browser: apt-get install chromium"),
]
expect.set_options(timeout=PATIENCE)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def address(template: Path) -> Iterator[str]:
    """A dashboard that shows the runs of the template."""
    port = free_port()
    options = ["--server.headless=true", f"--server.port={port}", "--server.address=127.0.0.1"]
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        "dashboard/app.py",
        *options,
        "--browser.gatherUsageStats=false",
    ]
    environment = {**os.environ, "AMAGO_RUNS_DIR": str(template), "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await_health(f"http://127.0.0.1:{port}/_stcore/health")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=20)


def _await_health(url: str) -> None:
    for _ in range(300):
        try:
            with urlopen(url, timeout=2):
                return
        except (URLError, OSError):
            time.sleep(0.2)
    pytest.fail("the dashboard did not start")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 1400, "height": 1300})
    opened.set_default_timeout(PATIENCE)
    yield opened
    opened.close()


def at(page: Page, *frames: int) -> None:
    """The player shows these frames, pictures and all."""
    player = page.locator(".player")
    expect(player).to_have_attribute("data-frames", ",".join(map(str, frames)))
    expect(player).to_have_attribute("data-ready", "true")


def frames_of(page: Page) -> list[int]:
    text = page.locator(".player").get_attribute("data-frames") or ""
    return [int(frame) for frame in text.split(",")]


def address_tells(page: Page, t: int) -> None:
    """The URL leads to the frame."""
    expect(page).to_have_url(re.compile(rf"[?&]t={t}(&|$)"))


def picture(page: Page, which: int = 0) -> bytes:
    """What is drawn, as bytes of a PNG."""
    canvas = page.locator(".player canvas").nth(which)
    return canvas.evaluate("canvas => canvas.toDataURL()").encode()


def test_keys_typing_slider_and_address(address: str, page: Page, template: Path) -> None:
    last = next(iter(RolloutReader(RunPaths(template / "calm-otter-1").rollouts("eval")))).length
    page.goto(f"{address}/replay?run=calm-otter-1&split=eval&ep=1&t=7")
    at(page, 7)
    shown = picture(page)
    page.keyboard.press("ArrowRight")
    at(page, 8)
    address_tells(page, 8)
    page.keyboard.press("Shift+ArrowRight")
    at(page, 18)
    page.keyboard.press("ArrowLeft")
    at(page, 17)
    page.keyboard.press("End")
    at(page, last)
    address_tells(page, last)
    page.keyboard.press("Home")
    at(page, 0)
    page.keyboard.type("12")
    page.keyboard.press("Enter")
    at(page, 12)
    address_tells(page, 12)
    page.locator(".player .scrub").fill("7")
    at(page, 7)
    address_tells(page, 7)
    assert picture(page) == shown  # the same frame, from its sheet this time


def test_play_and_pause(address: str, page: Page) -> None:
    page.goto(f"{address}/replay?run=calm-otter-1&split=eval&ep=1&t=0")
    at(page, 0)
    page.locator(".player .speed").select_option("20")
    page.keyboard.press("Space")
    expect(page.locator(".player [data-do=play]")).to_have_attribute("aria-label", "Pause")
    expect(page.locator(".player")).not_to_have_attribute("data-frames", "0")
    page.keyboard.press("Space")
    expect(page.locator(".player [data-do=play]")).to_have_attribute("aria-label", "Play")
    (frame,) = frames_of(page)
    assert frame > 0
    address_tells(page, frame)


def test_the_timeline_can_be_clicked(address: str, page: Page) -> None:
    page.goto(f"{address}/replay?run=calm-otter-1&split=eval&ep=1&t=0")
    at(page, 0)
    strip = page.locator(".player .strip")
    box = strip.bounding_box()
    assert box is not None
    strip.click(position={"x": box["width"] - 1, "y": box["height"] / 2})
    expect(page.locator(".player")).not_to_have_attribute("data-frames", "0")
    assert frames_of(page)[0] > 10


def test_a_link_reopens_its_frame_in_a_new_browser(address: str, page: Page, browser: Browser) -> None:
    page.goto(f"{address}/replay?run=calm-otter-1&split=train&ep=2&t=0")
    at(page, 0)
    page.keyboard.press("Shift+ArrowRight")
    address_tells(page, 10)
    shown, link = picture(page), page.url
    other = browser.new_page()
    other.set_default_timeout(PATIENCE)
    other.goto(link)
    at(other, 10)
    assert picture(other) == shown
    other.close()


def test_attempts_side_by_side_locked_and_free(address: str, page: Page) -> None:
    page.goto(f"{address}/attempts?run=brisk-fox-3")
    expect(page.locator(".player .pane")).to_have_count(2)
    expect(page.locator(".player")).to_have_attribute("data-ready", "true")
    first, second = frames_of(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    at(page, first + 2, second + 2)
    page.get_by_text("One cursor for both").click()
    expect(page.locator(".player")).to_have_class(re.compile("free"))
    at(page, first, second)
    page.locator(".player .pane").nth(1).click(position={"x": 20, "y": 20})
    page.keyboard.press("ArrowRight")
    at(page, first, second + 1)
    page.locator(".player .pane").nth(0).click(position={"x": 20, "y": 20})
    page.keyboard.press("Shift+ArrowRight")
    at(page, first + 10, second + 1)
