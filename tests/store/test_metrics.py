"""Metrics can be read at any time, and a resumed run tells one story."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.layout import RunPaths
from store.metrics import MetricsWriter, read_metrics


def write(paths, resumed_from_step, steps, keys=("train/loss",), offset=0.0):
    writer = MetricsWriter(paths, resumed_from_step)
    for step in steps:
        writer.log(step, step // 10, dict.fromkeys(keys, step + offset))
    writer.close()


def test_what_is_logged_comes_back(paths):
    writer = MetricsWriter(paths, 0)
    writer.log(10, 1, {"train/loss": 0.5, "rollout/return": 2})
    writer.log(20, 2, {"train/loss": 0.25})
    writer.close()
    metrics = read_metrics(paths)
    assert list(metrics) == ["rollout/return", "train/loss"]
    loss = metrics["train/loss"]
    assert (loss.step.tolist(), loss.update.tolist(), loss.value.tolist()) == ([10, 20], [1, 2], [0.5, 0.25])
    assert len(loss) == 2 and loss.time[0] <= loss.time[1]


def test_values_that_are_not_finite_come_back(paths):
    writer = MetricsWriter(paths, 0)
    for step, value in enumerate([math.nan, math.inf, -math.inf, np.float32(1.5)]):
        writer.log(step, 0, {"train/loss": value})
    writer.close()
    np.testing.assert_array_equal(read_metrics(paths)["train/loss"].value, [math.nan, math.inf, -math.inf, 1.5])


def test_nothing_is_visible_before_the_flush_and_everything_after(paths):
    writer = MetricsWriter(paths, 0)
    assert read_metrics(paths) == {}
    writer.log(1, 0, {"a": 1})
    assert read_metrics(paths) == {}
    writer.flush()
    assert read_metrics(paths)["a"].value.tolist() == [1]
    writer.log(2, 0, {"b": 2})
    writer.flush()
    assert set(read_metrics(paths)) == {"a", "b"}
    writer.close()
    writer.close()


def test_many_names_and_rows_outgrow_their_chunks(paths):
    writer = MetricsWriter(paths, 0)
    keys = [f"eval/goal_{number}" for number in range(200)]
    for step in range(30):
        writer.log(step, 0, dict.fromkeys(keys[: 10 + 7 * step], step))
        writer.flush()
    writer.close()
    metrics = read_metrics(paths)
    assert len(metrics) == 200
    assert metrics["eval/goal_0"].step.tolist() == list(range(30))
    assert metrics["eval/goal_199"].step.tolist() == [28, 29]


def test_full_files_are_followed_by_new_ones(paths):
    writer = MetricsWriter(paths, 0)
    for step in range(250):
        writer.log(step, 0, {f"eval/{number}": number for number in range(180)})
        if step % 50 == 49:
            writer.flush()
            writer.log(step, 1, {"eval/0": -1})  # again at the step at which a file may have ended
    writer.close()
    assert len(list(paths.metrics_dir.iterdir())) == 3
    metrics = read_metrics(paths)
    assert all(metrics[f"eval/{number}"].step.tolist() == list(range(250)) for number in range(1, 180))
    assert len(metrics["eval/0"]) == 255
    write(paths, 99, [100, 101], keys=["eval/7"])
    assert read_metrics(paths)["eval/7"].step.tolist() == list(range(102))
    assert read_metrics(paths)["eval/7"].value[98:].tolist() == [7, 7, 100, 101]


def test_a_resumed_run_has_each_step_once(paths):
    write(paths, 0, [10, 20, 30, 40])
    write(paths, 20, [30, 40, 50], offset=0.5)
    loss = read_metrics(paths)["train/loss"]
    assert loss.step.tolist() == [10, 20, 30, 40, 50]
    assert loss.value.tolist() == [10, 20, 30.5, 40.5, 50.5]


def test_resuming_from_further_back_drops_from_all_older_files(paths):
    write(paths, 0, [10, 20, 30])
    write(paths, 30, [40, 50])
    write(paths, 10, [20], keys=("eval/success", "train/loss"))
    metrics = read_metrics(paths)
    assert metrics["train/loss"].step.tolist() == [10, 20]
    assert metrics["eval/success"].step.tolist() == [20]


def test_resuming_without_a_row_still_drops_what_never_happened(paths):
    write(paths, 0, [10, 20, 30])
    write(paths, 10, [])
    assert read_metrics(paths)["train/loss"].step.tolist() == [10]


def test_damaged_files_are_passed_over(paths):
    write(paths, 0, [10, 20])
    good = paths.metrics_file(1).read_bytes()
    paths.metrics_file(2).write_bytes(good[:700])
    paths.metrics_file(3).write_bytes(b"")
    write(paths, 20, [30])
    assert paths.metrics_file(4).exists()
    assert read_metrics(paths)["train/loss"].step.tolist() == [10, 20, 30]


def test_flipped_bytes_never_raise(paths):
    write(paths, 0, range(50))
    good = paths.metrics_file(1).read_bytes()
    used = len(good.rstrip(b"\0"))
    rng = np.random.default_rng(0)
    for _ in range(100):
        damaged = bytearray(good)
        damaged[rng.integers(0, used)] = rng.integers(0, 256)
        paths.metrics_file(1).write_bytes(damaged)
        assert len(read_metrics(paths)) <= 50


def test_a_run_without_metrics_has_none(tmp_path):
    assert read_metrics(RunPaths(tmp_path / "none")) == {}


@pytest.mark.parametrize("key", ["", "x" * 97])
def test_a_key_that_cannot_be_stored_is_a_bug(paths, key):
    writer = MetricsWriter(paths, 0)
    with pytest.raises(AssertionError):
        writer.log(0, 0, {key: 1.0})
    writer.close()


EPISODES = st.lists(
    st.tuples(st.integers(0, 20), st.lists(st.integers(1, 5), max_size=6), st.booleans()), min_size=1, max_size=4
)


@settings(max_examples=40, deadline=None)
@given(EPISODES)
def test_any_history_of_crashes_gives_a_single_valued_curve(tmp_path_factory, history):
    """Model: a resume forgets every step beyond it, then adds its own."""
    paths = RunPaths(tmp_path_factory.mktemp("run"))
    expected: dict[int, float] = {}
    for number, (resumed_from, gaps, other_key) in enumerate(history):
        steps = (resumed_from + np.cumsum(gaps, dtype=int)).tolist()
        write(paths, resumed_from, steps, keys=("z", "a") if other_key else ("a",), offset=number / 8)
        expected = {step: value for step, value in expected.items() if step <= resumed_from}
        expected |= {step: step + number / 8 for step in steps}
    metrics = read_metrics(paths)
    found = dict(zip(metrics["a"].step.tolist(), metrics["a"].value.tolist(), strict=True)) if metrics else {}
    assert found == expected
    assert not metrics or (np.diff(metrics["a"].step) > 0).all()
