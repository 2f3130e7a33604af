"""The only reader of the store: names, damage, freshness, notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard import queries
from dashboard.rollout_queries import words
from dashboard.run_queries import MAX_NOTES_BYTES
from store.errors import AmagoError, StorageError
from store.layout import RunPaths
from store.metrics import MetricsWriter

RUN = "calm-otter-1"


@pytest.mark.parametrize("name", ["..", ".", "/etc", "../runs/calm-otter-1", "", "calm-otter-9", "a\0b"])
def test_only_what_the_list_shows_can_be_opened(runs: Path, name: str) -> None:
    with pytest.raises(AmagoError, match="there is no run"):
        queries.open_named(name)


def test_a_mistyped_name_is_answered_with_near_ones(runs: Path) -> None:
    with pytest.raises(AmagoError, match="did you mean calm-otter-"):
        queries.open_named("calm-oter-1")


def test_the_table_has_a_row_per_rollout_with_its_words(runs: Path) -> None:
    table = queries.rollout_table(RUN, "train")
    assert table.number.tolist() == list(range(1, 10))
    assert table.instruction.tolist()[:2] == ["collect sapling, place plant", "wake up"]
    assert set(table.split) == {"train"}
    assert (table.completed == (table.progress == table.num_subgoals)).all()


def test_a_trajectory_comes_by_number(runs: Path) -> None:
    table = queries.rollout_table(RUN, "eval")
    for number, length, seed in zip(table.number, table.length, table.seed, strict=True):
        found = queries.trajectory(RUN, "eval", int(number))
        assert (found.length, found.info.seed) == (length, seed)
    assert queries.spec(RUN, "eval", 1)["vocabulary"] == "crafter"
    with pytest.raises(AmagoError, match="has no eval rollout 99; it has 8"):
        queries.trajectory(RUN, "eval", 99)


def test_goals_are_counted_once_their_turn_came(runs: Path) -> None:
    table, rollouts = queries.goal_table(RUN, "train"), queries.rollout_table(RUN, "train")
    assert int(table.reached.sum()) == int(rollouts.progress.sum())
    assert len(table) == int((rollouts.progress + ~rollouts.completed).sum())
    assert set(table.words) <= {"collect sapling", "place plant", "wake up", "collect wood", "make stone pickaxe"}


def test_places_are_those_where_the_player_stood(runs: Path) -> None:
    places = queries.place_table(RUN, "train")
    ends = places[places.event == "end"].set_index("number")
    for number in ends.index:
        trajectory = queries.trajectory(RUN, "train", int(number))
        assert [ends.x[number], ends.y[number]] == trajectory.observations["position"][-1].tolist()


def test_new_rows_of_a_running_run_are_seen(runs: Path) -> None:
    before = len(queries.metrics(RUN)["rollout/return"])
    writer = MetricsWriter(RunPaths(runs / RUN), 6000)
    writer.log(7000, 700, {"rollout/return": 2.5})
    writer.flush()
    assert len(queries.metrics(RUN)["rollout/return"]) == before + 1
    assert queries.newest_metrics(RUN)["rollout/return"] == 2.5


def test_damaged_files_are_named_and_the_rest_is_shown(runs: Path) -> None:
    paths = RunPaths(runs / RUN)
    paths.shard("train", 1).write_bytes(b"\x89HDF torn")
    (paths.reports / "eval-torn.json").write_text('{"agent": ')
    assert 0 < len(queries.rollout_table(RUN, "train")) < 9
    assert len(queries.reports(RUN)) == 1
    found = "\n".join(queries.problems(RUN))
    assert "000001.h5" in found and "eval-torn.json" in found


def test_reports_carry_their_file_name(runs: Path) -> None:
    assert [each["file"] for each in queries.reports(RUN)] == ["eval-1000-goals-20260101-000000.json"]


def test_events_are_read(runs: Path) -> None:
    assert [each.kind for each in queries.events(RUN)] == ["start", "achievement", "end"]


def test_notes_are_kept_beside_the_run(runs: Path) -> None:
    assert queries.notes(RUN) == ""
    queries.save_notes(RUN, "größer *is* better")
    assert queries.notes(RUN) == "größer *is* better"
    assert (runs / RUN / "notes.md").read_text("utf-8") == "größer *is* better"
    with pytest.raises(AmagoError, match="256 kB"):
        queries.save_notes(RUN, "x" * (MAX_NOTES_BYTES + 1))


def test_a_configuration_of_another_version_is_an_error_of_one_line(runs: Path) -> None:
    path = RunPaths(runs / RUN).config
    path.write_text(path.read_text("utf-8").replace('"schema_version": ', '"schema_version": 9'), "utf-8")
    with pytest.raises(StorageError, match="schema version"):
        queries.config(RUN)


def test_rollouts_of_unknown_goals_are_shown_by_number() -> None:
    assert words("", (3, 7)) == "goal 3, goal 7"
    assert words("crafter", (999,)) == "goal 999"
    assert words("crafter", ()) == ""
