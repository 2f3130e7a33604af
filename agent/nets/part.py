"""What encodes one entry of an observation."""

from torch import Tensor, nn


class Part(nn.Module):
    """One entry of the observation, (B, T, ...) to features (B, T, width)."""

    width: int

    def update(self, x: Tensor, valid: Tensor) -> None:
        """Take in training data, where a part keeps statistics."""
