"""Which device the networks run on."""

from __future__ import annotations

import torch

from store.errors import AmagoError


def resolve_device(name: str) -> torch.device:
    """The device behind "auto", "cpu" or "cuda"; AmagoError when CUDA is asked for and missing."""
    if name == "cuda" and not torch.cuda.is_available():
        raise AmagoError("no CUDA device is available; use --device cpu or --device auto")
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)
