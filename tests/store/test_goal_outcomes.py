"""Turns of goals, counted by hand from what an index tells."""

from dataclasses import replace

import numpy as np

from store.goal_outcomes import goal_outcomes
from store.rollouts import RolloutReader, RolloutWriter


def outcomes(paths, trajectories):
    writer = RolloutWriter(paths, "train", spec={})
    for trajectory in trajectories:
        writer.append(trajectory)
    writer.close()
    found = goal_outcomes(RolloutReader(paths.rollouts("train")).index())
    columns = (found.trajectory, found.goal, found.reached, found.step)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def rollout(make, instruction, progress, cause="time limit", step=0):
    """Finishes `progress` goals of `instruction`, one a step."""
    base = make(5)
    return replace(
        base,
        instruction=np.array(instruction, np.int16),
        progress=np.minimum(np.arange(6), progress).astype(np.uint8),
        info=replace(base.info, cause=cause, step=step),
    )


def test_a_row_for_every_goal_whose_turn_came(paths, make):
    trajectories = [
        rollout(make, [4, 9, 2], 1, step=10),
        rollout(make, [7, 7], 2, cause="completed", step=20),
        rollout(make, [5, 6], 0, cause="death by zombie", step=30),
    ]
    assert outcomes(paths, trajectories) == [
        (0, 4, True, 10),
        (0, 9, False, 10),  # its turn came; the turn of 2 did not
        (1, 7, True, 20),
        (1, 7, True, 20),
        (2, 5, False, 30),
    ]


def test_a_turn_cut_short_by_a_lost_worker_is_left_out(paths, make):
    lost = rollout(make, [4, 9], 1, cause="worker lost", step=10)
    assert outcomes(paths, [lost]) == [(0, 4, True, 10)]


def test_rollouts_without_instruction_have_no_turns(paths, make):
    free = rollout(make, [], 0)
    assert outcomes(paths, [free, rollout(make, [3], 1, step=7), free]) == [(1, 3, True, 7)]


def test_without_rollouts_there_is_nothing(paths):
    assert outcomes(paths, []) == []
