"""Progress reports as short text. Pure: knows no terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amago_cli.output import duration

if TYPE_CHECKING:
    from agent.progress import EvalProgress, Progress


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
    """Success of the wanted instruction, its subgoals and all instructions; else return and success. Then attempts.

    Of several games the normalised return is told, where there is one: the mean of returns in different units is none.
    """
    from agent.reports.words import number, percent

    everything = [] if progress.success is None else [percent(progress.success)]
    if progress.wanted is None:
        alone = progress.normalised is None
        figure = f"return {number(progress.mean_return)}" if alone else f"normalised {number(progress.normalised)}"
        parts = [figure, *(f"success {rate}" for rate in everything)]
    else:
        parts = [f"success: wanted {percent(progress.wanted)}"]
        parts += [f"{name} {percent(tally)}" for name, tally in progress.subgoals]
        parts += [f"all instructions {rate}" for rate in everything]
    if progress.attempts is not None:
        first, last = progress.attempts
        parts.append(f"first attempt {number(first)} -> last {number(last)}")
    return " | ".join(parts)


def evaluation(progress: EvalProgress) -> str:
    """Episodes finished, and an estimate of the time left."""
    text = f"{progress.finished}/{progress.total} episodes, {duration(progress.elapsed)} elapsed"
    if 0 < progress.finished < progress.total:
        left = progress.elapsed / progress.finished * (progress.total - progress.finished)
        text += f", about {duration(left)} left"
    return text
