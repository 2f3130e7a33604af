"""Return and success game by game, by hand: no game may decide what is said of all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gymnasium import spaces

from agent.envs.base import EnvSpec, Game
from agent.game_tallies import LEAST, Outcome, RecentGames, game_values
from agent.tallies import RecentRollouts, rollout_metrics
from store.trajectory import Trajectory, TrajectoryInfo

COINS = Game("coins", low=0.0, high=8.0)
GOLD = Game("gold", low=100.0, high=300.0, scale=0.01)
SILVER = Game("silver", held_out=True, low=0.0, high=80.0)
MANY = tuple(Game(f"game {i}") for i in range(40))  # windows of LEAST rollouts
SPEC = EnvSpec("games", spaces.Dict({"x": spaces.Discrete(2)}), spaces.Discrete(2), 4, 0, "", None, (COINS, GOLD))


def filled(games: tuple[Game, ...], **returns: float) -> RecentGames:
    """Windows full of these returns, as paid."""
    recent = RecentGames(games)
    for name, paid in returns.items():
        for _ in range(200):
            recent.add(Outcome(name.replace("_", " "), paid, None))
    return recent


def rollout(game: str, first: float, last: float) -> Trajectory:
    """Two attempts of one step each, with these returns."""
    return Trajectory(
        observations={"x": np.zeros(3, np.int64)},
        actions=np.zeros(2, np.int64),
        rewards=np.array([first, last], np.float32),
        terminated=np.array([False, True]),
        truncated=np.zeros(2, bool),
        is_first=np.array([True, True, False]),
        progress=np.zeros(3, np.uint8),
        instruction=np.zeros(0, np.int16),
        events=np.zeros((0, 2), np.int32),
        info=TrajectoryInfo(
            environment="games",
            seed=2,
            actor=0,
            split="train",
            cause="ended",
            wanted=False,
            policy_update=0,
            step=0,
            epsilon=0.0,
            game=game,
        ),
    )


def test_values_by_hand() -> None:
    """Gold pays a hundredth: 2 paid are 200, halfway from 100 to 300; coins are at 2 and 6, 4 of 8 on average."""
    outcomes = [Outcome("coins", 2.0, None), Outcome("gold", 2.0, True), Outcome("coins", 6.0, None)]
    assert game_values(outcomes, (COINS, GOLD, SILVER)) == {
        "game/coins/return": [2.0, 6.0],
        "game/coins/success": [],
        "game/gold/return": [200.0],
        "game/gold/success": [True],
        "normalised": [0.5, 0.5],
    }


def test_metrics_are_of_last_attempts_and_only_of_environments_with_games() -> None:
    played = [rollout("coins", 8.0, 2.0), rollout("coins", 0.0, 4.0), rollout("gold", 0.0, 3.0)]
    metrics = rollout_metrics(played, SPEC)
    assert metrics["rollout/game/coins/return"] == 3.0 and metrics["rollout/game/gold/return"] == pytest.approx(300)
    assert metrics["rollout/normalised"] == pytest.approx((3 / 8 + 1) / 2)
    assert metrics["rollout/return"] == pytest.approx((10 + 4 + 3) / 3)
    assert not any("success" in key for key in metrics)
    alone = rollout_metrics([rollout("", 8.0, 2.0)], replace(SPEC, games=()))
    assert not any("game" in key or "normalised" in key for key in alone)


def test_the_score_is_the_mean_of_normalised_returns() -> None:
    recent = filled((COINS, GOLD, SILVER), coins=2.0, gold=3.0)
    assert recent.score == recent.normalised == pytest.approx((0.25 + 1.0) / 2)


def test_without_a_scale_the_score_is_the_mean_success() -> None:
    recent = RecentGames((Game("a"), Game("b")))
    for i in range(200):
        recent.add(Outcome("a", 500.0, i % 2 == 0))
        recent.add(Outcome("b", 0.1, True))
    assert recent.score == pytest.approx(0.75) and recent.normalised is None


def test_a_game_with_large_returns_does_not_decide_alone() -> None:
    """b doubles, a loses a hundredth of what is a thousand times as much: better on the whole, though means fall."""
    games = (Game("a"), Game("b"))
    before, after = filled(games, a=1000.0, b=1.0), filled(games, a=990.0, b=2.0)
    assert before.score == pytest.approx((np.log(1001) + np.log(2)) / 2)
    assert after.score is not None and before.score is not None and after.score > before.score
    assert filled(games, a=-1.0, b=1.0).score == 0.0


def test_there_is_no_score_before_every_game_has_a_full_window() -> None:
    recent = filled(MANY, **{game.name.replace(" ", "_"): 1.0 for game in MANY[1:]})
    for played in range(LEAST):
        assert recent.score is None, played
        recent.add(Outcome("game 0", 1.0, None))
    assert recent.score == pytest.approx(np.log(2))


def test_games_that_are_not_trained_do_not_count() -> None:
    recent = filled((COINS, SILVER), coins=4.0, silver=80.0, chess=5.0)
    assert recent.score == 0.5


def test_what_is_restored_goes_on_alike() -> None:
    recent, again = RecentRollouts((), SPEC), RecentRollouts((), SPEC)
    for i in range(150):
        recent.add(rollout("coins", 0.0, float(i % 3)))
        recent.add(rollout("gold", 0.0, 2.0))
    again.restore(recent.snapshot())
    assert again.score == recent.score is not None
    assert again.snapshot() == recent.snapshot()


def test_checkpoints_from_before_there_were_games_are_restored() -> None:
    old = RecentRollouts((), replace(SPEC, games=())).snapshot()
    del old["games"]
    recent = RecentRollouts((), SPEC)
    recent.restore(old)
    assert recent.score is None and recent.normalised is None
