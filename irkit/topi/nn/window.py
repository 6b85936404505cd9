"""Windows that slide over the spatial axes, for convolution and pooling."""

from collections.abc import Sequence

import msgspec

from irkit import ir
from irkit.core import ShapeError, user_span
from irkit.ir import Expr, ExprLike
from irkit.te import IterVar, Tensor, reduce_axis
from irkit.topi.extents import Dim, ceil_divide, extents, larger, minus, plus, smaller, times
from irkit.topi.shape import pad


class Window(msgspec.Struct, frozen=True):
    """A window over the spatial axes, with one entry for each of them."""

    kernel: tuple[Dim, ...]
    strides: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    dilations: tuple[int, ...]

    def sizes(self, dims: Sequence[Dim], *, ceil_mode: bool = False) -> tuple[Dim, ...]:
        """Return the number of positions of the window along each axis.

        With ``ceil_mode`` a window can extend beyond the padding, if it begins before its end.
        """
        sizes = (self._size(axis, dim, ceil_mode) for axis, dim in enumerate(dims))
        # A sum, so that n + 2 - 3 + 1 simplifies to n, which may be the extent of another operand.
        return tuple(size if isinstance(size, int) else ir.simplify(size) for size in sizes)

    def _size(self, axis: int, dim: Dim, ceil_mode: bool) -> Dim:
        stride = self.strides[axis]
        room = minus(plus(dim, self.begins[axis] + self.ends[axis]), self.reach(axis))
        if not ceil_mode:
            return plus(room // stride if stride > 1 else room, 1)
        began = minus(ceil_divide(plus(dim, self.begins[axis]), stride), 1)
        return plus(smaller(ceil_divide(room, stride), began), 1)

    def reach(self, axis: int) -> Dim:
        """Return the distance from the first element of a window to one past the last."""
        return plus(times(minus(self.kernel[axis], 1), self.dilations[axis]), 1)

    def axes(self) -> tuple[IterVar, ...]:
        """Make the reduce axes that run over the window."""
        return tuple(reduce_axis((0, size), name=f"r{at}") for at, size in enumerate(self.kernel))

    def points(self, places: Sequence[Expr], inside: Sequence[Expr]) -> list[Expr]:
        """Return the index of the padded input, given the position of the window and the position
        inside it."""
        return [
            _scaled(place, stride) + _scaled(k, dilation)
            for place, k, stride, dilation in zip(
                places, inside, self.strides, self.dilations, strict=True
            )
        ]

    def padded(
        self, x: Tensor, sizes: Sequence[Dim], value: ExprLike, *, ceil_mode: bool
    ) -> Tensor:
        """Pad the spatial axes, with ``ceil_mode`` as far as windows reach; return ``x`` itself if
        nothing is to be padded."""
        before, after = [0, 0, *self.begins], list[Dim]((0, 0, *self.ends))
        for axis, dim in enumerate(extents(x)[2:] if ceil_mode else ()):
            last = plus(times(minus(sizes[axis], 1), self.strides[axis]), self.reach(axis))
            over = minus(minus(last, dim), self.begins[axis])
            after[2 + axis] = larger(over, self.ends[axis])
        if not any(before) and all(width == 0 for width in after):
            return x
        return pad(x, before, after, value)


def _scaled(index: Expr, factor: int) -> Expr:
    return index if factor == 1 else index * factor


def window(
    kernel: Sequence[Dim],
    strides: Sequence[int] | None,
    pads: Sequence[int] | None,
    dilations: Sequence[int] | None,
    what: str,
) -> Window:
    """Make a window; by default strides and dilations are 1, without padding.

    ``pads`` holds the widths before each spatial axis, then those after each.
    Raises: ShapeError if a list has the wrong length, or a stride or dilation is below 1.
    """
    rank = len(kernel)
    each = tuple(strides) if strides is not None else (1,) * rank
    wide = tuple(dilations) if dilations is not None else (1,) * rank
    around = tuple(pads) if pads is not None else (0,) * (2 * rank)
    if len(each) != rank or len(wide) != rank or len(around) != 2 * rank:
        raise ShapeError(
            f"{what}: {rank} spatial axes need {rank} strides and dilations and {2 * rank} pads, "
            f"found {len(each)}, {len(wide)} and {len(around)}",
            span=user_span(what),
        )
    if min((*each, *wide), default=1) < 1 or min(around, default=0) < 0:
        raise ShapeError(
            f"{what}: strides {each} and dilations {wide} must be positive, and pads {around} "
            "must not be negative",
            span=user_span(what),
        )
    return Window(tuple(kernel), each, around[:rank], around[rank:], wide)


def check_sizes(sizes: Sequence[Dim], what: str) -> None:
    """Check that a window fits at least once along each axis of known extent.

    Raises: ShapeError naming the axis.
    """
    for axis, size in enumerate(sizes):
        if isinstance(size, int) and size < 1:
            raise ShapeError(
                f"{what}: the window does not fit along spatial axis {axis}", span=user_span(what)
            )


def as_float(number: Dim, like: Tensor) -> Expr:
    """Convert an extent to the element type of a tensor."""
    return ir.cast(ir.index(number), like.dtype)
