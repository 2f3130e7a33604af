"""Small files are replaced whole, and JSON stays strict."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from store.atomic import read_json, to_json, write_bytes, write_json, write_text
from store.errors import StorageError


def test_json_round_trip(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"x": 1, "y": [1.5, "ü"], "z": None})
    assert read_json(path) == {"x": 1, "y": [1.5, "ü"], "z": None}


def test_values_that_are_not_finite_become_null(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"loss": math.nan, "nested": [math.inf, -math.inf, {"q": np.float32("nan")}]})
    strict = json.loads(path.read_text(), parse_constant=pytest.fail)
    assert strict == {"loss": None, "nested": [None, None, {"q": None}]}


def test_numpy_and_paths_become_plain_types():
    obj = {"i": np.int64(3), "b": np.bool_(True), "a": np.array([[1.0, np.inf]]), "p": Path("a/b"), 5: (1,)}
    assert to_json(obj) == {"i": 3, "b": True, "a": [[1.0, None]], "p": "a/b", "5": [1]}


def test_an_object_json_does_not_know_is_refused_and_the_old_file_stays(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, 1)
    with pytest.raises(TypeError):
        write_json(path, object())
    assert read_json(path) == 1


def test_replacing_leaves_no_temporary_file(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    write_bytes(path, b"new", durable=False)
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_damaged_json_is_named(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"a\.json is damaged"):
        read_json(path)


def test_missing_json_is_named(tmp_path):
    with pytest.raises(StorageError, match=r"cannot read .*a\.json: No such file"):
        read_json(tmp_path / "a.json")


def test_a_missing_directory_is_a_storage_error(tmp_path):
    with pytest.raises(StorageError, match="cannot write"):
        write_text(tmp_path / "none" / "a.txt", "x")
