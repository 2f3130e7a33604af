import numpy as np
import pytest
from fake_engine import Moment, ScriptedEngine
from gymnasium.utils.env_checker import check_env

from agent.envs.crafter.env import CrafterEnv, make_crafter
from agent.goals.grammar import parse_instruction
from agent.goals.vocabulary import goal_id


def play(script: list[Moment], text: str = "", steps: int | None = None, max_steps: int = 100):
    """(reward, terminated, truncated, info) of every step through a script with an instruction."""
    env = CrafterEnv(ScriptedEngine(script), max_steps=max_steps)
    _, info = env.reset(seed=0, options={"instruction": parse_instruction(text) if text else ()})
    assert info == {"achieved": (), "progress": 0, "cause": ""}
    return [env.step(0)[1:] for _ in range(len(script) if steps is None else steps)]


def test_pays_the_active_subgoal_only_and_ends_when_all_are_done():
    script = [
        Moment(("collect_coal",)),
        Moment(("collect_wood",)),
        Moment(),
        Moment(("wake_up", "collect_coal")),
    ]
    results = play(script, "collect wood, collect coal")
    assert [reward for reward, *_ in results] == [0.0, 1.0, 0.0, 1.0]
    assert [terminated for _, terminated, *_ in results] == [False, False, False, True]
    assert not any(truncated for *_, truncated, _ in results)
    infos = [info for *_, info in results]
    assert [info["progress"] for info in infos] == [0, 1, 1, 2]
    assert [info["cause"] for info in infos] == ["", "", "", "completed"]
    assert infos[0]["achieved"] == (goal_id("collect coal"),)
    assert set(infos[3]["achieved"]) == {goal_id("wake up"), goal_id("collect coal")}


def test_one_subgoal_a_step_even_if_the_next_is_the_same():
    script = [Moment(("collect_wood",)), Moment(), Moment(("collect_wood",))]
    assert [reward for reward, *_ in play(script, "wood x2")] == [1.0, 0.0, 1.0]


def test_travel_is_reached_within_less_than_two_metres_on_every_step():
    there = goal_id("travel (10, 20)")
    script = [
        Moment(position=(12, 20)),
        Moment(position=(11, 21)),
        Moment(position=(11, 21)),
        Moment(position=(10, 18)),
    ]
    results = play(script, "travel to 10,20, travel to 10,20, wood")
    assert [reward for reward, *_ in results] == [0.0, 1.0, 1.0, 0.0]
    assert [info["achieved"] for *_, info in results] == [(), (there,), (there,), ()]


def test_death_is_not_the_time_limit():
    (*_, death) = play([Moment(), Moment(death="zombie")], "wood", max_steps=2)
    assert death[1:3] == (True, False) and death[3]["cause"] == "death by zombie"
    (*_, limit) = play([], "wood", steps=3, max_steps=3)
    assert limit[1:3] == (False, True) and limit[3]["cause"] == "time limit"
    (completed,) = play([Moment(("collect_wood",), death="lava")], "wood", max_steps=1)
    assert completed[:3] == (1.0, True, False) and completed[3]["cause"] == "completed"


def test_free_play_pays_each_achievement_once_and_is_never_completed():
    script = [
        Moment(("collect_wood", "wake_up")),
        Moment(("collect_wood",)),
        Moment(("collect_coal",), death="thirst"),
    ]
    results = play(script)
    assert [reward for reward, *_ in results] == [1.0, 0.0, 1.0]
    assert [info["progress"] for *_, info in results] == [0, 0, 0]
    assert results[-1][3]["cause"] == "death by thirst"


def test_free_play_takes_no_instruction_and_has_the_benchmarks_time_limit():
    env = CrafterEnv(ScriptedEngine([]), reward="crafter")
    assert (env.max_instruction, env.max_steps) == (0, 10_000)
    assert CrafterEnv(ScriptedEngine([])).max_steps == 2500
    assert CrafterEnv(ScriptedEngine([]), max_steps=7, reward="crafter").max_steps == 7


def test_free_play_pays_a_tenth_for_each_point_of_health():
    script = [Moment(health=7), Moment(("collect_wood",), health=8), Moment(health=8), Moment(death="zombie", health=0)]
    assert [reward for reward, *_ in play(script)] == pytest.approx([-0.2, 1.1, 0.0, -0.8])
    assert [reward for reward, *_ in play(script, "coal")] == [0.0, 0.0, 0.0, 0.0]


def test_a_reset_forgets_everything():
    env = CrafterEnv(ScriptedEngine([Moment(("collect_wood",))]), max_steps=3)
    for _ in range(2):
        env.reset(seed=1, options={"instruction": parse_instruction("wood x2")})
        assert env.step(0)[1] == 1.0
        assert env.step(0)[1:4] == (0.0, False, False)


def test_observations_are_not_overwritten_by_later_steps():
    env = make_crafter("package", "symbolic", 100)
    first, _ = env.reset(seed=3)
    kept = {key: value.copy() for key, value in first.items()}
    for action in (2, 2, 4, 6):
        env.step(action)
    assert all(np.array_equal(first[key], kept[key]) for key in kept)


@pytest.mark.parametrize("observation", ["symbolic", "crop", "pixels"])
@pytest.mark.filterwarnings("ignore:.*Not able to test alternative render modes")
def test_gymnasium_accepts_it(observation):
    check_env(CrafterEnv(ScriptedEngine(daylight=0.2), observation))


@pytest.mark.filterwarnings("ignore:.*Not able to test alternative render modes")
def test_gymnasium_accepts_it_on_the_real_game():
    check_env(make_crafter("package", "symbolic", 2500))


def test_worlds_without_a_seed_differ_and_follow_gymnasiums_stream():
    def positions_of_things(seed: int | None, env: CrafterEnv) -> bytes:
        return env.reset(seed=seed)[0]["view"].tobytes()

    env = make_crafter("package", "symbolic", 100)
    env.reset(seed=5)
    first = positions_of_things(None, env)
    second = positions_of_things(None, env)
    env.reset(seed=5)
    assert first == positions_of_things(None, env) != second


@pytest.mark.parametrize("engine", ["fast", "package"])
def test_ahead_is_the_cell_that_the_player_would_act_on(engine):
    """Left, right, up and down of the middle of the view, by the way the player last tried to go."""
    env = make_crafter(engine, "symbolic")
    env.reset(seed=4)
    cells = {1: (3, 3), 2: (5, 3), 3: (4, 2), 4: (4, 4)}  # action: place in the view
    seen = set()
    for action in np.random.default_rng(0).integers(1, 5, size=60).tolist():
        observation = env.step(action)[0]
        assert observation["ahead"] == observation["view"][cells[action]]
        seen.add(int(observation["ahead"][0]))
    assert len(seen) > 2, "nothing but grass"
