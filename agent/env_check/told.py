"""Checks of what an environment tells beside its observations: its info, and which actions are legal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from gymnasium import spaces

from agent.env_check.finding import Finding
from agent.env_check.plays import Play
from agent.envs.base import EnvSpec
from agent.envs.gym_spaces import ACTION_MASK
from agent.envs.shared import MAX_ACHIEVED
from agent.goals.vocabularies import vocabulary
from store.trajectory import CUT_SHORT, MAX_TEXT_BYTES


def info(spec: EnvSpec, plays: Sequence[Play]) -> Finding:
    """Whether what an environment of our conventions tells in its info can be kept."""
    for play in plays:
        for step, returned in enumerate(play.returned):
            over = bool(returned.terminated or returned.truncated)
            if problem := _wrong_info(spec, returned.info, over):
                return Finding("info", False, f"{problem} ({play.where(step)})")
    causes = sorted({str(p.returned[-1].info.get("cause") or "") for p in plays if p.ended} - {""})
    return Finding("info", True, f"causes of ends: {', '.join(causes)}" if causes else "tells no cause of an end")


def masks(spec: EnvSpec, plays: Sequence[Play]) -> Finding:
    """Whether at every step some action is legal."""
    assert isinstance(spec.observation_space, spaces.Dict), spec.observation_space
    if ACTION_MASK not in spec.observation_space.spaces:
        return Finding("action mask", True, "none: every action is always legal")
    for play in plays:
        for step, returned in enumerate(play.returned):
            told = _mask(returned.observation, returned.info)
            if told is not None and not np.any(told) and not (returned.terminated or returned.truncated):
                return Finding("action mask", False, f"no action is legal ({play.where(step)}); end the attempt there")
    shares = [float(np.mean(seen[ACTION_MASK])) for seen in chain.from_iterable(p.seen for p in plays)]
    return Finding("action mask", True, f"{np.mean(shares):.0%} of the actions are legal on average")


def _mask(observation: Any, told: Any) -> Any:
    """The mask as the author gave it, in the observation or else in the info."""
    if isinstance(observation, dict) and ACTION_MASK in observation:
        return observation[ACTION_MASK]
    return told.get(ACTION_MASK)


def _wrong_info(spec: EnvSpec, told: Any, over: bool) -> str:
    if not isinstance(told, dict):
        return f"info is {told!r}; return a dict"
    cause, achieved, progress = told.get("cause", ""), told.get("achieved", ()), told.get("progress", 0)
    if not isinstance(cause, str):
        return f"cause is {cause!r}; say it in words"
    if len(cause.encode()) > MAX_TEXT_BYTES:
        return f"cause is {len(cause.encode())} bytes long, {MAX_TEXT_BYTES} are kept; shorten '{cause[:24]} ...'"
    if cause in CUT_SHORT:
        return f"cause is '{cause}', which means an end that the environment did not choose; call it otherwise"
    if not isinstance(told.get("is_first", False), bool | np.bool_):
        return f"is_first is {told['is_first']!r}, not true or false"
    if over and told.get("is_first"):
        return "is_first at an end: it marks a new attempt that begins without one"
    known, most = len(vocabulary(spec.vocabulary).names), spec.max_instruction
    if not all(_is_index(goal, known) for goal in achieved):
        return f"achieved is {achieved!r}: it takes ids below {known}, the number of goals that are known"
    if len(achieved) > MAX_ACHIEVED:
        return f"achieved holds {len(achieved)} goals; at most {MAX_ACHIEVED} can be reached by one step"
    if not _is_index(progress, most + 1):
        return f"progress is {progress!r}: it counts the finished subgoals of an instruction, here 0 to {most}"
    return ""


def _is_index(value: Any, count: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= int(value) < count
