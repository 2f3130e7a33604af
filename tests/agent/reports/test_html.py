"""The report as a page: complete, self-contained, harmless whatever the texts are, and the same figures as the JSON."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from report_data import CRAFTER, LAKE, SAPLING, STONE_IRON, header, played, trial

from agent.reports.filmstrips import Filmstrip, Frame
from agent.reports.html import MAX_EPISODES, to_html
from agent.reports.markup import Markup, join, tag
from agent.reports.report import EvalReport, summarise, to_json
from agent.reports.svg import Line, Mark, line_chart, rate_bars

EVIL = '<script>alert("x")</script><img src="http://evil.example/a.png" onerror=\'x()\'>'
VOID = {"meta", "img", "br", "rect", "line", "circle"}


class Page(HTMLParser):
    """What is on a page: elements with attributes, texts of table cells by table, everything else that is text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[list[list[str]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> does not close what was opened last"

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            return
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data

    def attributes(self, name: str) -> list[str]:
        return [value or "" for _, attributes in self.elements for key, value in attributes.items() if key == name]


@pytest.fixture
def report() -> EvalReport:
    agent = [played(STONE_IRON, k % 3, 30 + k, "completed" if k % 3 == 2 else "death by zombie") for k in range(8)]
    agent += [played(SAPLING, k % 2, 10, "completed" if k % 2 else "time limit") for k in range(4)]
    random = [played(STONE_IRON, 0, 9, "time limit")] * 8 + [played(SAPLING, 0, 9, "time limit")] * 4
    instructions = [STONE_IRON, SAPLING]
    return EvalReport(header(), summarise(agent, instructions, CRAFTER), summarise(random, instructions, CRAFTER))


def strip(**changes: Any) -> Filmstrip:
    frames = (Frame(0, "", b"first"), Frame(9, "collect sapling", b"second"))
    fields = {"kind": "best", "task": "collect sapling", "outcome": "success", "seed": 11, "steps": 9}
    return Filmstrip(**{**fields, "ret": 1.0, "number": 4, "frames": frames, **changes})  # type: ignore[arg-type]


def test_every_element_is_closed_and_every_section_there(report: EvalReport) -> None:
    page = Page(to_html(report, [strip()]))
    assert page.open == []
    titles = re.findall(r"<h2>(.*?)</h2>", to_html(report, [strip()]))
    assert titles == [
        "Instructions",
        "Goals",
        "All episodes",
        "How episodes ended",
        "Best and worst episodes",
        "Episodes",
        "What was evaluated, and how",
    ]
    for words in ("step 100", "ab12", "held-out worlds (odd seeds)", "sampled actions", "amago eval --checkpoint a"):
        assert words in page.text
    assert "not how another training seed would have done" in page.text


def test_nothing_is_loaded_from_outside(report: EvalReport) -> None:
    html = to_html(report, [strip()])
    page = Page(html)
    names = {name for name, _ in page.elements}
    assert not names & {"script", "link", "iframe", "object", "embed", "a", "form", "base"}
    assert all(source.startswith("data:image/png;base64,") for source in page.attributes("src"))
    assert "http://" not in html and "https://" not in html and "url(" not in html and "@import" not in html
    assert "default-src 'none'" in page.attributes("content")[0]


def test_foreign_text_stays_text(report: EvalReport) -> None:
    poisoned = replace(
        report,
        header=replace(report.header, command=EVIL, checkpoint=EVIL, worlds=EVIL, settings={EVIL: EVIL}),
        agent=replace(
            report.agent,
            causes={EVIL: 3},
            instructions=tuple(replace(row, text=EVIL, failures={EVIL: 1}) for row in report.agent.instructions),
            goals=(),
            episodes=tuple(replace(each, instruction=EVIL, cause=EVIL) for each in report.agent.episodes),
        ),
    )
    html = to_html(poisoned, [strip(task=EVIL, outcome=EVIL, frames=(Frame(0, EVIL, b""),))])
    page = Page(html)
    assert page.open == []
    assert "script" not in {name for name, _ in page.elements}
    assert not page.attributes("onerror")
    assert all(source.startswith("data:") for source in page.attributes("src"))
    assert page.text.count(EVIL) > 10


def test_the_figures_are_those_of_the_json(report: EvalReport) -> None:
    document = to_json(report)
    page = Page(to_html(report, []))
    table = page.tables[0]
    for row, mine, theirs in zip(
        table[1:], document["agent"]["instructions"], document["random"]["instructions"], strict=False
    ):
        text, _, success, interval, random = row[:5]
        low, high = mine["success"]["interval"]
        assert text == mine["text"]
        assert success == f"{mine['success']['rate']:.0%} ({mine['success']['successes']}/{mine['success']['trials']})"
        assert interval == f"{100 * low:.0f}-{100 * high:.0f}"
        assert random == f"{theirs['success']['rate']:.0%} (0/{theirs['success']['trials']})"
    every = page.tables[-1]
    assert len(every) == 1 + len(document["agent"]["episodes"])
    assert [row[2] for row in every[1:]] == [each["cause"] for each in document["agent"]["episodes"]]


def test_bars_are_as_long_as_the_rates(report: EvalReport) -> None:
    bars = rate_bars([Mark("agent", "half", 0.5, (0.25, 0.75)), Mark("random", "none", None, None)])
    widths = re.findall(r'class="agent"|width="([\d.]+)" height="7"', bars)
    assert "90" in widths and '<line x1="45" x2="135"' in bars
    assert 'class="random"' not in bars  # without data there is a track, no bar of length 0
    assert bars.count("<title>") == 2


def test_attempts_have_a_chart_with_axes() -> None:
    episodes = [trial([0.0], [1.0]), trial([0.0], [0.0])]
    page = to_html(EvalReport(header(), summarise(episodes, None, LAKE), summarise(episodes, None, LAKE)), [])
    assert "<h2>Attempts</h2>" in page and 'aria-label="success over attempt at the same task"' in page
    assert page.count("<polyline") == 2
    assert "<h2>Instructions</h2>" not in page and "Best and worst" not in page
    without = replace(LAKE, success_return=None)
    page = to_html(EvalReport(header(), summarise(episodes, None, without)), [])
    assert 'aria-label="mean return over attempt at the same task"' in page


def test_success_by_attempt_of_each_instruction() -> None:
    twice = replace(played(SAPLING, 1, 4, "completed"), is_first=np.array([True, False, True, False, False]))
    page = Page(to_html(EvalReport(header(), summarise([twice], [SAPLING], CRAFTER)), []))
    assert [["instruction", "attempt 1", "attempt 2"], ["collect sapling", "0% (0/1)", "100% (1/1)"]] in page.tables


def test_a_chart_of_equal_figures_has_a_height() -> None:
    chart = line_chart(
        [Line("agent", [Mark("agent", "3", 3.0, None)] * 2)], x_label="x", y_label="y", unit_interval=False
    )
    assert "nan" not in chart and "2.5" in chart and "3.5" in chart


def test_pictures_are_within_the_page(report: EvalReport) -> None:
    page = Page(to_html(report, [strip()]))
    sources = page.attributes("src")
    assert [b64decode(source.partition(",")[2]) for source in sources] == [b"first", b"second"]
    assert "best: collect sapling" in page.text and "t = 9" in page.text and "world 11, episode 4" in page.text


def test_an_interrupted_evaluation_says_so(report: EvalReport) -> None:
    assert "INTERRUPTED" not in to_html(report, [])
    assert "INTERRUPTED" in to_html(replace(report, header=replace(report.header, interrupted=True)), [])


def test_long_lists_are_cut_with_a_word(report: EvalReport) -> None:
    many = replace(report, agent=replace(report.agent, episodes=report.agent.episodes[:1] * (MAX_EPISODES + 7)))
    page = Page(to_html(many, []))
    assert len(page.tables[-1]) == 1 + MAX_EPISODES
    assert "7 more are in the report as JSON" in page.text


def test_an_evaluation_without_an_episode_is_a_page_too() -> None:
    page = Page(to_html(EvalReport(header(), summarise([], [SAPLING], CRAFTER)), []))
    assert page.open == [] and "no data" in page.text


def test_markup_escapes_what_it_did_not_make() -> None:
    assert tag("b", "<i>", tag("i", "&"), title='"<') == '<b title="&quot;&lt;">&lt;i&gt;<i>&amp;</i></b>'
    assert isinstance(join("a", None, Markup("<hr>")), Markup) and join("a", None, Markup("<hr>")) == "a<hr>"
    assert tag("line", x1=1.25, stroke_width=2, class_=None) == '<line x1="1.2" stroke-width="2"/>'
