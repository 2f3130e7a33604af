"""The convolutional networks that see images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from torch import Tensor, nn

from agent.nets.part import Part
from agent.nets.transformer import NEGATIVE_SLOPE

_NATURE_LAYERS = ((8, 4, 2), (4, 2, 1), (3, 1, 1))  # size of the kernel, stride, padding


class Eye(NamedTuple):
    """Which network sees images, and the channels of its stages: multiples of four, for Nature's three of them."""

    network: Literal["impala", "nature"]
    channels: Sequence[int]


class ResidualConv(nn.Module):
    """x + conv(norm(conv(norm(x))))."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(
                layer
                for _ in range(2)
                for layer in (
                    nn.GroupNorm(4, channels),
                    nn.LeakyReLU(NEGATIVE_SLOPE),
                    nn.Conv2d(channels, channels, 3, padding=1),
                )
            )
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x)


class Image(Part):
    """uint8 images (H, W, C) through one of the networks, then a linear layer.

    The IMPALA network (Espeholt et al. 2018) halves the image at every stage. Nature's (Mnih et al. 2015) divides it by
    eight at once: a seventh of the work, and small things are lost on it.
    """

    def __init__(self, height: int, width: int, channels: int, d_out: int, eye: Eye) -> None:
        """ValueError for an image of less than 8 x 8 pixels and Nature's network."""
        super().__init__()
        layers: list[nn.Module]
        if eye.network == "nature":
            if min(height, width) < 8:
                raise ValueError(f"an image of {height} x {width} pixels is too small for the network 'nature'")
            layers, rows, columns = _nature(channels, eye.channels), height // 4 // 2, width // 4 // 2
        else:
            shrink = 2 ** len(eye.channels)
            layers, rows, columns = _impala(channels, eye.channels), -(-height // shrink), -(-width // shrink)
        self.body = nn.Sequential(*layers, nn.LeakyReLU(NEGATIVE_SLOPE), nn.Flatten())
        self.out = nn.Linear(eye.channels[-1] * rows * columns, d_out)
        self.width = d_out

    def forward(self, x: Tensor) -> Tensor:
        pixels = x.flatten(0, 1).permute(0, 3, 1, 2).float() / 255.0 - 0.5
        return self.out(self.body(pixels)).unflatten(0, x.shape[:2])


def _impala(channels: int, stages: Sequence[int]) -> list[nn.Module]:
    layers: list[nn.Module] = []
    for wide in stages:
        layers += [
            nn.Conv2d(channels, wide, 3, padding=1),
            nn.MaxPool2d(3, stride=2, padding=1),
            ResidualConv(wide),
            ResidualConv(wide),
        ]
        channels = wide
    return layers


def _nature(channels: int, stages: Sequence[int]) -> list[nn.Module]:
    """Without the last stage's nonlinearity."""
    layers: list[nn.Module] = []
    for wide, (size, stride, padding) in zip(stages, _NATURE_LAYERS, strict=True):
        layers += [nn.Conv2d(channels, wide, size, stride, padding), nn.LeakyReLU(NEGATIVE_SLOPE)]
        channels = wide
    return layers[:-1]
