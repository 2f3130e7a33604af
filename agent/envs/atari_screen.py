"""Pictures of an Atari screen, made smaller: every new pixel is the mean of the area that it covers."""

import numpy as np

HEIGHT, WIDTH = 210, 160
"""Of the screen, in pixels."""
SIDE = 84
"""Of the smaller picture."""


def shrink(screen: np.ndarray) -> np.ndarray:
    """(210, 160, 3) uint8 to (84, 84, 3) uint8."""
    rows = screen.reshape(HEIGHT, WIDTH * 3).astype(np.float32)
    return np.rint(_DOWN @ rows @ _ACROSS).astype(np.uint8).reshape(SIDE, SIDE, 3)


def _shares(before: int, after: int) -> np.ndarray:
    """(after, before): the share of each old pixel in each new one, along one axis."""
    edges = np.linspace(0, before, after + 1)
    pixels = np.arange(before)
    covered = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    return (np.maximum(covered, 0) * after / before).astype(np.float32)


_DOWN = _shares(HEIGHT, SIDE)
_ACROSS = np.kron(_shares(WIDTH, SIDE).T, np.eye(3, dtype=np.float32))  # the colours side by side: one fast product
