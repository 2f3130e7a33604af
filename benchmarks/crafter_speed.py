"""How much faster the compiled Crafter is than the crafter package, on one core, measured in one run.

    python benchmarks/crafter_speed.py [--rounds 3]

Both sides play at random from world to world, so resets are included. Times are processor seconds, so that other load
matters less; each number is the median over rounds in which both sides take turns. The last line is one JSON object:

    ratio_normal     steps a second, compiled against the package as it comes (it draws every step)
    ratio_no_render  the same against the package with its drawing left out
    ratio_draw       frames a second of 64x64 pixels, `draw` against the package's `render`, by day
    reset_ms         one reset of the compiled engine
    step_us          one step of the compiled engine, called from Python
"""

import argparse
import json
from collections.abc import Callable
from statistics import median
from time import process_time

import crafter
import numpy as np

from agent.envs.crafter.draw import draw
from agent.envs.crafter.engine import NUM_ACTIONS
from agent.envs.crafter.fast import FastEngine

EPISODES_OF_PACKAGE = 12
EPISODES_OF_ENGINE = 200
LONGEST_EPISODE = 2_500
NUM_FRAMES = 300
UNIT = 7  # pixels along a cell's side in a 64x64 frame


class Undrawn(crafter.Env):
    """The package's environment without its drawing."""

    def _obs(self) -> None:
        pass


def package_steps_per_second(make: Callable[..., crafter.Env], seed: int) -> float:
    """Random play over some worlds, resets included."""
    env, rng, num_steps = make(seed=seed), np.random.default_rng(seed), 0
    start = process_time()
    for _ in range(EPISODES_OF_PACKAGE):
        env.reset()
        for action in rng.integers(NUM_ACTIONS, size=LONGEST_EPISODE).tolist():
            num_steps += 1
            if env.step(action)[2]:
                break
    return num_steps / (process_time() - start)


def engine_speed(engine: FastEngine, seed: int) -> tuple[float, float, float]:
    """Steps a second of random play with resets, seconds of a reset, seconds of a step."""
    rng, num_steps, resetting = np.random.default_rng(seed), 0, 0.0
    begin = process_time()
    for _ in range(EPISODES_OF_ENGINE):
        start = process_time()
        engine.reset(int(rng.integers(2**31 - 1)))
        resetting += process_time() - start
        for action in rng.integers(NUM_ACTIONS, size=LONGEST_EPISODE).tolist():
            num_steps += 1
            engine.step(action)
            if engine.dead:
                break
    total = process_time() - begin
    return num_steps / total, resetting / EPISODES_OF_ENGINE, (total - resetting) / num_steps


def draw_ratio(engine: FastEngine, env: crafter.Env) -> float:
    """Time of the package's frame over ours, both of a new world."""
    env.reset()
    engine.reset(0)
    noise = np.random.default_rng(0)
    theirs = _seconds(env.render)
    ours = _seconds(lambda: draw(engine.view, engine.inventory, engine.daylight, UNIT, noise))
    return theirs / ours


def _seconds(function: Callable[[], object]) -> float:
    function()
    start = process_time()
    for _ in range(NUM_FRAMES):
        function()
    return process_time() - start


def measure(rounds: int) -> dict[str, float]:
    """The numbers of the last line."""
    engine, drawn = FastEngine(), crafter.Env(seed=0)
    engine.reset(0)
    engine.step(0)
    drawn.reset()  # compiles the package's noise
    columns: dict[str, list[float]] = {}
    for seed in range(rounds):
        speed, reset_seconds, step_seconds = engine_speed(engine, seed)
        values = {
            "ratio_normal": speed / package_steps_per_second(crafter.Env, seed),
            "ratio_no_render": speed / package_steps_per_second(Undrawn, seed),
            "ratio_draw": draw_ratio(engine, drawn),
            "reset_ms": 1e3 * reset_seconds,
            "step_us": 1e6 * step_seconds,
        }
        for name, value in values.items():
            columns.setdefault(name, []).append(value)
    return {name: round(median(values), 2) for name, values in columns.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    print(json.dumps(measure(parser.parse_args().rounds)))


if __name__ == "__main__":
    main()
