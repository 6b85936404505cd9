"""The primitive transform_layout: change the layout of a buffer."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from irkit.core import ScheduleError, Span, rewrite
from irkit.ir import (
    Allocate,
    Buffer,
    Expr,
    Interval,
    Load,
    PrimFunc,
    Store,
    Var,
    as_int,
    bounds,
    const,
    index,
    replace_stmts,
    seq,
)
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.grid_eval import values_on_grid
from irkit.schedule.analysis.injective import undetermined
from irkit.schedule.arguments.index_map import IndexMap, image_of
from irkit.schedule.checks.block_buffers import own_buffer_written
from irkit.schedule.limits import MOST_PERMUTED
from irkit.schedule.rewrite.clone import new_name
from irkit.schedule.rewrite.nests import nest_over
from irkit.schedule.state.lookup import allocation, find_block


def transform_layout(
    func: PrimFunc, name: str, index_map: IndexMap, pad_value: int | float | None = None
) -> PrimFunc:
    """Change the layout of the buffer that a block writes: element ``i, j`` moves to
    ``index_map(i, j)``.

    Shapes: the new shape is the smallest box that contains the image of the old one, on which the
    map must be injective. Other elements of the box hold ``pad_value``, or are undefined with None.
    Raises: ScheduleError if the buffer is a parameter, or the image has no constant bounds; a
    dimension that is not constant can change places.
    """
    old = own_buffer_written(func, name)
    axes = [Var(f"i{at}", dim.dtype) for at, dim in enumerate(old.shape)]
    image = [index(item) for item in image_of(index_map, axes)]
    moved = _only_moved(image)
    dims = dict(zip(axes, old.shape, strict=True))
    if any(as_int(dim) is None and axis not in moved for axis, dim in dims.items()):
        raise ScheduleError(
            f"cannot transform the layout of {old.name!r}: its shape is not constant",
            hint="A dimension that is not constant can only change places.",
            at=find_block(func, name),
        )
    ranges = {axis: Interval(0, _less_one(dim)) for axis, dim in zip(axes, old.shape, strict=True)}
    shape: list[Expr] = []
    for item in image:
        if isinstance(item, Var) and item in moved:
            shape.append(dims[item])
            continue
        box = bounds(item, ranges)
        if box.low is None or box.high is None or box.low < 0:
            raise ScheduleError(
                f"the index map of {old.name!r} is negative or has no constant bounds"
            )
        shape.append(const(box.high + 1, item.dtype))
    _check_injective(old, image, axes)
    new = Buffer(old.name, tuple(shape), old.dtype, old.scope, None, old.align, old.span)

    def place(indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        # Not simplified here: that would reduce the 55 of `(y * 55 + x) % 32` before y and x become
        # loops.
        return tuple(index(item) for item in image_of(index_map, indices))

    def move(node: Load | Store | Allocate) -> Load | Store | Allocate | None:
        if node.buffer is not old:
            return None
        if isinstance(node, Allocate):
            return node.replace(buffer=new)
        return node.replace(buffer=new, indices=place(node.indices))

    made = rewrite(func, move, on=(Load, Store, Allocate))
    is_onto = math.prod(_sizes(new)) == math.prod(_sizes(old))
    return made if pad_value is None or is_onto else _padded(made, name, new, pad_value)


def _only_moved(image: Sequence[Expr]) -> set[Var]:
    """Return the variables that are one item of an image, and in no other."""
    counts = Counter(var for item in image for var in variables(item))
    return {item for item in image if isinstance(item, Var) and counts[item] == 1}


def _sizes(buffer: Buffer) -> list[int]:
    """List the constant dimensions; the others only change places."""
    return [size for dim in buffer.shape if (size := as_int(dim)) is not None]


def _padded(func: PrimFunc, name: str, buffer: Buffer, value: int | float) -> PrimFunc:
    """Fill a buffer with a value before its first use."""
    home, block = allocation(func, buffer), find_block(func, name)
    assert home is not None
    if buffer.dtype.is_float or (isinstance(value, int) and buffer.dtype.is_integer):
        filling = const(value, buffer.dtype)
    else:
        raise ScheduleError(
            f"{buffer.name!r} of type {buffer.dtype} cannot hold {value!r}", at=block
        )
    span = Span("schedule", "transform_layout", parent=block.span)
    made = new_name(func, f"{name}_pad")
    fill = nest_over(made, buffer.shape, lambda at: Store(buffer, at, filling), span)
    return replace_stmts(func, {home: home.replace(body=seq(fill, home.body))})


def _check_injective(buffer: Buffer, image: Sequence[Expr], axes: Sequence[Var]) -> None:
    """Check that no two elements have the same image.

    Axes about which algebra says nothing are enumerated; those that share no part of the image
    separately, which keeps the grids small.
    """
    dims = dict(zip(axes, map(as_int, buffer.shape), strict=True))
    for group, _ in undetermined(image, dims):
        sizes = [(dim or 1) if axis in group else 1 for axis, dim in dims.items()]
        count = math.prod(sizes)
        if count > MOST_PERMUTED:
            raise ScheduleError(f"the layout of {buffer.name!r} has too many elements to check")
        code = np.zeros(count, dtype=np.int64)
        grid = dict(zip(axes, np.indices(sizes).reshape(len(sizes), -1), strict=True))
        for item in image:
            place = values_on_grid(item, grid)
            if place is None:
                raise ScheduleError(
                    f"the index map of {buffer.name!r} uses more than integer arithmetic"
                )
            code = code * (int(place.max(initial=0)) + 1) + np.broadcast_to(place, (count,))
        if len(np.unique(code)) != count:
            raise ScheduleError(
                f"the index map of {buffer.name!r} maps two elements to the same place"
            )


def _less_one(dim: Expr) -> int | None:
    number = as_int(dim)
    return None if number is None else number - 1
