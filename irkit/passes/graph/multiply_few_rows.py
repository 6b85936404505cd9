"""Multiply a few rows by a matrix as it lies in memory, rather than by a copy in another layout.

Before::

    def main(q: f32[2, 1, 8], k: f32[2, 64, 8]):
        t: f32[2, 8, 64] = transpose(k, axes=(0, 2, 1))
        y: f32[2, 1, 64] = matmul(q, t)
        return y

After::

    def main(q: f32[2, 1, 8], k: f32[2, 64, 8]):
        t: f32[2, 8, 64] = transpose(k, axes=(0, 2, 1))
        y_expand_dims: f32[2, 1, 1, 8] = expand_dims(q, axes=(2,))
        y_expand_dims_1: f32[2, 1, 64, 8] = expand_dims(k, axes=(1,))
        y_multiply: f32[2, 1, 64, 8] = multiply(y_expand_dims, y_expand_dims_1)
        y: f32[2, 1, 64] = sum(y_multiply, axes=(3,))
        return y

A copy costs as much as the product, if there are few rows: so it is when a decoder attends to the
keys of all tokens before, which a cache holds.
"""

from math import prod

from irkit.graph import (
    GraphFunc,
    Match,
    Replacement,
    Value,
    apply_rules,
    attributes,
    dtype_of_value,
    extents_of,
    graph_rule,
    hole,
    op,
)
from irkit.ir import F32, F64
from irkit.transform import define_pass

_MOST_ROWS = 4
"""Each row reads the matrix once more."""


@define_pass(idempotent=True, changes_rounding=True)
def multiply_few_rows(func: GraphFunc) -> GraphFunc:
    """Multiply at most 4 rows by a transposed matrix with a sum along both, and larger operands in
    the shape that they had before their first axes were joined."""
    return apply_rules(func, "multiply-few-rows", _RULES)


def _is_plain(value: Value) -> bool:
    return dtype_of_value(value) in (F32, F64)


def _sum(b: Replacement, m: Match) -> Value | None:
    """Sum products along the last axis of both operands."""
    x, y = m["x"], m["y"]
    axes, rows = attributes(m.op("turned")).ints("axes"), extents_of(x)
    rank = len(axes)
    last = (*range(rank - 2), rank - 1, rank - 2)
    if axes != last or len(rows) < 2 or rows[-2] is None or not 1 <= rows[-2] <= _MOST_ROWS:
        return None
    wide = b.op("expand_dims", x, axes=(len(rows) - 1,))
    matrix = b.op("expand_dims", y, axes=(rank - 2,))
    product = b.op("multiply", wide, matrix)
    return b.op("sum", product, axes=(len(extents_of(product)) - 1,))


def _unjoined(b: Replacement, m: Match) -> Value | None:
    """Multiply in the shape of the larger operand before its leading axes were joined."""
    x, y = m["x"], m["y"]
    rows, whole, joined = (_known(each) for each in (x, y, m.bindings["joined"].var))
    shape = _known(m.root.var)
    if rows is None or whole is None or joined is None or shape is None or len(rows) < 2:
        return None
    same = whole[-2:] == joined[-2:] and rows[:-2] == joined[:-2] and len(whole) > len(joined)
    if not same or prod(rows) + prod(shape) >= prod(whole):
        return None
    apart = b.op("reshape", x, shape=(*whole[:-2], *rows[-2:]))
    return b.op("reshape", b.op("matmul", apart, y), shape=shape)


def _known(value: Value) -> tuple[int, ...] | None:
    """Return the extents of a tensor if all are numbers."""
    found = extents_of(value)
    numbers = tuple(extent for extent in found if extent is not None)
    return numbers if len(numbers) == len(found) else None


_ROWS = hole("x", _is_plain)
_RULES = (
    graph_rule(
        "keep-axes-apart", op("matmul", _ROWS, op("reshape", hole("y"), name="joined")), _unjoined
    ),
    graph_rule(
        "sum-of-products", op("matmul", _ROWS, op("transpose", hole("y"), name="turned")), _sum
    ),
)
