"""Legal rules on floats."""

from irkit.core import substitute
from irkit.ir import (
    F16,
    F32,
    F64,
    Add,
    Expr,
    For,
    Max,
    Stmt,
    Store,
    Sub,
    as_int,
    call,
    cast,
    gt,
    hole,
    le,
    logical_not,
    logical_or,
    maximum,
    minimum,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each, reduce

entry = Entries("floats", legal=True)
x, y, z = hole("x", F32), hole("y", F32), hole("z", F32)


@entry(each("f32 f32 f32", "f32", "A[i] + B[i] + D[i]"))
def swap_terms(node: Add) -> Expr | None:
    """A sum of two does not depend on their order."""
    return Add(node.b, node.a, node.dtype)


entry.rule(
    "multiply by a half",
    "A half is a power of two.",
    each("f32", "f32", "A[i] / f32(2.0)"),
    x / 2.0,
    x * 0.5,
)
entry.rule(
    "turn a comparison round and ask for NaN",
    "What is not at most another is greater, or one of them is NaN.",
    each("f32 f32", "bool", "not (A[i] <= B[i])"),
    logical_not(le(x, y)),
    lambda x, y: logical_or(gt(x, y), call("isnan", x), call("isnan", y)),
)


@entry(each("f32 f32", "f32", "A[i] - B[i]"))
def add_the_negative(node: Sub) -> Expr | None:
    """Both are rounded from the same true difference."""
    return node.a + -node.b


entry.rule(
    "factor out with a declaration",
    "The result is as close to the true value as before.",
    each("f32 f32 f32", "f32", "A[i] * B[i] + A[i] * D[i]"),
    x * y + x * z,
    x * (y + z),
    declared=True,
)


@entry(each("f32 f32", "f32", "max(A[i], B[i])"))
def swap_the_sides_of_a_maximum(node: Max) -> Expr | None:
    """Only the sign of zero may differ, and may."""
    return Max(node.b, node.a, node.dtype)


entry.rule(
    "one magnitude for two",
    "The sign of a product says nothing about its magnitude.",
    each("f32 f32", "f32", "abs(A[i]) * abs(B[i])"),
    call("abs", x) * call("abs", y),
    call("abs", x * y),
)
entry.rule(
    "a half there and back",
    "Every f16 is an f32.",
    each("f16", "f16", "cast(cast(A[i], f32), f16) + f16(1.0)"),
    cast(cast(hole("h", F16), F32), F16),
    lambda h: h,
)
entry.rule(
    "multiply in double precision",
    "The product of two f32 fits f64, and is rounded once, at the end.",
    each("f32 f32", "f32", "A[i] * B[i]"),
    x * y,
    lambda x, y: cast(cast(x, F64) * cast(y, F64), F32),
)
entry.rule(
    "clamp from the other side",
    "The lower bound is below the upper one; NaN stays NaN.",
    each("f32", "f32", "min(max(A[i], f32(0.0)), f32(6.0))"),
    minimum(maximum(x, 0.0), 6.0),
    maximum(minimum(x, 6.0), 0.0),
)


@entry(reduce("f32", "f32(0.0)", "C[i] + A[i, k]"), declared=True)
def add_a_row_from_the_end(loop: For) -> Stmt | None:
    """A sum in the other order, declared."""
    if not isinstance(loop.body, Store):
        return None
    last = as_int(loop.end) - 1
    return loop.replace(body=substitute(loop.body, {loop.var: last - loop.var}))
