"""The condition that a view is inside the memory of its source.

It does not overflow for any sizes, since it divides by them instead of multiplying.
"""

from irkit.ir import (
    I64,
    Buffer,
    Expr,
    View,
    as_int,
    convert,
    element_count,
    floordiv,
    ge,
    le,
    logical_or,
    maximum,
    strided_count,
)


def view_problem(view: View) -> tuple[list[Expr], str, tuple[Expr, ...]]:
    """Return the conditions, the message if they do not hold, and the values in the message."""
    buffer, offset = view.buffer, convert(view.offset, I64)
    room = _size(view.source)
    left = room - offset
    empty = [le(convert(dim, I64), 0) for dim in buffer.shape if as_int(dim) is None]
    fits = _fits(buffer, left) if not _is_empty(buffer) else []
    conds = [ge(offset, 0), ge(left, 0), *(logical_or(*empty, cond) for cond in fits)]
    name, source = (each.name.replace("{}", "{ }") for each in (buffer, view.source))
    message = f"view {name!r} of {source!r} does not fit: it begins at element {{}} of {{}}, "
    message += f"and its shape is [{', '.join(['{}'] * buffer.rank)}]"
    return conds, message, (offset, room, *buffer.shape)


def _is_empty(buffer: Buffer) -> bool:
    return any((as_int(dim) or 0) <= 0 for dim in buffer.shape if as_int(dim) is not None)


def _size(buffer: Buffer) -> Expr:
    """Return the number of elements that a buffer spans."""
    if buffer.strides is None:
        return element_count(buffer.shape)
    return strided_count(buffer.shape, buffer.strides)


def _fits(buffer: Buffer, left: Expr) -> list[Expr]:
    """Return the condition that a shape which is not empty fits into ``left`` elements."""
    conds: list[Expr] = []
    if buffer.strides is None:
        known = 1
        for dim in buffer.shape:
            size = as_int(dim)
            known *= 1 if size is None else size
            if size is None:
                left = floordiv(left, maximum(convert(dim, I64), 1))
        return [ge(left, known)] if known < 1 << 62 else [ge(left, 1 << 62)]
    left = left - 1
    for dim, stride in zip(buffer.shape, buffer.strides, strict=True):
        steps, step = convert(dim, I64) - 1, convert(stride, I64)
        conds += [
            ge(step, 0),
            logical_or(le(step, 0), le(steps, floordiv(left, maximum(step, 1)))),
        ]
        left = left - steps * step
    return [*conds, ge(left, 0)]
