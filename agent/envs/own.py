"""An environment of the user's own: what a callable of their module returns.

It is a `gymnasium.Env`, played like any other (`adapted`). Where it says so it is more than that, by attributes of our
conventions (`base`):

    max_steps         the time limit of an attempt; it is enforced
    success_return    the return from which on an attempt counts as a success
    games             names, or `Game`s, of the several it plays: its `reset` is then handed our options, "game" and
                      "attempt" among them, and () is a way to ask for these options alone

and its info may hold a `cause` at the end, and `is_first` where it begins a new attempt without one. The callable takes
no arguments and comes from no module of Python's own: a stranger's run could otherwise call anything that is
installed, with arguments of its own choice.
"""

import difflib
import importlib
import math
import sys
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import gymnasium
from gymnasium.wrappers import TimeLimit

from agent.envs.adapted import AdaptedEnv, Called, error_line
from agent.envs.base import Game
from agent.envs.beside_caller import find_modules_here
from store.errors import AmagoError
from store.trajectory import MAX_TEXT_BYTES


class OwnEnv(AdaptedEnv):
    """What the callable of `target`, "module:callable", returns.

    `max_steps` bounds an attempt, None leaves it to the environment. AmagoError if it cannot be made, has no time
    limit, says something strange of itself, or cannot be played by our agent.
    """

    def __init__(self, target: str, max_steps: int | None = None):
        env = _call(target, load(target))
        limit = _time_limit(env, target, max_steps)
        self.name = f"own:{target}"
        self._takes_options = env.has_wrapper_attr("games")
        self.games = _games(env, target)
        called = Called("your environment", target)
        super().__init__(TimeLimit(env, limit), called, limit, _success_return(env, target))

    def _told(self, options: dict[str, Any] | None) -> dict[str, Any] | None:
        return options if self._takes_options else None

    def _info(self, said: dict[str, Any], terminated: bool, truncated: bool) -> dict[str, Any]:
        info = super()._info(said, terminated, truncated)
        if info["cause"] and said.get("cause"):
            info["cause"] = str(said["cause"]).encode()[:MAX_TEXT_BYTES].decode(errors="ignore")
        return {**info, "is_first": bool(said.get("is_first", False))}


def load(target: str) -> Callable[[], Any]:
    """The callable that "module:callable" names; AmagoError if there is none."""
    module_name, colon, name = target.partition(":")
    if not (module_name and colon and name) or module_name.startswith("."):
        raise AmagoError("which environment? give the callable that makes it: amago train my_package:make_env")
    if len(f"own:{target}".encode()) > MAX_TEXT_BYTES:
        raise AmagoError(f"'{target}' is too long a name; give the callable a shorter way, in a module of its own")
    module = _import(module_name)
    found = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise AmagoError(f"{_place(module)} has no '{name}'{_near(part, dir(found))}")
        found = getattr(found, part)
    if not callable(found):
        raise AmagoError(f"'{target}' is of type {type(found).__name__}; it has to be a function or a class")
    return found


def _import(name: str) -> Any:
    if name.partition(".")[0] in sys.stdlib_module_names:
        raise AmagoError(f"'{name}' is a module of Python's own; give yours another name")
    find_modules_here()
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise AmagoError(
                f"there is no module '{error.name}': run amago in the folder where it lies, or install it"
            ) from None
        raise AmagoError(f"the module '{name}' cannot be imported: {error_line(error)}") from error


def _call(target: str, make: Callable[[], Any]) -> gymnasium.Env:
    try:
        env = make()
    except (Exception, SystemExit) as error:
        raise AmagoError(f"{target} fails: {error_line(error)}") from error
    if not isinstance(env, gymnasium.Env):
        raise AmagoError(f"{target} returns an object of type {type(env).__name__}; it has to be a gymnasium.Env")
    return env


def _time_limit(env: gymnasium.Env, target: str, configured: int | None) -> int:
    """Steps of an attempt: the shortest of all limits."""
    said = env.get_wrapper_attr("max_steps") if env.has_wrapper_attr("max_steps") else None
    registered = env.spec.max_episode_steps if env.spec else None
    limits = [limit for limit in (configured, said, registered) if limit is not None]
    if not limits:
        raise AmagoError(
            f"{target} has no time limit: give the environment an attribute max_steps, or --set env.max_steps=1000"
        )
    for limit in limits:
        if isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 1:
            raise AmagoError(f"{target}: max_steps is {limit!r}; it has to be a number of steps, at least 1")
    return int(min(limits))


def _success_return(env: gymnasium.Env, target: str) -> float | None:
    said = env.spec.reward_threshold if env.spec else None
    if env.has_wrapper_attr("success_return"):
        said = env.get_wrapper_attr("success_return")
    if said is not None and not _is_number(said):
        raise AmagoError(f"{target}: success_return is {said!r}; it has to be a number or None")
    return None if said is None else float(said)


def _games(env: gymnasium.Env, target: str) -> tuple[Game, ...]:
    said = env.get_wrapper_attr("games") if env.has_wrapper_attr("games") else ()
    if not isinstance(said, list | tuple) or not all(isinstance(game, str | Game) for game in said):
        raise AmagoError(f"{target}: games has to be a tuple of names, or of agent.envs.base.Game")
    games = tuple(game if isinstance(game, Game) else Game(game) for game in said)
    names = [game.name for game in games]
    if len(set(names)) < len(names):
        raise AmagoError(f"{target}: every one of its games needs a name of its own, there are {names}")
    for game in games:
        if problem := _wrong(game):
            raise AmagoError(f"{target}: game {game.name!r}: {problem}")
    if games and all(game.held_out for game in games):
        raise AmagoError(f"{target}: all of its games are held out, so there is none to train on")
    return games


def _wrong(game: Game) -> str:
    """What is wrong with what a game says of itself, "" if nothing is."""
    name, bounds = game.name, (game.low, game.high)
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name.encode()) <= MAX_TEXT_BYTES:
        return f"a name is text of 1 to {MAX_TEXT_BYTES} bytes"
    if "," in name or name != name.strip() or name == "all":
        return "a name has no comma and no blanks around it, and is not 'all', or --games could not tell it"
    if not isinstance(game.held_out, bool):
        return f"held_out is {game.held_out!r}, not true or false"
    if not (_is_number(game.scale) and game.scale > 0):
        return f"scale is {game.scale!r}; it has to be a number above 0"
    if bounds == (None, None):
        return ""
    if not all(map(_is_number, bounds)) or game.low >= game.high:  # type: ignore[operator]
        return f"low is {game.low!r} and high {game.high!r}; they are two numbers, the lower one first, or both None"
    return ""


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _place(module: Any) -> str:
    """The module and its file, which may be another one than meant."""
    file = getattr(module, "__file__", None)
    return f"the module '{module.__name__}'" + (f" ({file})" if file else "")


def _near(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; is it '{near[0]}'?" if near else ""
