"""What convolution and pooling share: windows that slide over the spatial axes."""

from collections.abc import Sequence

import msgspec

from irkit import ir
from irkit.core import ShapeError, user_span
from irkit.ir import Expr, ExprLike
from irkit.te import IterVar, Tensor, reduce_axis
from irkit.topi.extents import Dim, ceil_divide, extents, larger, minus, plus, smaller, times
from irkit.topi.shape import pad


class Window(msgspec.Struct, frozen=True):
    """A window over the spatial axes: one entry for each of them."""

    kernel: tuple[Dim, ...]
    strides: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    dilations: tuple[int, ...]

    def sizes(self, dims: Sequence[Dim], *, ceil_mode: bool = False) -> tuple[Dim, ...]:
        """Count the places of the window along each axis.

        With ``ceil_mode`` a window may reach beyond the padding, if it begins before it.
        """
        sizes = (self._size(axis, dim, ceil_mode) for axis, dim in enumerate(dims))
        # As sums, so that n + 2 - 3 + 1 is n, which may be the extent of another operand.
        return tuple(size if isinstance(size, int) else ir.simplify(size) for size in sizes)

    def _size(self, axis: int, dim: Dim, ceil_mode: bool) -> Dim:
        stride = self.strides[axis]
        room = minus(plus(dim, self.begins[axis] + self.ends[axis]), self.reach(axis))
        if not ceil_mode:
            return plus(room // stride if stride > 1 else room, 1)
        began = minus(ceil_divide(plus(dim, self.begins[axis]), stride), 1)
        return plus(smaller(ceil_divide(room, stride), began), 1)

    def reach(self, axis: int) -> Dim:
        """Give the distance between the first and one beyond the last element of a window."""
        return plus(times(minus(self.kernel[axis], 1), self.dilations[axis]), 1)

    def axes(self) -> tuple[IterVar, ...]:
        """Make the reduce axes that run over the window."""
        return tuple(reduce_axis((0, size), name=f"r{at}") for at, size in enumerate(self.kernel))

    def points(self, places: Sequence[Expr], inside: Sequence[Expr]) -> list[Expr]:
        """Find the points of the padded input, from the place of the window and in it."""
        return [
            _scaled(place, stride) + _scaled(k, dilation)
            for place, k, stride, dilation in zip(
                places, inside, self.strides, self.dilations, strict=True
            )
        ]

    def padded(
        self, x: Tensor, sizes: Sequence[Dim], value: ExprLike, *, ceil_mode: bool
    ) -> Tensor:
        """Surround the spatial axes, with ``ceil_mode`` as far as windows reach; without need, it
        is ``x`` itself."""
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
    """Fill in what was left out: strides and dilations of 1, no padding.

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
            f"{what}: strides {each} and dilations {wide} must be positive, pads {around} not "
            "negative",
            span=user_span(what),
        )
    return Window(tuple(kernel), each, around[:rank], around[rank:], wide)


def check_sizes(sizes: Sequence[Dim], what: str) -> None:
    """Hold that a window fits at least once along each axis that is known.

    Raises: ShapeError naming the axis.
    """
    for axis, size in enumerate(sizes):
        if isinstance(size, int) and size < 1:
            raise ShapeError(
                f"{what}: the window does not fit along spatial axis {axis}", span=user_span(what)
            )


def as_float(number: Dim, like: Tensor) -> Expr:
    """Write an extent as a number of the type of a tensor."""
    return ir.cast(ir.index(number), like.dtype)
