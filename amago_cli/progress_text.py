"""Progress reports as short text. Pure: knows no terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amago_cli.output import duration

if TYPE_CHECKING:
    from agent.progress import EvalProgress, Progress, Tally


def training_speed(progress: Progress) -> str:
    """Phase, counters, speeds, time so far and time left."""
    done = "" if progress.fraction is None else f" {progress.fraction:.0%}"
    parts = [
        f"{progress.phase}{done}",
        f"{progress.step:,} steps",
        f"{progress.steps_per_second:,.0f} steps/s",
        f"{progress.updates_per_second:.1f} updates/s",
        f"{duration(progress.elapsed)} elapsed",
    ]
    if progress.remaining is not None:
        parts.append(f"{duration(progress.remaining)} left")
    return " | ".join(parts)


def training_success(progress: Progress) -> str:
    """Success of the wanted instruction and its subgoals so far, then of all instructions."""
    parts = [] if progress.wanted is None else [f"wanted {rate(progress.wanted)}"]
    parts += [f"{name} {rate(tally)}" for name, tally in progress.subgoals]
    parts.append(f"all instructions {rate(progress.success)}")
    return "success: " + " | ".join(parts)


def evaluation(progress: EvalProgress) -> str:
    """Episodes finished, and an estimate of the time left."""
    text = f"{progress.finished}/{progress.total} episodes, {duration(progress.elapsed)} elapsed"
    if 0 < progress.finished < progress.total:
        left = progress.elapsed / progress.finished * (progress.total - progress.finished)
        text += f", about {duration(left)} left"
    return text


def rate(tally: Tally) -> str:
    """'15% (3/20)', or 'no data'."""
    return "no data" if tally.rate is None else f"{tally.rate:.0%} ({tally.successes}/{tally.trials})"
