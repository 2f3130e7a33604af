"""The maze runner: mazes against naive walks, rewards by hand, instructions that can be followed."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

import agent.envs.maze
from agent.envs.base import EnvSpec
from agent.envs.maze import MazeEnv
from agent.envs.maze_layout import maze_of, survey
from agent.envs.maze_places import PlaceSampler
from agent.goals.vocabularies import vocabulary

ROOT = Path(__file__).parents[3]
UP, RIGHT, DOWN, LEFT = range(4)
DIRECTIONS = [(0, -1), (1, 0), (0, 1), (-1, 0)]

sizes = st.integers(2, 10).map(lambda half: 2 * half + 1)
seeds = st.integers(0, 2**31 - 2)


def reachable(size: int, free: np.ndarray) -> set[tuple[int, int]]:
    """Cells (x, y) that can be walked to from the room in the corner."""
    grid, found, todo = free.reshape(size, size), {(1, 1)}, [(1, 1)]
    while todo:
        x, y = todo.pop()
        for dx, dy in DIRECTIONS:
            cell = (x + dx, y + dy)
            if grid[cell[1], cell[0]] and cell not in found:
                found.add(cell)
                todo.append(cell)
    return found


@given(sizes, seeds)
@settings(max_examples=50, deadline=None)
def test_every_free_cell_can_be_reached_and_walls_lie_between_rooms(size, seed):
    maze = maze_of(size, seed)
    grid = maze.free.reshape(size, size)
    assert grid[1::2, 1::2].all()
    assert not grid[::2, ::2].any()
    assert not grid[[0, -1]].any() and not grid[:, [0, -1]].any()
    assert len(reachable(size, maze.free)) == maze.free.sum()
    rooms = (size // 2) ** 2
    assert maze.free.sum() - rooms >= rooms - 1
    assert maze.free[maze.start]
    assert sorted([*maze.places.tolist(), maze.start]) == np.flatnonzero(maze.free).tolist()


@given(sizes, seeds)
@settings(max_examples=30, deadline=None)
def test_moves_and_sight_against_a_naive_walk(size, seed):
    maze = maze_of(size, seed)
    grid = maze.free.reshape(size, size)
    for cell in np.flatnonzero(maze.free).tolist():
        y, x = divmod(cell, size)
        for direction, (dx, dy) in enumerate(DIRECTIONS):
            seen = 0
            while grid[y + (seen + 1) * dy, x + (seen + 1) * dx]:
                seen += 1
            assert maze.sight[cell, direction] == seen <= size - 3
            assert maze.moves[cell][direction] == (cell + dx + size * dy if seen else cell)


def test_mazes_differ_and_some_places_have_two_ways():
    mazes = [maze_of(11, seed) for seed in range(100)]
    assert len({maze.free.tobytes() for maze in mazes}) == 100
    loops = [int(maze.free.sum()) - 25 - 24 for maze in mazes]  # 25 rooms, 24 openings connect them
    assert min(loops) == 0 and 1.0 < np.mean(loops) < 2.2  # a tenth of the other 16 walls
    assert {maze.start for maze in mazes} == {5 * 11 + 5}


HAND = """
#######
#...#.#
#.###.#
#.#...#
#.#.#.#
#.....#
#######
"""


@pytest.fixture
def hand_maze(monkeypatch):
    free = np.array([character == "." for character in HAND if character != "\n"])
    monkeypatch.setattr(agent.envs.maze, "maze_of", lambda size, seed: survey(free))


def walk(env: MazeEnv, actions: Sequence[int]) -> list[tuple[list[int], float, bool, bool, dict]]:
    steps = [env.step(action) for action in actions]
    return [(observation["position"].tolist(), *rest) for observation, *rest in steps]


@pytest.mark.usefixtures("hand_maze")
def test_a_walk_by_hand():
    env = MazeEnv(7, 3, max_steps=20)
    up, corner = 2 * 7 + 5, 5 * 7 + 1
    observation, info = env.reset(seed=0, options={"instruction": (up, corner)})
    assert observation["position"].tolist() == [3, 3]
    assert observation["sight"].tolist() == [0, 2, 2, 0]
    assert info == {"achieved": (), "progress": 0, "cause": ""}
    steps = walk(env, [LEFT, RIGHT, RIGHT, UP, DOWN, DOWN, DOWN, LEFT, LEFT, LEFT, LEFT])
    positions = [[3, 3], [4, 3], [5, 3], [5, 2], [5, 3], [5, 4], [5, 5], [4, 5], [3, 5], [2, 5], [1, 5]]
    assert [step[0] for step in steps] == positions
    assert [step[1] for step in steps] == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1]
    assert [step[2] for step in steps] == [False] * 10 + [True]
    assert not any(step[3] for step in steps)
    infos = [step[4] for step in steps]
    assert [info["achieved"] for info in infos] == [(7 * y + x,) for x, y in positions]
    assert [info["progress"] for info in infos] == [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2]
    assert [info["cause"] for info in infos] == [""] * 10 + ["completed"]


@pytest.mark.usefixtures("hand_maze")
def test_only_the_active_goal_pays_and_one_step_finishes_at_most_one():
    env = MazeEnv(7, 3, max_steps=20)
    right = 3 * 7 + 4
    env.reset(seed=0, options={"instruction": (right, right, 5 * 7 + 3)})
    steps = walk(env, [DOWN, DOWN, UP, UP, RIGHT, LEFT, RIGHT])  # over the last goal first: too early
    assert [step[1] for step in steps] == [0, 0, 0, 0, 1, 0, 1]


@pytest.mark.usefixtures("hand_maze")
def test_the_time_limit():
    env = MazeEnv(7, 3, max_steps=3)
    for instruction in ((), (8,)):
        env.reset(seed=0, options={"instruction": instruction})
        *before, last = walk(env, [RIGHT, LEFT, RIGHT])
        assert not any(step[2] or step[3] for step in before)
        assert last[1:4] == (0.0, False, True) and last[4]["cause"] == "time limit"
    env.reset(seed=0, options={"instruction": (3 * 7 + 5,)})
    assert walk(env, [UP, RIGHT, RIGHT])[-1][2:4] == (True, False)  # done with the last step: no time limit


def test_gymnasium_finds_nothing_wrong():
    env = MazeEnv(5, 2, max_steps=30)
    check_env(env, skip_render_check=True)
    spec = EnvSpec.from_env(env)
    assert EnvSpec.from_json(spec.to_json()) == spec
    assert (spec.max_instruction, spec.vocabulary, spec.success_return) == (2, "cells 5", None)
    assert vocabulary(spec.vocabulary).no_goal == 25


@pytest.mark.parametrize("size", [5, 7, 9, 11, 21, 63])
def test_observations_lie_in_their_space(size):
    env = MazeEnv(size, 1, max_steps=300)
    rng = np.random.default_rng(size)
    observation, _ = env.reset(seed=size)
    for _ in range(300):
        assert env.observation_space.contains(observation)
        observation, *_ = env.step(rng.integers(4))


@given(sizes, seeds, st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_instructions_are_different_reachable_places(size, seed, max_length):
    instruction, wanted = PlaceSampler(size, max_length).sample(np.random.default_rng(seed), seed)
    maze = maze_of(size, seed)
    cells = reachable(size, maze.free)
    assert not wanted and 1 <= len(instruction) <= max_length
    assert len(set(instruction)) == len(instruction) and maze.start not in instruction
    assert all(divmod(goal, size)[::-1] in cells for goal in instruction)
    MazeEnv(size, max_length, 10).reset(seed=seed, options={"instruction": instruction})


def test_lengths_and_places_of_instructions_are_uniform():
    sampler, rng, seed = PlaceSampler(5, 3), np.random.default_rng(0), 6
    samples = [sampler.sample(rng, seed)[0] for _ in range(3000)]
    lengths = np.bincount([len(instruction) for instruction in samples])[1:]
    assert (abs(lengths / 3000 - 1 / 3) < 0.04).all()
    places = np.bincount([instruction[0] for instruction in samples])
    places = places[places > 0] / 3000
    assert len(places) == len(maze_of(5, seed).places)
    assert (abs(places - 1 / len(places)) < 0.04).all()


PROGRAM = """
import numpy as np
from agent.envs.maze_layout import maze_of
from agent.envs.maze_places import PlaceSampler
for seed in (4, 7, 4):
    maze = maze_of(11, seed)
    print(maze.free.tobytes().hex(), maze.sight.tobytes().hex(), maze.moves)
    print(PlaceSampler(11, 3).sample(np.random.default_rng(seed), seed))
"""


def test_worlds_are_the_same_in_every_process(capsys):
    command = [sys.executable, "-c", PROGRAM]
    elsewhere = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    exec(PROGRAM)
    assert capsys.readouterr().out == elsewhere


def test_every_attempt_has_the_same_maze():
    env = MazeEnv(11, 3, 60)
    first, _ = env.reset(seed=4, options={"attempt": 0})
    env.step(UP), env.step(RIGHT)
    other, _ = env.reset(seed=4, options={"attempt": 1})
    assert first["sight"].tolist() == other["sight"].tolist()
