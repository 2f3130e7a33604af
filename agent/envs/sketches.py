"""The small worlds as grids of characters, made of what their observations tell and no more.

What the agent was not told (where key and door are, which ice is thin) is not shown. How large a world is follows
from the whole trajectory, so that all its states are drawn alike. Knows no colours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

PLAYER, CARRYING = "@", "&"
UNKNOWN, FLOOR, BEEN, WALL = " ", ".", "+", "#"
SIGN, SIGN_UP, SIGN_DOWN = "s", "^", "v"
KEY, DOOR = "k", "D"
FORK, ADDRESS, PACKAGE = "Y", "A", "p"
BALL, BOX, OPEN_DOOR, LOCKED_DOOR = "o", "b", "/", "L"

_DIRECTIONS = ((0, -1), (1, 0), (0, 1), (-1, 0))  # up, right, down, left: the order of the maze's sight
_TMAZE = ("#####.", "s.....", "#####.")
_TMAZE_PLACES = ((0, 1), (2, 1), (5, 1), (5, 0), (5, 2))  # (x, y) of sign, corridor, junction, upper and lower arm
_ROAD_WIDTH = 10  # places of the road in one row
_GRID_KINDS = np.array([UNKNOWN, FLOOR, WALL, FLOOR, DOOR, KEY, BALL, BOX])  # Minigrid's objects by number
_GRID_DOORS = np.array([OPEN_DOOR, DOOR, LOCKED_DOOR])  # by state
_LARGEST = 1024  # no number in a small world is larger; files may come from strangers

Observations = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Sketch:
    """How one world is drawn."""

    draw: Callable[[Observations, int], np.ndarray]  # (rows, columns) of characters for state t
    needs: dict[str, tuple[int, ...]]  # observations of whole numbers, by the shape at one state; -1: any length
    legend: dict[str, str]


def sketch(environment: str, observations: Observations, t: int) -> np.ndarray | None:
    """State `t` as (rows, columns) of characters; None for another world or for observations that are not its own."""
    known = SKETCHES.get(environment)
    if known is None or not all(_fits(observations.get(key), shape) for key, shape in known.needs.items()):
        return None
    return known.draw(observations, t)


def _fits(array: np.ndarray | None, shape: tuple[int, ...]) -> bool:
    if array is None or array.dtype.kind not in "iu" or array.ndim != 1 + len(shape):
        return False
    if any(length not in (-1, found) for length, found in zip(shape, array.shape[1:], strict=True)):
        return False
    return array.size == 0 or bool(array.min() >= 0 and array.max() <= _LARGEST)


def _maze(observations: Observations, t: int) -> np.ndarray:
    """What has been seen of the maze up to `t`: free cells, and the walls that end the sight."""
    places, sights = (observations[key].astype(int) for key in ("position", "sight"))
    side = int((places + sights[:, 1:3]).max()) + 2  # beyond the last free cell there is a wall
    grid = np.full((side, side), UNKNOWN)
    x, y = places[: t + 1].T
    for (dx, dy), sight in zip(_DIRECTIONS, sights[: t + 1].T, strict=True):
        for away in range(1, int(sight.max()) + 2):
            for seen, cell in ((sight >= away, FLOOR), (sight + 1 == away, WALL)):
                grid[np.maximum(y + away * dy, 0)[seen], np.maximum(x + away * dx, 0)[seen]] = cell
    return _with_player(grid, places[: t + 1])


def _frozen_lake(observations: Observations, t: int) -> np.ndarray:
    places = observations["position"].astype(int)
    return _with_player(_room(places), places[: t + 1])


def _key_door(observations: Observations, t: int) -> np.ndarray:
    places = observations["position"].astype(int)
    shown = {cell: observations[key].astype(int) for key, cell in (("key", KEY), ("door", DOOR)) if key in observations}
    grid = _room(places, *shown.values())
    for cell, where in shown.items():  # in a room that is not dark
        x, y = where[t]
        grid[y, x] = cell
    return _with_player(grid, places[: t + 1], CARRYING if observations["has_key"][t, 0] else PLAYER)


def _room(*places: np.ndarray) -> np.ndarray:
    """A square floor that just holds all `places` (T+1, 2)."""
    side = int(np.concatenate(places).max()) + 1
    return np.full((side, side), FLOOR)


def _with_player(grid: np.ndarray, places: np.ndarray, player: str = PLAYER) -> np.ndarray:
    """`grid` with the ways of the player, who came by `places` (t+1, 2) and is at the last of them."""
    x, y = places.T
    grid[y, x] = np.where(grid[y, x] == FLOOR, BEEN, grid[y, x])
    grid[y[-1], x[-1]] = player
    return grid


def _tmaze(observations: Observations, t: int) -> np.ndarray:
    """A sign, a corridor of any length (all of it looks alike), the junction and its two arms."""
    place, sign = (int(observations[key][t, 0]) for key in ("place", "sign"))
    grid = np.array([list(row) for row in _TMAZE])
    x, y = _TMAZE_PLACES[min(place, len(_TMAZE_PLACES) - 1)]
    grid[y, x] = PLAYER
    if sign:  # it hangs above the place from which it is read
        grid[0, 0] = SIGN_UP if sign == 1 else SIGN_DOWN
    return grid


def _delivery(observations: Observations, t: int) -> np.ndarray:
    """The road, row by row, with what has been told or seen of it, and beneath it the packages left."""
    place, fork, told = (observations[key].astype(int) for key in ("position", "fork", "addresses"))
    length = max(int(place.max()), int(told.max(initial=0))) + 1
    road = np.full(-(-length // _ROAD_WIDTH) * _ROAD_WIDTH, UNKNOWN)
    road[:length] = FLOOR
    road[place[: t + 1][fork[: t + 1] > 0]] = FORK
    addresses = told[: t + 1]
    road[addresses[addresses > 0]] = ADDRESS
    road[place[t, 0]] = PLAYER
    packages = np.full(_ROAD_WIDTH, UNKNOWN)
    packages[: observations["packages"][t, 0]] = PACKAGE
    return np.concatenate([road.reshape(-1, _ROAD_WIDTH), packages[None]])


def _babyai(observations: Observations, t: int) -> np.ndarray:
    """What lies before the agent, who looks up from the middle of the lowest row; there it sees what it carries."""
    objects, states = observations["objects"][t], observations["states"][t]
    grid = _GRID_KINDS[np.minimum(objects, len(_GRID_KINDS) - 1)]
    grid = np.where(grid == DOOR, _GRID_DOORS[np.minimum(states, len(_GRID_DOORS) - 1)], grid)
    grid[-1, 3] = SIGN_UP if grid[-1, 3] in (UNKNOWN, FLOOR) else CARRYING
    return grid


_WALKING = {PLAYER: "agent", FLOOR: "floor", BEEN: "the agent has been here"}

SKETCHES = {
    "maze": Sketch(_maze, {"position": (2,), "sight": (4,)}, _WALKING | {WALL: "wall", UNKNOWN: "not seen yet"}),
    "dark-key-door": Sketch(
        _key_door,
        {"position": (2,), "has_key": (1,)},
        _WALKING | {CARRYING: "agent with the key", KEY: "key", DOOR: "door"},
    ),
    "frozen-lake": Sketch(_frozen_lake, {"position": (2,)}, _WALKING | {FLOOR: "ice or a hole"}),
    "tmaze": Sketch(
        _tmaze,
        {"place": (1,), "sign": (1,)},
        {PLAYER: "agent", FLOOR: "floor", WALL: "wall", SIGN: "place of the sign", SIGN_UP: "up", SIGN_DOWN: "down"},
    ),
    "delivery": Sketch(
        _delivery,
        {"position": (1,), "fork": (1,), "addresses": (-1,), "packages": (1,)},
        {PLAYER: "truck", FLOOR: "road", UNKNOWN: "beside the road"}
        | {FORK: "fork, seen", ADDRESS: "address, told", PACKAGE: "package left"},
    ),
    "babyai": Sketch(
        _babyai,
        {"objects": (7, 7), "colours": (7, 7), "states": (7, 7)},
        {SIGN_UP: "agent", CARRYING: "agent carrying something", FLOOR: "floor", WALL: "wall", UNKNOWN: "not seen"}
        | {KEY: "key", BALL: "ball", BOX: "box"}
        | {DOOR: "closed door", OPEN_DOOR: "open door", LOCKED_DOOR: "locked door"},
    ),
}
"""By name of the environment."""
