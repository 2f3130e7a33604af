"""Instructions as people write them, and back: "stone pickaxe, eat cow x2, go to (10, 20)" <-> goal ids.

Reads and writes text only. Words may be left out where one goal alone fits; where several fit the error lists
them.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import groupby

from agent.goals.vocabulary import GOALS, GRID_MAX, GRID_STEP, MAX_SUBGOALS, Goal, goal_id
from store.errors import AmagoError

_FILLERS = frozenset({"a", "an", "the", "some", "to"})
_SYNONYMS = {
    "attack": "defeat",
    "craft": "make",
    "fight": "defeat",
    "gather": "collect",
    "get": "collect",
    "go": "travel",
    "kill": "defeat",
    "mine": "collect",
    "move": "travel",
    "walk": "travel",
    "water": "drink",
}
_NAMED_GOALS = tuple(goal for goal in GOALS if goal.x is None)
_WORDS = {word for goal in _NAMED_GOALS for word in goal.words} | {"travel"} | _SYNONYMS.keys()

_IN_PARENTHESES = re.compile(r"\([^()]*\)")
_NUMBER_PAIR = re.compile(r"(?<![\w.])(?<!x )(-?\d+)\s*,\s*(-?\d+)(?![\w.])")
_REPEATED = re.compile(r"(.+?)[\s)]\s*[x×*]\s*(\d{1,18})")
_NUMBER = re.compile(r"-?\d{1,18}")
_LEADING_CONNECTIVE = re.compile(r"^(?:(?:and )?then|and) ")
_THEN = re.compile(r" (?:and )?then ")

_MAX_QUOTED = 60  # characters of what was written that a message repeats


class GoalError(AmagoError):
    """An instruction that cannot be understood; the message names the words at fault."""


def wanted_instruction(text: str) -> tuple[int, ...]:
    """Goal ids of the instruction that a configuration wants, () where it leaves the text blank."""
    return parse_instruction(text) if text.strip() else ()


def parse_instruction(text: str) -> tuple[int, ...]:
    """Goal ids of an instruction of 1 to MAX_SUBGOALS subgoals; GoalError if it has no clear reading.

    Case, underscores and articles do not matter, "x2" repeats a goal. Commas and
    "then" separate subgoals, except commas inside parentheses or between two coordinates.
    """
    if not text.strip():
        raise GoalError('no goal given; write for example "collect wood, place table"')
    instruction: list[int] = []
    for phrase in _split(text.lower()):
        goal, count = _parse_phrase(phrase)
        instruction += [goal] * count
    if len(instruction) > MAX_SUBGOALS:
        raise GoalError(f"an instruction has at most {MAX_SUBGOALS} subgoals, this one has {len(instruction)}")
    return tuple(instruction)


def format_instruction(instruction: Sequence[int]) -> str:
    """Canonical text of goal ids, as in "make stone pickaxe, eat cow x2"; `parse_instruction` reads it."""
    runs = [(GOALS[goal].name, len(list(run))) for goal, run in groupby(instruction)]
    return ", ".join(name if count == 1 else f"{name} x{count}" for name, count in runs)


def _split(text: str) -> list[str]:
    text = _IN_PARENTHESES.sub(lambda match: match.group().replace(",", " "), text)
    phrases = [" ".join(phrase.split()) for phrase in _NUMBER_PAIR.sub(r"\1 \2", text).split(",")]
    phrases = [part for phrase in phrases for part in _THEN.split(_LEADING_CONNECTIVE.sub("", phrase))]
    if "" in phrases:
        raise GoalError("there is a comma with no goal beside it; separate goals by single commas")
    return phrases


def _parse_phrase(phrase: str) -> tuple[int, int]:
    """Goal id and repetitions of one phrase."""
    repeated = _REPEATED.fullmatch(phrase)
    if not repeated:
        return _parse_goal(phrase), 1
    count = int(repeated[2])
    if not 1 <= count <= MAX_SUBGOALS:
        raise GoalError(f"{_quoted(phrase)} repeats a goal {count} times; use x1 to x{MAX_SUBGOALS}")
    return _parse_goal(repeated[1]), count


def _parse_goal(phrase: str) -> int:
    spaced = re.sub(r"[_()]|(?<=[a-z])-(?=[a-z])", " ", phrase)
    words = [_SYNONYMS.get(word, word) for word in spaced.split() if word not in _FILLERS]
    words = [word for word, _ in groupby(words)] if words[:1] == ["drink"] else words  # "drink water"
    if words[:1] == ["travel"] or (words and all(_NUMBER.fullmatch(word) for word in words)):
        return _parse_travel(phrase, words)
    matches = _matching(words)
    if len(matches) == 1:
        return matches[0].id
    if matches:
        names = [goal.name for goal in matches]
        raise GoalError(f"{_quoted(phrase)} is ambiguous: {', '.join(names[:-1])} or {names[-1]}?")
    raise GoalError(_explain_unknown(phrase, spaced.split()))


def _matching(words: list[str]) -> list[Goal]:
    """Goals that the words name in full or without the verb, else all goals that contain every word."""
    given = tuple(words)
    exact = [goal for goal in _NAMED_GOALS if given in (goal.words, goal.words[1:])]
    return exact or [goal for goal in _NAMED_GOALS if given and set(given) <= set(goal.words)]


def _parse_travel(phrase: str, words: list[str]) -> int:
    coordinates = [int(word) for word in words if _NUMBER.fullmatch(word)]
    unknown = [word for word in words if word != "travel" and not _NUMBER.fullmatch(word)]
    if unknown or len(coordinates) != 2:
        raise GoalError(f'{_quoted(phrase)} needs two whole coordinates, as in "travel to 10,20"')
    x, y = (min(max(GRID_STEP * ((value + 2) // GRID_STEP), 0), GRID_MAX) for value in coordinates)
    if [x, y] != coordinates:
        grid = f"travel goals lie on multiples of {GRID_STEP} from 0 to {GRID_MAX}"
        raise GoalError(f"{_quoted(phrase)} is off the grid: {grid}; the nearest is ({x}, {y})")
    return goal_id(f"travel ({x}, {y})")


def _explain_unknown(phrase: str, words: list[str]) -> str:
    unknown = next((word for word in words if word not in _WORDS | _FILLERS), None)
    if unknown is None:
        near = get_close_matches(phrase, [goal.name for goal in _NAMED_GOALS], n=3, cutoff=0.5)
        return f"{_quoted(phrase)} is not a goal" + _did_you_mean(near)
    near = get_close_matches(unknown, sorted(_WORDS), n=3, cutoff=0.6)
    return f"unknown word {_quoted(unknown)} in {_quoted(phrase)}" + _did_you_mean(near)


def _quoted(text: str) -> str:
    """At most _MAX_QUOTED characters in quotes; what a terminal would obey instead of show is escaped."""
    shown = text if len(text) <= _MAX_QUOTED else text[: _MAX_QUOTED - 3] + "..."
    return '"' + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown) + '"'


def _did_you_mean(names: list[str]) -> str:
    if not names:
        return "; goals start with collect, defeat, eat, make, place, wake up or travel to"
    return "; did you mean " + " or ".join(f'"{name}"' for name in names) + "?"
