"""Runs are created once, found by name, path or age, and listed even when broken."""

import errno
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.atomic import write_json
from store.errors import AmagoError, StorageError
from store.layout import RunPaths
from store.runs import check_run_name, create_run, list_runs, open_run, read_config
from store.schema import SCHEMA_VERSION


def test_the_record_of_a_new_run(tmp_path):
    paths = create_run(tmp_path, "first", {"lr": 1e-4}, {"command": "amago train", "seeds": {"run": 3}})
    record = read_config(paths)
    assert paths.root == tmp_path / "first"
    assert record["config"] == {"lr": 1e-4}
    assert (record["schema_version"], record["name"], record["command"]) == (SCHEMA_VERSION, "first", "amago train")
    assert record["seeds"] == {"run": 3}
    assert record["versions"]["numpy"] and record["versions"]["python"]


def test_a_nameless_run_gets_a_readable_name(tmp_path):
    names = {create_run(tmp_path, None, {}).name for _ in range(5)}
    assert len(names) == 5
    assert all(re.fullmatch(r"[a-z]+-[a-z]+-\d+", name) for name in names)


def test_an_existing_run_is_never_overwritten(tmp_path):
    create_run(tmp_path, "first", {"a": 1})
    with pytest.raises(AmagoError, match=r"first already exists; .*--resume first"):
        create_run(tmp_path, "first", {"a": 2})
    assert read_config(open_run(tmp_path, "first"))["config"] == {"a": 1}


def test_of_many_creators_one_wins(tmp_path):
    def create(number):
        try:
            return create_run(tmp_path, "first", {"creator": number})
        except AmagoError:
            return None

    with ThreadPoolExecutor(8) as pool:
        winners = [paths for paths in pool.map(create, range(16)) if paths]
    assert len(winners) == 1


@pytest.mark.parametrize("name", ["", ".", "..", "../a", "a/b", "-rf", ".hidden", "a b", "a@best", "latest", "a" * 65])
def test_unsafe_names_are_refused(tmp_path, name):
    with pytest.raises(AmagoError, match="cannot be the name of a run"):
        create_run(tmp_path, name, {})
    assert list(tmp_path.iterdir()) == []


@given(st.text(max_size=70))
def test_an_accepted_name_is_one_plain_path_component(name):
    try:
        check_run_name(name)
    except AmagoError:
        return
    assert Path(name).name == name and name != ".." and name.isascii()


def test_runs_are_found_by_name_path_and_age(tmp_path, monkeypatch):
    first = create_run(tmp_path / "runs", "first", {})
    second = create_run(tmp_path / "runs", "second", {})
    monkeypatch.chdir(tmp_path)
    runs_dir = (tmp_path / "runs").relative_to(tmp_path)
    assert open_run(runs_dir, "first") == first
    assert open_run(runs_dir, "runs/first") == first
    assert open_run(runs_dir, first.root) == first
    assert open_run(runs_dir, "latest") == second


def test_a_misspelt_name_brings_suggestions(tmp_path):
    create_run(tmp_path, "calm-otter-7", {})
    with pytest.raises(AmagoError, match=r"no run 'calm-oter-7' .*did you mean calm-otter-7\?"):
        open_run(tmp_path, "calm-oter-7")


def test_a_full_disk_names_the_run(tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match=r"disk full while writing .*--resume first"):
        create_run(tmp_path, "first", {})


def test_a_place_that_may_not_be_looked_at_is_a_storage_error(tmp_path, monkeypatch):
    def refuse(path, *_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_file", refuse)
    with pytest.raises(StorageError, match=r"cannot read .*a: Permission denied"):
        open_run(tmp_path, "a")
    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(StorageError, match=r"cannot read .*: Permission denied"):
        list_runs(tmp_path)


@pytest.mark.parametrize("name", ["zzz", "latest"])
def test_without_runs_the_message_says_what_to_do(tmp_path, name):
    with pytest.raises(AmagoError, match=r"amago (runs|train)"):
        open_run(tmp_path / "none", name)


def test_listing_survives_broken_runs(tmp_path):
    good = create_run(tmp_path, "good", {})
    for name, content in [("empty", ""), ("list", "[]"), ("newer", '{"schema_version": 99, "config": {}}')]:
        (tmp_path / name).mkdir()
        RunPaths(tmp_path / name).config.write_text(content)
    (tmp_path / "not-a-run").mkdir()
    (tmp_path / "file").write_text("")
    RunPaths(good.root).status.write_text("garbage")

    summaries = {summary.name: summary for summary in list_runs(tmp_path)}
    assert set(summaries) == {"good", "empty", "list", "newer"}
    assert summaries["good"].problem == "" and summaries["good"].state == "unknown"
    assert summaries["empty"].state == "broken" and "not valid JSON" in summaries["empty"].problem
    assert "holds no configuration" in summaries["list"].problem
    assert "made by a newer amago" in summaries["newer"].problem
    assert open_run(tmp_path, "latest").name == "good"


def test_the_newest_run_comes_first(tmp_path):
    names = [create_run(tmp_path, name, {}).name for name in ("b", "c", "a")]
    assert [summary.name for summary in list_runs(tmp_path)] == names[::-1]


def test_a_damaged_record_is_a_storage_error(tmp_path):
    paths = create_run(tmp_path, "a", {})
    write_json(paths.config, {"config": 3})
    with pytest.raises(StorageError, match="holds no configuration"):
        read_config(paths)


def test_numbers_that_are_not_finite_do_not_break_the_record(tmp_path):
    paths = create_run(tmp_path, "a", {"limit": float("inf")})
    assert json.loads(paths.config.read_text())["config"] == {"limit": None}
