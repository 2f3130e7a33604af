"""Tasks of training and of evaluation: worlds, seeds, counters."""

from dataclasses import replace

import numpy as np
import pytest

from agent.config import Config, override
from agent.envs.base import EnvSpec, Game
from agent.envs.maze import MazeEnv
from agent.envs.maze_layout import maze_of
from agent.envs.maze_places import PlaceSampler
from agent.goals.sampling import TECH_TREE, InstructionSampler
from agent.goals.vocabulary import goal_id
from agent.tasks import EvaluationTasks, TrainingTasks, make_sampler, trained_games

WANTED = (goal_id("collect wood"), goal_id("place table"))


def training(seed: int = 0, actors: int = 3, tech_tree_share: float = 0.5) -> TrainingTasks:
    return TrainingTasks(InstructionSampler(WANTED, 0.5, tech_tree_share, curriculum_share=0.5), seed, actors)


def drawn(tasks: TrainingTasks, actor: int, count: int) -> list:
    assignments = [tasks(actor) for _ in range(count)]
    assert all(assignment is not None for assignment in assignments)
    return assignments


def test_training_tasks_depend_on_seed_actor_and_count_alone():
    one, other = training(), training()
    first = [drawn(one, actor, 5) for actor in range(3)]
    again = [drawn(other, actor, 5) for actor in (2, 1, 0)][::-1]
    assert first == again
    assert drawn(training(seed=1), 0, 5) != first[0]
    everything = [assignment for row in first for assignment in row]
    assert len({assignment.seed for assignment in everything}) == 15
    assert len({assignment.task.seed for assignment in everything}) == 15


def test_training_worlds_are_even_and_a_share_is_wanted():
    tasks = [assignment.task for assignment in drawn(training(), 0, 300)]
    assert all(task.seed % 2 == 0 and task.split == "train" for task in tasks)
    assert all((task.instruction == WANTED) >= task.wanted for task in tasks)
    assert 100 < sum(task.wanted for task in tasks) < 200


def test_without_instructions():
    assignment = TrainingTasks(None, 0, 1)(0)
    assert assignment is not None
    assert assignment.task.instruction == () and not assignment.task.wanted


def test_training_tasks_go_on_where_they_were():
    old = training(tech_tree_share=1.0)
    drawn(old, 0, 3), drawn(old, 2, 5)
    old.observe(WANTED, 1, [TECH_TREE[0], TECH_TREE[4], goal_id("eat cow")])
    new = training(tech_tree_share=1.0)
    new.restore(old.snapshot())
    for actor in range(3):
        assert drawn(new, actor, 20) == drawn(old, actor, 20)


def test_a_snapshot_does_not_change_afterwards():
    """It may wait for its way to another process while the tasks go on."""
    tasks = training()
    drawn(tasks, 0, 2)
    snapshot = tasks.snapshot()
    drawn(tasks, 0, 1)
    assert snapshot["begun"] == [2, 0, 0]


def test_a_resumed_run_may_have_other_actors():
    old = training(actors=3)
    drawn(old, 0, 4)
    more, fewer = training(actors=5), training(actors=1)
    more.restore(old.snapshot())
    fewer.restore(old.snapshot())
    following = drawn(old, 0, 1)
    assert drawn(more, 0, 1) == drawn(fewer, 0, 1) == following
    assert drawn(more, 4, 1) == drawn(training(actors=5), 4, 1)


@pytest.mark.parametrize("order", [[0] * 12, [0, 1, 2] * 4])
def test_evaluation_plays_every_instruction_on_the_same_held_out_worlds(order):
    instructions = [(1,), (2, 3), (4,)]
    tasks = EvaluationTasks(instructions, episodes=4, seed=7)
    assignments = [tasks(actor) for actor in order]
    assert tasks(0) is None and tasks(1) is None
    worlds: dict[tuple[int, ...], list[int]] = {}
    for assignment in assignments:
        assert assignment is not None
        assert assignment.task.seed % 2 == 1 and assignment.task.split == "eval"
        worlds.setdefault(assignment.task.instruction, []).append(assignment.task.seed)
    assert list(worlds) == instructions
    assert worlds[(1,)] == worlds[(2, 3)] == worlds[(4,)]
    assert len(set(worlds[(1,)])) == 4
    assert len({assignment.seed for assignment in assignments if assignment}) == 12


def test_evaluations_differ_by_seed_only():
    def worlds(seed: int, episodes: int) -> list[int]:
        tasks = EvaluationTasks([(1,)], episodes, seed)
        return [assignment.task.seed for _ in range(episodes) if (assignment := tasks(0))]

    assert worlds(0, 5) == worlds(0, 5)
    assert worlds(0, 8)[:5] == worlds(0, 5)
    assert set(worlds(0, 5)).isdisjoint(worlds(1, 5))


GAMES = (Game("chess"), Game("go", held_out=True), Game("shogi"))


def test_games_are_drawn_evenly_among_those_that_are_trained():
    tasks = TrainingTasks(None, 0, 2, trained_games(GAMES))
    names = [assignment.task.game for actor in range(2) for assignment in drawn(tasks, actor, 200)]
    assert set(names) == {"chess", "shogi"} and 160 < names.count("chess") < 240
    again = TrainingTasks(None, 0, 2, trained_games(GAMES))
    again.restore(tasks.snapshot())
    assert drawn(again, 1, 3) == drawn(tasks, 1, 3)


def test_games_do_not_change_the_worlds():
    plain = [assignment.task.seed for assignment in drawn(TrainingTasks(None, 0, 1), 0, 5)]
    assert [assignment.task.seed for assignment in drawn(TrainingTasks(None, 0, 1, ("a", "b")), 0, 5)] == plain


def test_every_game_is_evaluated_on_the_same_held_out_worlds():
    tasks = EvaluationTasks(None, 3, 7, games=[game.name for game in GAMES])
    assert len(tasks) == 9
    played = [assignment for _ in range(9) if (assignment := tasks(0))]
    assert tasks(0) is None and len(tasks) == 0
    worlds = {name: [each.task.seed for each in played if each.task.game == name] for name in ("chess", "go", "shogi")}
    assert worlds["chess"] == worlds["go"] == worlds["shogi"] and len(set(worlds["go"])) == 3
    assert all(each.task.seed % 2 and each.task.split == "eval" for each in played)
    assert len({each.seed for each in played}) == 9


MAZE = EnvSpec.from_env(MazeEnv(7, 2, 40))


def test_the_sampler_is_that_of_the_vocabulary():
    config = override(Config(), {"task.goals": "eat cow", "task.wanted_share": 1.0})
    crafter = make_sampler(config, replace(MAZE, vocabulary="crafter", max_instruction=5))
    assert crafter and crafter.sample(np.random.default_rng(0), 0) == ((goal_id("eat cow"),), True)
    assert make_sampler(config, replace(MAZE, vocabulary="", max_instruction=0)) is None
    with pytest.raises(ValueError, match="'birds'"):
        make_sampler(config, replace(MAZE, vocabulary="birds"))


@pytest.mark.parametrize(("max_length", "lengths"), [(5, {1, 2}), (1, {1})])
def test_instructions_of_a_maze_are_places_of_the_world_that_is_played(max_length, lengths):
    sampler = make_sampler(override(Config(), {"task.max_length": max_length}), MAZE)
    tasks = TrainingTasks(sampler, 0, 1)
    drawn_tasks = [assignment.task for assignment in drawn(tasks, 0, 50)]
    for task in drawn_tasks:
        assert task.seed % 2 == 0 and not task.wanted
        assert set(task.instruction) <= set(maze_of(7, task.seed).places.tolist())
    assert {len(task.instruction) for task in drawn_tasks} == lengths
    again = TrainingTasks(PlaceSampler(7, min(2, max_length)), 0, 1)
    again.restore(tasks.snapshot())
    assert drawn(again, 0, 3) == drawn(tasks, 0, 3)


def test_evaluations_without_instructions_draw_one_for_each_world():
    def tasks(episodes: int) -> list:
        source = EvaluationTasks(None, episodes, 7, PlaceSampler(7, 3))
        assignments = [source(0) for _ in range(episodes)]
        assert source(0) is None
        return [assignment.task for assignment in assignments if assignment]

    assert tasks(8)[:5] == tasks(5)
    assert [task.seed for task in tasks(5)] == [task.seed for task in evaluation_tasks([(1,)], 5)]
    for task in tasks(8):
        assert task.seed % 2 == 1 and task.split == "eval"
        assert task.instruction and set(task.instruction) <= set(maze_of(7, task.seed).places.tolist())


def test_evaluations_of_environments_without_goals():
    tasks = evaluation_tasks(None, 5)
    assert [task.instruction for task in tasks] == [()] * 5
    assert [task.seed for task in tasks] == [task.seed for task in evaluation_tasks([(1,)], 5)]


def evaluation_tasks(instructions: list[tuple[int, ...]] | None, episodes: int) -> list:
    source = EvaluationTasks(instructions, episodes, 7)
    return [assignment.task for _ in range(episodes) if (assignment := source(0))]
