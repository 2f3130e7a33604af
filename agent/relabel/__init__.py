"""Hindsight instruction relabelling: learn from a trajectory as if it had been asked for what it did.

Knows instructions and the events of a trajectory, not which environment made them nor what learns from them.
"""

from agent.relabel.hindsight import Hindsight, Relabelled, relabel
from agent.relabel.statistics import GoalStatistics

__all__ = ["GoalStatistics", "Hindsight", "Relabelled", "relabel"]
