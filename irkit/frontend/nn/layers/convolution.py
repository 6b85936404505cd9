"""Convolutions, channels first."""

from collections.abc import Sequence
from math import prod

from irkit.core import ShapeError
from irkit.frontend.nn import functional as F
from irkit.frontend.nn.module import Module
from irkit.frontend.nn.parameter import Parameter, uniform
from irkit.graph import TensorExpr

Extents = int | Sequence[int]


class Convolution(Module):
    """A convolution over ``spatial`` axes; what is common to Conv1d, Conv2d and Conv3d.

    Shapes: x [N, in_channels, *spatial] -> [N, out_channels, *windows].
    """

    spatial = 0

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Extents,
        stride: Extents = 1,
        padding: Extents = 0,
        dilation: Extents = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: str = "f32",
    ) -> None:
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ShapeError(
                f"{in_channels} and {out_channels} channels are not multiples of {groups} groups"
            )
        kernel = F.per_axis("kernel_size", kernel_size, self.spatial)
        inner = in_channels // groups
        first = uniform(inner * prod(kernel))
        self.weight = Parameter((out_channels, inner, *kernel), dtype, initial=first)
        self.bias = Parameter((out_channels,), dtype, initial=first) if bias else None
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.groups = groups

    def forward(self, x: TensorExpr) -> TensorExpr:
        return F.conv(
            x, self.weight, self.bias, stride=self.stride, padding=self.padding,
            dilation=self.dilation, groups=self.groups,
        )  # fmt: skip

    def extra_text(self) -> str:
        filters, inner, *kernel = self.weight.shape
        return f"{inner * self.groups}, {filters}, kernel_size={tuple(kernel)}"


class Conv1d(Convolution):
    """A convolution over one axis."""

    spatial = 1


class Conv2d(Convolution):
    """A convolution over images."""

    spatial = 2


class Conv3d(Convolution):
    """A convolution over volumes."""

    spatial = 3
