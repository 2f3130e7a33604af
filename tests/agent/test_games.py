"""Evaluations of an environment of several games: who plays what how often, and what is found."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from games_env import GAMES, STEPS, WORTH, GamesEnv

import agent.evaluate
from agent import interim
from agent.config import Config, override
from agent.envs.base import EnvSpec
from agent.envs.trial import make_trial
from agent.evaluate import evaluate
from agent.presets import preset
from agent.progress import ignore
from store.trajectory import Trajectory

SPEC = EnvSpec.from_env(GamesEnv())


def config(**changes: object) -> Config:
    base = {"collect.actors": 3, "collect.workers": 0, "run.device": "cpu"}
    return override(preset("tiny"), {**base, **{key.replace("__", "."): value for key, value in changes.items()}})


def play(monkeypatch: pytest.MonkeyPatch, games: Sequence[str], episodes: int = 4) -> list[Trajectory]:
    """Two attempts at each world, by the random policy."""
    monkeypatch.setattr(agent.evaluate, "make_env", lambda config: lambda: make_trial(GamesEnv, 2, None))
    how = {"seed": 0, "device": "cpu", "greedy": False, "notify": ignore, "stop": threading.Event(), "games": games}
    return evaluate(None, config(), None, episodes=episodes, **how)  # type: ignore[arg-type]


def test_every_game_is_played_in_the_same_held_out_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    played = play(monkeypatch, ("gold", "silver"))
    assert [each.info.game for each in played] == ["gold"] * 4 + ["silver"] * 4
    worlds = [each.info.seed for each in played]
    assert worlds[:4] == worlds[4:] == sorted(worlds[:4]) and all(world % 2 for world in worlds)
    for each in played:
        name = each.info.game
        scale = {game.name: game.scale for game in GAMES}[name]
        worth = WORTH[name] * scale * (1 + each.info.seed // 2 % 2)
        assert len(each.attempts) == 2 and each.length == 2 * STEPS
        assert each.ret == pytest.approx(worth * int(each.actions.sum()), rel=1e-5)


def test_figures_in_the_middle_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are of last attempts, in each game's unit; the event tells the one that can be put together."""
    played = play(monkeypatch, ("coins", "gold"), episodes=2)
    figures = interim.summarise(played, SPEC)
    coins, gold = ([each.attempts[-1].ret for each in played if each.info.game == name] for name in ("coins", "gold"))
    metrics = figures.metrics()
    assert metrics["eval/game/coins/return"] == pytest.approx(sum(coins) / 2)
    assert metrics["eval/game/gold/return"] == pytest.approx(100 * sum(gold) / 2)
    assert metrics["eval/normalised"] == pytest.approx((sum(coins) / 16 + sum(gold) / 16) / 2)
    assert str(figures) == f"mean normalised return {metrics['eval/normalised']:.3g}"


@pytest.mark.parametrize(("wanted", "each"), [(20, 10), (5, 2), (1, 1)])
def test_trained_games_share_the_episodes_of_a_short_evaluation(
    monkeypatch: pytest.MonkeyPatch, wanted: int, each: int
) -> None:
    asked = SimpleNamespace()
    monkeypatch.setattr(interim, "read_meta", lambda path: {"environment": SPEC.to_json()})
    monkeypatch.setattr(interim, "evaluate", lambda *_, **how: vars(asked).update(how) or [])
    interim.play(Path("c"), config(run__evaluate_episodes=wanted), ignore, threading.Event())
    assert (asked.episodes, asked.games) == (each, ("coins", "gold"))
