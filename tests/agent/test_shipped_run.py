"""The run that comes with the package: sound, readable by this version, and better than chance."""

from __future__ import annotations

import pytest

from agent.checkpoint import load_model, newest
from agent.envs.base import EnvSpec
from store.rollouts import RolloutReader
from store.runs import open_run
from store.shipped import shipped_names
from store.verify import verify


@pytest.fixture(params=shipped_names())
def paths(request, tmp_path):
    return open_run(tmp_path, request.param)


def test_there_is_one():
    assert shipped_names() == ["crafter-small"]


def test_its_files_are_sound(paths):
    assert list(verify(paths)) == []


def test_its_checkpoint_is_an_agent_for_its_environment(paths):
    path, problems = newest(paths)
    assert path is not None and not problems
    reader = RolloutReader(paths.rollouts("eval"))
    model, config = load_model(path, EnvSpec.from_json(reader.spec(len(reader.index()) - 1)))
    assert config.env.name == "crafter" and sum(weights.numel() for weights in model.parameters()) > 100_000


def test_its_stored_evaluation_wins_more_often_than_chance(paths):
    played = [trajectory for trajectory in RolloutReader(paths.rollouts("eval")) if len(trajectory.instruction) == 1]
    assert len(played) > 100
    assert sum(trajectory.completed for trajectory in played) / len(played) > 0.4
