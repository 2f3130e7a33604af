import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.goals.grammar import GoalError, format_instruction, parse_instruction, wanted_instruction
from agent.goals.vocabulary import GOALS, NUM_GOALS, goal_id


def names(text: str) -> list[str]:
    return [GOALS[goal].name for goal in parse_instruction(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("stone pickaxe", ["make stone pickaxe"]),
        ("make a stone pickaxe", ["make stone pickaxe"]),
        ("make_stone_pickaxe", ["make stone pickaxe"]),
        ("Make-Stone-Pickaxe", ["make stone pickaxe"]),
        ("iron", ["collect iron"]),
        ("collect iron", ["collect iron"]),
        ("drink water", ["collect drink"]),
        ("drink", ["collect drink"]),
        ("collect water", ["collect drink"]),
        ("kill the zombie", ["defeat zombie"]),
        ("WAKE UP", ["wake up"]),
        ("make a stone pickaxe, then collect iron", ["make stone pickaxe", "collect iron"]),
        ("make a stone pickaxe then collect iron", ["make stone pickaxe", "collect iron"]),
        ("eat cow x2 and then  10, 20", ["eat cow", "eat cow", "travel (10, 20)"]),
        ("eat cow, and then iron, and coal", ["eat cow", "collect iron", "collect coal"]),
        ("travel to 10,20", ["travel (10, 20)"]),
        ("go to (10, 20)", ["travel (10, 20)"]),
        ("travel 10 20", ["travel (10, 20)"]),
        ("travel (10 20)", ["travel (10, 20)"]),
        ("10, 20", ["travel (10, 20)"]),
        ("eat cow x2", ["eat cow", "eat cow"]),
        ("eat cow X 2, 10,20", ["eat cow", "eat cow", "travel (10, 20)"]),
        ("go to (5, 5) x2", ["travel (5, 5)", "travel (5, 5)"]),
        ("travel(0,60)x2", ["travel (0, 60)", "travel (0, 60)"]),
        ("place plant x3, eat cow", ["place plant"] * 3 + ["eat cow"]),
        (
            "travel to 10,10, place stone, travel to (50, 50), place stone",
            ["travel (10, 10)", "place stone", "travel (50, 50)", "place stone"],
        ),
    ],
)
def test_reads_what_people_write(text, expected):
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("stone", ['"stone" is ambiguous', "collect stone or place stone"]),
        ("plant", ['"plant" is ambiguous', "eat plant or place plant"]),
        ("pickaxe", ["ambiguous", "make wood pickaxe, make stone pickaxe or make iron pickaxe"]),
        ("make iron", ["ambiguous", "make iron pickaxe or make iron sword"]),
        ("collect", ["ambiguous", "collect coal", "collect wood"]),
        ("colect wood", ['unknown word "colect"', 'did you mean "collect"']),
        ("eat cow, make stoone sword", ['unknown word "stoone" in "make stoone sword"', '"stone"']),
        ("xyzzy", ['unknown word "xyzzy"', "goals start with collect"]),
        ("eat zombie", ['"eat zombie" is not a goal', '"defeat zombie"']),
        ("travel to 12,20", ["off the grid", "the nearest is (10, 20)"]),
        ("travel to -5,70", ["off the grid", "the nearest is (0, 60)"]),
        ("travel 10", ["two whole coordinates"]),
        ("travel to (ten, 20)", ["two whole coordinates"]),
        ("travel to 1.5,20", ["two whole coordinates"]),
        ("", ["no goal given"]),
        ("eat cow,", ["comma with no goal"]),
        ("eat cow and iron", ['unknown word "and" in "eat cow and iron"']),
        ("eat cow then", ['unknown word "then"']),
        ("then, eat cow", ['unknown word "then"']),
        ("eat cow,, then iron", ["comma with no goal"]),
        ("eat \x1b[31mcow", ['unknown word "\\x1b[31mcow" in "eat \\x1b[31mcow"']),
        ("eat cow x" + "9" * 5000, ["unknown word"]),
        ("travel 5 " + "9" * 5000, ["needs two whole coordinates"]),
        ("eat cow x0", ["repeats a goal 0 times"]),
        ("eat cow x1000000000000", ["repeats a goal 1000000000000 times"]),
        ("eat cow x3, wood x3", ["at most 5 subgoals", "this one has 6"]),
        ("the", ["is not a goal"]),
    ],
)
def test_says_what_it_cannot_read(text, words):
    with pytest.raises(GoalError) as caught:
        parse_instruction(text)
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert "\n" not in message


instructions = st.lists(st.integers(0, NUM_GOALS - 1), min_size=1, max_size=5).map(tuple)


@given(instructions)
def test_reads_back_what_it_writes(instruction):
    text = format_instruction(instruction)
    assert parse_instruction(text) == instruction
    assert parse_instruction(text.upper().replace(" ", "  ")) == instruction


def test_writes_repeats_once():
    assert format_instruction(parse_instruction("iron, iron, coal, iron")) == (
        "collect iron x2, collect coal, collect iron"
    )


@given(st.text() | st.text(alphabet="eat cow iron stone travl,()x0123456789_-", max_size=40))
def test_any_text_is_an_instruction_or_a_goal_error(text):
    try:
        instruction = parse_instruction(text)
    except GoalError:
        return
    assert parse_instruction(format_instruction(instruction)) == instruction


def test_messages_repeat_only_the_beginning_of_a_long_text():
    with pytest.raises(GoalError) as caught:
        parse_instruction("z" * 1000)
    assert f'"{"z" * 57}..."' in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(("text", "expected"), [("", ()), (" \t", ()), ("collect wood", (goal_id("collect wood"),))])
def test_a_configuration_may_want_nothing(text, expected):
    assert wanted_instruction(text) == expected
