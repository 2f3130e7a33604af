"""Text of files is harmless, numbers are readable, and configurations can be compared."""

from __future__ import annotations

import pytest

from dashboard.configurations import differences, flatten, seed_groups
from dashboard.metric_names import sensible_first, title
from dashboard.wording import age, count, duration, percent, plain


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "[x](http://a)", "**bold** $x$ :red[x]", "# a\n# b"])
def test_markdown_of_a_file_is_shown_as_it_stands(text: str) -> None:
    shown = plain(text)
    assert "\n" not in shown
    for character in "<>[]*$#":
        assert character not in shown.replace(f"\\{character}", "")
    assert shown.replace("\\", "") == " ".join(text.split())


def test_endless_text_is_cut() -> None:
    assert len(plain("a" * 10_000)) == 300


def test_numbers_for_people() -> None:
    assert [duration(s) for s in (41, 720, 3.5 * 3600, 4 * 86400)] == ["41 s", "12 min", "3.5 h", "4.0 d"]
    assert (count(1, "run"), count(1200, "run")) == ("1 run", "1,200 runs")
    assert [percent(rate) for rate in (None, 0.0, 0.001, 0.732)] == ["no data", "0 %", "< 1 %", "73 %"]
    assert age("2026-01-01T00:00:00+00:00", now=1767225600 + 7200) == "2.0 h"
    assert age("no time at all") == ""


def test_runs_that_differ_by_seed_alone_are_one_group() -> None:
    first, second = {"run": {"seed": 1}, "model": {"d": 8}}, {"run": {"seed": 2}, "model": {"d": 8}}
    other = {"run": {"seed": 1}, "model": {"d": 16}}
    assert seed_groups({"a": first, "b": other, "c": second}) == [["a", "c"], ["b"]]


def test_differences_name_both_values_and_what_is_absent() -> None:
    found = differences({"a": {"run": {"seed": 1}, "x": {"y": 1}}, "b": {"run": {"seed": 1}}})
    assert found == {"x.y": {"a": "1", "b": "not set"}}


def test_sections_become_dotted_keys() -> None:
    assert flatten({"a": {"b": {"c": 1}}, "d": [1]}) == {"a.b.c": 1, "d": [1]}


def test_metrics_have_names_with_units() -> None:
    assert title("rollout/unlocked_eat_cow") == "eat cow (share of rollouts)"
    assert title("train/valid_ratio") == "valid (share)"
    assert title("system/new_thing") == "new thing"
    assert sensible_first(["train/entropy", "rollout/return"]) == ["rollout/return", "train/entropy"]
    assert sensible_first(["z", "a"]) == ["a", "z"]
