"""Random shifts of images: the augmentation of DrQ-v2 (Yarats et al. 2021), for training only."""

from __future__ import annotations

import torch
from torch import Tensor


def randomly_shifted(images: Tensor, most: int) -> Tensor:
    """`images` (B, T, H, W, C), each sequence moved by up to `most` pixels along both axes, the edges repeated.

    All images of a sequence move alike, so that what moves in it does so of itself. Draws come from torch's global
    generator; nothing is drawn for 0.
    """
    if most == 0:
        return images
    length, height, width = images.shape[1:4]
    rows, columns = (_sources(len(images), size, most).to(images.device) for size in (height, width))
    sequences = torch.arange(len(images), device=images.device)
    steps = torch.arange(length, device=images.device)
    return images[sequences[:, None, None, None], steps[:, None, None], rows[:, None, :, None], columns[:, None, None]]


def _sources(num_sequences: int, size: int, most: int) -> Tensor:
    """(B, size): from which pixel each one is taken along one axis."""
    shifts = torch.randint(-most, most + 1, (num_sequences, 1))
    return (torch.arange(size) + shifts).clamp(0, size - 1)
