"""Runs that come with the package are copied when they are first asked for."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from store import shipped
from store.errors import AmagoError, StorageError
from store.runs import create_run, list_runs, open_run, read_config


@pytest.fixture(autouse=True)
def package(tmp_path, monkeypatch):
    folder = tmp_path / "package"
    create_run(folder, "crafter-tiny", {"size": 1})
    monkeypatch.setattr(shipped, "_SHIPPED", folder)
    return folder


def test_a_shipped_run_is_copied_once(tmp_path, package):
    runs = tmp_path / "my runs"
    paths = open_run(runs, "crafter-tiny")
    assert paths.root == runs / "crafter-tiny"
    assert read_config(paths)["config"] == {"size": 1}
    (paths.root / "notes.md").write_text("mine")
    assert open_run(runs, "crafter-tiny") == paths and (paths.root / "notes.md").read_text() == "mine"
    assert sorted(path.name for path in (package / "crafter-tiny").iterdir()) == ["config.json"]


def test_of_many_that_ask_at_once_all_get_it(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: open_run(tmp_path, "crafter-tiny"), range(16)))
    assert all(read_config(paths)["config"] == {"size": 1} for paths in found)
    assert [summary.name for summary in list_runs(tmp_path)] == ["crafter-tiny"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crafter-tiny", "package"]


def test_nothing_is_copied_for_a_name_that_only_comes_near(tmp_path):
    with pytest.raises(AmagoError, match="did you mean crafter-tiny"):
        open_run(tmp_path / "runs", "crafter-tinny")
    assert not (tmp_path / "runs").exists()


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        open_run(tmp_path / "file" / "runs", "crafter-tiny")
