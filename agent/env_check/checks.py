"""The checks: each looks at random play and says in one line what is so, or what is wrong and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agent.env_check.finding import Finding, found
from agent.env_check.observed import first_fault, of_other_type, outside
from agent.env_check.plays import Play
from agent.envs.base import EnvSpec
from agent.nets.encoders import part_for
from agent.nets.images import Eye

_ENCODERS = {
    "OneHot": "one-hot",
    "Bits": "as it is",
    "Embedded": "embedded",
    "Scaled": "scaled to [-1, 1]",
    "Normalised": "normalised by running statistics",
    "Image": "image, convolutional network",
}
_EYE = Eye("impala", (4,))  # any will do: only which entries are images is asked
_NAMED_GAMES = 8  # names that are listed


def encoders(spec: EnvSpec) -> Iterator[Finding]:
    """One line for each entry of the observation: what the agent's networks make of it."""
    assert isinstance(spec.observation_space, spaces.Dict), spec.observation_space
    for name, space in spec.observation_space.items():
        kind = _ENCODERS[type(part_for(space, 1, 1, _EYE)).__name__]
        shape = " x ".join(map(str, space.shape or (1,)))
        yield Finding(f"sees {name}", True, f"{shape} {space.dtype}, {kind}")


def actions(spec: EnvSpec) -> Finding:
    """What the agent can do."""
    match spec.action_space:
        case spaces.Discrete(n=n):
            return Finding("acts", True, f"a choice of {n}")
        case spaces.MultiBinary(n=n):
            return Finding("acts", True, f"{n} switches")
    return Finding("acts", True, f"{math.prod(spec.action_space.shape or ())} numbers within bounds")


def runs(plays: Sequence[Play]) -> Finding:
    """Whether resets and steps work at all."""
    problem = next((f"{play.error} ({play.where(len(play.actions))})" for play in plays if play.error), "")
    steps = sum(len(play.actions) for play in plays)
    return found("runs", problem, f"{steps:,} random steps in {len(plays)} attempts")


def inside(space: gymnasium.Space, plays: Sequence[Play]) -> Finding:
    """Whether every observation lies in the space that its author declared."""
    return found("inside its space", first_fault(space, plays, outside), "every observation")


def types(space: gymnasium.Space, plays: Sequence[Play]) -> Finding:
    """Whether observations have the dtype that their author declared."""
    return found("dtypes", first_fault(space, plays, of_other_type), "as declared")


def rewards(plays: Sequence[Play]) -> Finding:
    """Whether every reward is a finite number."""
    paid: list[float] = []
    for play in plays:
        for step, returned in enumerate(play.returned[1:], 1):
            try:
                paid.append(float(returned.reward))
            except (TypeError, ValueError):
                paid.append(math.nan)
            if not math.isfinite(paid[-1]):
                return Finding("rewards", False, f"one is {returned.reward!r} ({play.where(step)}); pay a number")
    seldom = ": nothing was paid, random play learns nothing from that" if paid and not any(paid) else ""
    return Finding("rewards", True, f"{min(paid):g} to {max(paid):g}{seldom}" if paid else "none seen")


def ends(spec: EnvSpec, plays: Sequence[Play]) -> Finding:
    """Whether ends are told by truth values and come within the time limit."""
    problem = ""
    for play in plays:
        for step, returned in enumerate(play.returned[1:], 1):
            wrong = [
                f"{name} is {value!r}, not true or false"
                for name, value in (("terminated", returned.terminated), ("truncated", returned.truncated))
                if not isinstance(value, bool | np.bool_)
            ]
            problem = problem or (f"{wrong[0]} ({play.where(step)})" if wrong else "")
        if len(play.actions) > spec.max_steps or (len(play.actions) == spec.max_steps and not play.ended):
            problem = problem or f"no end after max_steps ({spec.max_steps}); truncate there ({play.where(0)})"
    told = sum(play.ended for play in plays)
    return found("ends", problem, f"{told} of {len(plays)} attempts ended; time limit {spec.max_steps:,} steps")


def repeats(once: Play, again: Play) -> Iterator[Finding]:
    """Whether a seed means one world: the same first observation, and the same attempt by the same actions."""
    first = [same(a, b) for a, b in zip(_begins(once), _begins(again), strict=True)]
    advice = "draw everything from self.np_random after super().reset(seed=seed)"
    yield found("reset repeats", "" if all(first) else f"seed {once.seed} began in two ways: {advice}", "same begin")
    pairs = zip(once.returned, again.returned, strict=False)
    parted = next((t for t, (a, b) in enumerate(pairs) if not _same_step(a, b)), None)
    if parted is None and len(once.returned) != len(again.returned):
        parted = min(len(once.returned), len(again.returned))
    problem = "" if parted is None else f"the same actions parted at step {parted}: {advice}"
    yield found("play repeats", problem, f"{len(once.actions)} steps by the same actions")


def speed(plays: Sequence[Play]) -> Finding:
    """Steps a second of one environment, and what a reset takes."""
    steps, seconds = sum(len(p.actions) for p in plays), sum(p.step_seconds for p in plays)
    reset = float(np.median([p.reset_seconds for p in plays]))
    rate = steps / seconds if seconds else 0.0
    return Finding("speed", True, f"{rate:,.0f} steps/s, a reset takes {1000 * reset:.1f} ms")


def games(spec: EnvSpec, plays: Sequence[Play]) -> Finding:
    """Which games there are, and whether those that were tried began."""
    names = [game.name + (" (held out)" if game.held_out else "") for game in spec.games]
    if not names:
        return Finding("games", True, "one")
    failed = next((p for p in plays if p.error), None)
    listed = ", ".join(names[:_NAMED_GAMES]) + (", ..." if len(names) > _NAMED_GAMES else "")
    problem = f"{failed.game} does not play: {failed.error}" if failed else ""
    return found("games", problem, f"{len(names)}, of which {len(plays)} were tried: {listed}")


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, however they are nested."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    one, other = np.asarray(one), np.asarray(other)
    return np.array_equal(one, other, equal_nan=one.dtype.kind == other.dtype.kind == "f")


def _same_step(one: Any, other: Any) -> bool:
    return same(one.observation, other.observation) and same(one[2:], other[2:])


def _begins(play: Play) -> list[Any]:
    return [play.returned[0].observation] if play.returned else [None]
