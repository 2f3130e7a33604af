"""How long the server needs to show another frame of a long episode on the page Replay.

    python -m benchmarks.replay_page

Measures the server's part of a frame change on a random episode of 10,000 steps of Crafter: the one picture that a jump
brings at once, and the sheet of frames that follows it, from which the browser then plays by itself. The last line is
JSON; `budget_ms` is what a jump may take.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from agent.envs.crafter.env import make_crafter
from dashboard.player.episode import Episode, facts, marks
from dashboard.player.sprites import Sheet, frame_png, sheet_of, sheet_png
from dashboard.player.tracks import Span
from store.trajectory import Trajectory, TrajectoryInfo

STEPS = 10_000
BUDGET_MS = 100
JUMPS = 200
SHEETS = 10


def main() -> None:
    """Play, measure, print."""
    shown = Episode("benchmark", "eval", 1, random_episode(STEPS), ())
    sheet = sheet_of(shown.trajectory) or sys.exit("Crafter cannot be drawn: is the crafter package installed?")
    rng = np.random.default_rng(0)
    jumps = rng.integers(STEPS + 1, size=JUMPS).tolist()
    frames = [_milliseconds(lambda t=t: _still(shown, sheet, t)) for t in jumps]
    sheets = [
        _milliseconds(lambda n=n: _sheet(shown, sheet, n)) for n in rng.integers(STEPS // sheet.frames, size=SHEETS)
    ]
    result = {
        "steps": STEPS,
        "budget_ms": BUDGET_MS,
        "jump_ms": statistics.median(frames),
        "jump_p95_ms": statistics.quantiles(frames, n=20)[-1],
        "frames_per_sheet": sheet.frames,
        "sheet_ms": statistics.median(sheets),
        "sheet_kb": len(sheet_png(shown.trajectory, sheet, 0)) / 1000,
        "marks_ms": _milliseconds(lambda: marks(shown, Span(0, STEPS))),
        "within_budget": statistics.quantiles(frames, n=20)[-1] < BUDGET_MS,
    }
    for name, value in result.items():
        print(f"{name:18} {value:.4g}" if isinstance(value, float) else f"{name:18} {value}")
    print(json.dumps(result))


def random_episode(steps: int) -> Trajectory:
    """Random play of `steps` steps, with a new world at every death."""
    env, rng = make_crafter("fast", "symbolic", steps), np.random.default_rng(0)
    states, first, rewards, events = [env.reset(seed=1)[0]], [True], [], []
    actions = rng.integers(17, size=steps)
    for t, action in enumerate(actions.tolist()):
        observation, reward, terminated, _, info = env.step(action)
        events += [(t, goal) for goal in info["achieved"]]
        if terminated:
            observation, _ = env.reset(seed=1)
        states.append(observation)
        first.append(terminated)
        rewards.append(reward)
    ends = np.zeros((2, steps), bool)
    ends[1, -1] = True
    return Trajectory(
        observations={key: np.stack([state[key] for state in states]) for key in states[0]},
        actions=actions,
        rewards=np.array(rewards, np.float32),
        terminated=ends[0],
        truncated=ends[1],
        is_first=np.array(first),
        progress=np.zeros(steps + 1, np.uint8),
        instruction=np.zeros(0, np.int16),
        events=np.array(events, np.int32).reshape(-1, 2),
        info=TrajectoryInfo(
            environment="crafter",
            seed=1,
            actor=0,
            split="eval",
            cause="horizon",
            wanted=False,
            policy_update=0,
            step=steps,
            epsilon=1.0,
        ),
    )


def _still(shown: Episode, sheet: Sheet, t: int) -> None:
    frame_png(shown.trajectory, t, sheet.unit)
    facts(shown, t, t + 1, pictured=True)


def _sheet(shown: Episode, sheet: Sheet, number: int) -> None:
    sheet_png(shown.trajectory, sheet, number)
    facts(shown, number * sheet.frames, (number + 1) * sheet.frames, pictured=True)


def _milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


if __name__ == "__main__":
    main()
