"""What a training run takes of the machine."""

from __future__ import annotations

import os
from contextlib import suppress

import psutil
import torch


def memory_bytes() -> int:
    """Resident memory of this process and its children; what they share is counted for each of them."""
    myself = psutil.Process()
    total = 0
    for process in (myself, *myself.children(recursive=True)):
        with suppress(psutil.Error):  # it has just ended
            total += process.memory_info().rss
    return total


def spare_cores() -> int:
    """The cores that this process may use but one, on which rollouts are played; at least one.

    Threads that wait for each other are slow when there are more of them than free cores: ten times as slow as one.
    """
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        usable = os.cpu_count() or 1
    return max(usable - 1, 1)


def gpu_bytes(device: torch.device) -> int:
    """Memory of a CUDA device that this process has reserved for tensors."""
    return torch.cuda.memory_reserved(device)


def device_name(device: torch.device) -> str:
    """'cpu', or 'cuda (NVIDIA A100)'."""
    return f"cuda ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else device.type
