"""Operators that compute each row of a tensor by itself: elementwise, or along the last axis."""

from math import prod

from irkit.graph import Op, TensorType, Value, attributes, extents_of, op_spec

_FEWEST = 16
"""Shorter rows are not worth a loop of their own."""
_MOST = 1 << 14
"""Longer rows do not stay in a cache, so others run at once in lanes as well."""

Rows = tuple[int, int]
"""The number of rows, and their length, 0 for one number a row."""


def rows_of(step: Op, value: Value) -> Rows | None:
    """Return the rows that an operator computes, each from the same row of its operands; None if it
    is another operator, or if an extent is not constant."""
    kind = op_spec(step.name).kind
    if kind == "reduction":
        return _reduced(step)
    if kind == "injective":
        return _rows(value) if _keeps_rows(step, value) else None
    made = _rows(value) if kind in ("elementwise", "broadcast") else None
    if made is None:
        return None
    return made if all(_is_read(arg, made[0]) for arg in step.args) else None


def _keeps_rows(step: Op, value: Value) -> bool:
    """Return True for a reshape, or a transpose of axes of one element, that leaves each row where
    it is."""
    if step.name not in ("reshape", "transpose"):
        return False
    before = extents_of(step.args[0])
    if step.name == "reshape":
        return bool(before) and before[-1:] == extents_of(value)[-1:]
    axes = attributes(step).ints("axes")
    moved = [axis for axis in axes if before[axis] != 1]
    return moved == sorted(moved) and axes[-1:] == (len(axes) - 1,)


def _reduced(step: Op) -> Rows | None:
    shape, options = extents_of(step.args[0]), attributes(step)
    if "axes" not in options or not options.flag("keepdims"):
        return None
    found = _rows(step.args[0])
    if options.ints("axes") != (len(shape) - 1,) or found is None or not found[1]:
        return None
    return found[0], 0


def _rows(value: Value) -> Rows | None:
    if not isinstance(value.type, TensorType):
        return None
    shape = extents_of(value)
    known = [extent for extent in shape if extent is not None]
    if len(shape) < 2 or len(known) != len(shape):
        return None
    *lead, last = known
    if last != 1 and not _FEWEST <= last <= _MOST:
        return None
    return prod(lead), 0 if last == 1 else last


def _is_read(value: Value, rows: int) -> bool:
    """Return True if an operand has the same rows, or one row for all."""
    shape = extents_of(value)
    return prod(extent or 0 for extent in shape[:-1]) in (1, rows)
