"""Pooling of images, channels first."""

from collections.abc import Sequence
from typing import Any

from irkit.core import ShapeError
from irkit.frontend.nn import functional as F
from irkit.frontend.nn.module import Module
from irkit.graph import TensorExpr

Extents = int | Sequence[int]


class _Pool2d(Module):
    """A window over images; the stride is that of the window unless it is given."""

    operator = ""

    def __init__(
        self,
        kernel_size: Extents,
        stride: Extents | None = None,
        padding: Extents = 0,
        ceil_mode: bool = False,
    ) -> None:
        self.kernel = F.per_axis("kernel_size", kernel_size, 2)
        self.stride = F.per_axis("stride", self.kernel if stride is None else stride, 2)
        self.padding = F.per_axis("padding", padding, 2)
        self.ceil_mode = ceil_mode

    def attrs(self) -> dict[str, Any]:
        """Return the attributes of the operator."""
        return {
            "kernel": self.kernel, "strides": self.stride, "ceil_mode": self.ceil_mode,
            "pads": (*self.padding, *self.padding),
        }  # fmt: skip

    def forward(self, x: TensorExpr) -> TensorExpr:
        return F.apply(self.operator, x, **self.attrs())


class MaxPool2d(_Pool2d):
    """The largest element of each window."""

    operator = "max_pool"


class AvgPool2d(_Pool2d):
    """The mean of each window; padding counts unless ``count_include_pad`` is False."""

    operator = "avg_pool"

    def __init__(
        self,
        kernel_size: Extents,
        stride: Extents | None = None,
        padding: Extents = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode)
        self.count_include_pad = count_include_pad

    def attrs(self) -> dict[str, Any]:
        """Return the attributes of the operator."""
        return {**super().attrs(), "count_include_pad": self.count_include_pad}


class AdaptiveAvgPool2d(Module):
    """Means such that the result has a size that divides that of the images."""

    def __init__(self, output_size: Extents = 1) -> None:
        self.size = F.per_axis("output_size", output_size, 2)

    def forward(self, x: TensorExpr) -> TensorExpr:
        extents = x.shape[2:]
        if any(extent % size for extent, size in zip(extents, self.size, strict=True)):
            raise ShapeError(
                f"AdaptiveAvgPool2d to {self.size} needs extents that are multiples of it, found "
                f"{extents}",
                hint="Use AvgPool2d with a window of its own.",
            )
        if self.size == (1, 1):
            return x.mean(2, 3, keepdims=True)
        window = tuple(extent // size for extent, size in zip(extents, self.size, strict=True))
        return F.apply("avg_pool", x, kernel=window, strides=window)
