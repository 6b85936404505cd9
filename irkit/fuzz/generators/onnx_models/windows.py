"""Pooling in plain loops, in place of the operators of onnx.reference.

Those read past the end of one axis, take the pads of one axis for those of another, put all
SAME_LOWER pads on the wrong side, and disagree with ONNX Runtime about ``ceil_mode``.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from onnx.reference.op_run import OpRun


class WindowAxis(msgspec.Struct, frozen=True):
    """The window along one axis: ``begin`` and ``end`` are the widths of the padding."""

    extent: int
    kernel: int
    stride: int = 1
    dilation: int = 1
    begin: int = 0
    end: int = 0

    @property
    def span(self) -> int:
        return (self.kernel - 1) * self.dilation + 1

    def same(self, *, upper: bool) -> "WindowAxis":
        """Pad so that there is a window for each stride that begins in the input."""
        windows = -(-self.extent // self.stride)
        total = max((windows - 1) * self.stride + self.span - self.extent, 0)
        small, large = total // 2, total - total // 2
        begin, end = (small, large) if upper else (large, small)
        return msgspec.structs.replace(self, begin=begin, end=end)

    def windows(self, *, ceil_mode: bool = False) -> int:
        """Count the windows; with ``ceil_mode`` the last must begin before the padding after."""
        room = self.begin + self.extent + self.end - self.span
        count = (-(-room // self.stride) if ceil_mode else room // self.stride) + 1
        begins_late = (count - 1) * self.stride >= self.begin + self.extent
        return count - 1 if ceil_mode and begins_late else count

    def places(self, window: int) -> list[int]:
        """List the positions in a window; the first element of the input is at 0."""
        start = window * self.stride - self.begin
        return [start + step * self.dilation for step in range(self.kernel)]


def axes_of(spatial: Sequence[int], attrs: dict[str, Any]) -> list[WindowAxis]:
    """Read the attributes of a node."""
    rank = len(spatial)
    ones, pads = [1] * rank, attrs.get("pads") or [0] * (2 * rank)
    kernel = attrs["kernel_shape"]
    strides, dilations = attrs.get("strides") or ones, attrs.get("dilations") or ones
    auto = attrs.get("auto_pad") or "NOTSET"
    axes = [WindowAxis(*each) for each in zip(spatial, kernel, strides, dilations, strict=True)]
    if auto.startswith("SAME"):
        return [axis.same(upper=auto == "SAME_UPPER") for axis in axes]
    if auto == "VALID":
        return axes
    around = zip(axes, pads[:rank], pads[rank:], strict=True)
    return [msgspec.structs.replace(axis, begin=b, end=e) for axis, b, e in around]


def _windows(
    shape: tuple[int, ...], attrs: dict[str, Any]
) -> Iterator[tuple[Any, tuple[Any, ...], int]]:
    """List, for each window, its index in the result, its elements of the input, and how many
    elements it has including padding."""
    axes = axes_of(shape[2:], attrs)
    ceil = bool(attrs.get("ceil_mode"))
    for window in np.ndindex(*(axis.windows(ceil_mode=ceil) for axis in axes)):
        pairs = [(axis, axis.places(at)) for axis, at in zip(axes, window, strict=True)]
        inside = [[at for at in places if 0 <= at < axis.extent] for axis, places in pairs]
        padded = [
            sum(-axis.begin <= at < axis.extent + axis.end for at in places)
            for axis, places in pairs
        ]
        taken = np.ix_(range(shape[0]), range(shape[1]), *inside)
        yield (slice(None), slice(None), *window), taken, int(np.prod(padded))


def _room(x: NDArray[Any], attrs: dict[str, Any], dtype: Any) -> NDArray[Any]:
    ceil = bool(attrs.get("ceil_mode"))
    counts = (axis.windows(ceil_mode=ceil) for axis in axes_of(x.shape[2:], attrs))
    return np.zeros((*x.shape[:2], *counts), dtype)


class MaxPool(OpRun):
    """Maximum of each window, and the position of its first maximum, counted along rows or along
    columns. Source: ONNX MaxPool-12."""

    op_domain = ""

    def _run(self, *args: Any, **attrs: Any) -> tuple[NDArray[Any], ...]:
        x = np.asarray(args[0])
        largest, places = _room(x, attrs, x.dtype), _room(x, attrs, np.int64)
        numbers = np.arange(x.size).reshape(x.shape)
        if attrs.get("storage_order"):
            numbers = np.arange(x.size).reshape(*x.shape[:2], *x.shape[:1:-1])
            numbers = numbers.transpose(0, 1, *range(x.ndim - 1, 1, -1))
        for window, taken, _ in _windows(x.shape, attrs):
            found = x[taken].reshape(*x.shape[:2], -1)
            first = found.argmax(axis=2)[..., None]
            largest[window] = np.take_along_axis(found, first, 2)[..., 0]
            where = numbers[taken].reshape(*x.shape[:2], -1)
            places[window] = np.take_along_axis(where, first, 2)[..., 0]
        return (largest, places)[: len(self.onnx_node.output)]


class AveragePool(OpRun):
    """Mean of each window. Source: ONNX AveragePool-11, as ONNX Runtime reads it."""

    op_domain = ""

    def _run(self, *args: Any, **attrs: Any) -> tuple[NDArray[Any]]:
        x = np.asarray(args[0])
        made = _room(x, attrs, x.dtype)
        for window, taken, padded in _windows(x.shape, attrs):
            found = x[taken].reshape(*x.shape[:2], -1)
            count = padded if attrs.get("count_include_pad") else found.shape[2]
            made[window] = found.sum(axis=2) / max(count, 1)
        return (made,)


PLAIN_OPERATORS: tuple[type[OpRun], ...] = (MaxPool, AveragePool)
