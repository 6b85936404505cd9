"""Operators that join, slice, pad, gather or fill: the gradient goes back to where the elements
came from."""

from math import prod

import numpy as np

from irkit.graph.differentiation.applied import AppliedOp, Rule, where
from irkit.graph.differentiation.rules.windows import apart
from irkit.graph.tensor import TensorExpr, operator
from irkit.ir import as_int


def _concat(op: AppliedOp) -> list[TensorExpr | None]:
    axis, begin, found = op.options.int("axis"), 0, list[TensorExpr | None]()
    for x in op.args:
        end = begin + x.extent(axis)
        found.append(operator("slice", op.dy, begins=(begin,), ends=(end,), axes=(axis,)))
        begin = end
    return found


def _slice(op: AppliedOp) -> list[TensorExpr | None]:
    """Put the elements back, zeros between and around them."""
    (x,), dx = op.args, op.dy
    names = ("begins", "ends", "strides", "axes")
    for begin, end, stride, axis in zip(*(op.options.ints(name) for name in names), strict=True):
        places = range(*slice(begin, end, stride).indices(x.extent(axis)))
        if not places:
            dx = operator("pad", dx, pads=_pads(dx.rank, axis, 0, x.extent(axis)))
            continue
        if places.step < 0:
            dx = dx[(*(slice(None),) * axis, slice(None, None, -1))]
            places = places[::-1]
        dx = apart(dx, axis, places.step)
        before, after = places[0], x.extent(axis) - places[-1] - places.step
        dx = operator("pad", dx, pads=_pads(dx.rank, axis, before, after))
    return [dx]


def _pads(rank: int, axis: int, before: int, after: int) -> tuple[int, ...]:
    pads = [0] * (2 * rank)
    pads[axis], pads[rank + axis] = before, after
    return tuple(pads)


def _pad(op: AppliedOp) -> list[TensorExpr | None]:
    """Crop what was padded, and pad what was cropped."""
    return [operator("pad", op.dy, pads=tuple(-pad for pad in op.options.ints("pads")))]


def _take(op: AppliedOp) -> list[TensorExpr | None]:
    """Add the gradients of all that came from one place: a product with a matrix that has 1 where
    an index names a place. A gradient that is not finite therefore reaches every place."""
    (x, indices), axis = op.args, op.options.int("axis")
    before, extent, after = x.shape[:axis], x.extent(axis), x.shape[axis + 1 :]
    known = [as_int(dim) for dim in indices.dims]
    number = -1 if None in known else prod(indices.shape)
    flat = indices.cast("i64").reshape(1, number)
    from_front = where(operator("less", flat, 0), flat + extent, flat)
    inside = operator("minimum", operator("maximum", from_front, 0), max(extent - 1, 0))
    rows = np.arange(extent, dtype=np.int64).reshape(extent, 1)
    chosen = operator("equal", inside, rows).cast(x.dtype)
    parts = op.dy.reshape(prod(before), number, prod(after))
    return [operator("matmul", chosen, parts).reshape(*x.shape), None]


def _scatter(op: AppliedOp) -> list[TensorExpr | None]:
    """Rows that were replaced, by later rows too, have no part in the result."""
    (x, indices, updates), axis = op.args, op.options.int("axis")
    number, count = indices.shape
    extents, rest = x.shape[axis : axis + count], x.shape[axis + count :]
    place, live = indices.cast("i64")[:, 0] * 0, None
    for at, extent in enumerate(extents):
        column = indices.cast("i64")[:, at]
        column = where(operator("less", column, 0), column + extent, column)
        inside = operator(
            "logical_and",
            operator("greater_equal", column, 0),
            operator("less", column, extent),
        )
        live = inside if live is None else operator("logical_and", live, inside)
        place = place * extent + column
    assert live is not None
    # A row outside has the number -1, which no other row has that matters.
    place = where(live, place, -1)
    same = operator("equal", place.reshape(number, 1), place.reshape(1, number))
    later = np.triu(np.ones((number, number), np.int64), 1)
    again = (same.cast("i64") * later).sum(1)
    live = operator("logical_and", live, operator("equal", again, 0))
    flat = op.dy.reshape(*x.shape[:axis], prod(extents), *rest)
    rows = operator("take", flat, place, axis=axis)
    mask = live.reshape(number, *(1,) * len(rest))
    zero = operator("full_like", updates, value=0)
    return [operator("scatter", op.dy, indices, zero, axis=axis), None, where(mask, rows, 0.0)]


INDEXING: dict[str, Rule] = {
    "concat": _concat,
    "slice": _slice,
    "pad": _pad,
    "take": _take,
    "scatter": _scatter,
    "full": lambda op: [],
    "full_like": lambda op: [None],
}
