"""Which device the networks run on, and how many CPU threads they may use."""

from __future__ import annotations

import os

import torch

from store.errors import AmagoError


def resolve_device(name: str) -> torch.device:
    """The device behind "auto", "cpu" or "cuda"; AmagoError when CUDA is asked for and missing."""
    if name == "cuda" and not torch.cuda.is_available():
        raise AmagoError("no CUDA device is available; use --device cpu or --device auto")
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)


def learner_threads() -> int:
    """CPU threads for the learner: one core is left to the collector, whose threads would otherwise be in the way."""
    return max(1, (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) - 1)
