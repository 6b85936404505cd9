"""Intrinsic functions by how generators can apply them: names, from the rows of ``INTRINSICS``; and
the operations on two operands, from ``OPERATIONS``."""

from math import inf

from irkit.ir import F32, I32, INTRINSICS, OPERATIONS, And, Binary, Compare, Intrinsic, Or


def _named(rows: list[Intrinsic]) -> tuple[str, ...]:
    return tuple(row.name for row in rows)


_VALUES = [row for row in INTRINSICS.values() if row.on != "effect"]
_ON_FLOATS = [row for row in _VALUES if row.accepts(F32)]
_OF_ONE_FLOAT = [row for row in _ON_FLOATS if row.arity == 1 and row.gives == "same"]
_ON_INTEGERS = [row for row in _VALUES if row.accepts(I32)]

ON_FLOATS = _named(_ON_FLOATS)
ROUNDED = _named([row for row in _OF_ONE_FLOAT if row.ulps > 0])
"""Functions of one float whose results are rounded; to be drawn where they are smooth."""
WHOLE = _named([row for row in _OF_ONE_FLOAT if row.ulps == 0])
"""Functions of one float that keep whole numbers whole."""
ON_INTEGERS = _named(_ON_INTEGERS)
TESTS = _named([row for row in _ON_FLOATS if row.gives == "bool"])
OF_ONE_INTEGER = _named([row for row in _ON_INTEGERS if row.arity == 1])
OF_TWO_INTEGERS = _named([row for row in _ON_INTEGERS if row.arity == 2])


def _operations(kind: str) -> tuple[type[Binary], ...]:
    """Return the operations whose operands and result are of a kind."""
    return tuple(
        cls for cls, row in OPERATIONS.items() if kind in row.kinds and not issubclass(cls, Compare)
    )


INTEGER_OPERATIONS = _operations("i")
EAGER_BOOL_OPERATIONS = tuple(cls for cls in _operations("bool") if cls not in (And, Or))
"""Operations on bools that evaluate both sides."""


def smooth_part(name: str) -> tuple[float | None, float | None]:
    """Return where a function of one float is finite, smooth and small: from a number on, or within
    a number of 0 on both sides; None is no limit."""
    low, high = INTRINSICS[name].smooth
    assert high == inf or low == -high
    if high < inf:
        return None, high
    return (low if low > -inf else None), None
