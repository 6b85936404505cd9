"""Wrong rules on floats: rounding, NaN, the sign of zero, and declarations that do not help."""

from irkit.ir import (
    BF16,
    F16,
    F32,
    Add,
    Div,
    Expr,
    Store,
    call,
    cast,
    gt,
    hole,
    le,
    logical_not,
    maximum,
    select,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each, reduce

entry = Entries("floats", legal=False)
x, y, z = hole("x", F32), hole("y", F32), hole("z", F32)

entry.rule(
    "factor out",
    "Three roundings become two.",
    each("f32 f32 f32", "f32", "A[i] * B[i] + A[i] * D[i]"),
    x * y + x * z,
    x * (y + z),
)
entry.rule(
    "cancel what was subtracted",
    "The difference is rounded, so adding does not give the number back.",
    each("f32 f32", "f32", "A[i] - B[i] + B[i]"),
    x - y + y,
    x,
)
entry.rule(
    "multiply by a tenth",
    "A tenth is no float, so the product is rounded another way.",
    each("f32", "f32", "A[i] / f32(10.0)"),
    x / 10.0,
    x * 0.1,
)
entry.rule(
    "the root of a square",
    "The square overflows, vanishes, or is rounded.",
    each("f32", "f32", "sqrt(A[i] * A[i])"),
    call("sqrt", x * x),
    call("abs", x),
)
entry.rule(
    "one exponential for two",
    "The sum of the exponents is rounded, and the product was.",
    each("f32 f32", "f32", "exp(A[i]) * exp(B[i])"),
    call("exp", x) * call("exp", y),
    call("exp", x + y),
)
entry.rule(
    "a maximum by a choice",
    "Of a NaN and a number the choice takes the number.",
    each("f32 f32", "f32", "max(A[i], B[i])"),
    maximum(x, y),
    lambda x, y: select(gt(x, y), x, y),
)
entry.rule(
    "turn a comparison of floats round",
    "Neither holds of NaN.",
    each("f32 f32", "bool", "not (A[i] <= B[i])"),
    logical_not(le(x, y)),
    gt(x, y),
)
entry.rule(
    "negate a difference",
    "Of equal numbers one gives 0.0 and the other -0.0.",
    each("f32 f32", "f32", "-(A[i] - B[i])"),
    -(x - y),
    lambda x, y: y - x,
)


@entry(each("f16 f16 f16", "f16", "A[i] + B[i] + D[i]"))
def round_a_sum_of_halves_once(store: Store) -> Store | None:
    """f16 is rounded after each operation, so two additions round twice."""

    match store.value:
        case Add(Add(a, b), c):
            return store.replace(value=cast(cast(a, F32) + cast(b, F32) + cast(c, F32), F16))
        case _:
            return None


@entry(each("f32 f32", "f32", "A[i] / B[i]"), declared=True)
def divide_by_way_of_two_roots(node: Div) -> Expr | None:
    """The root of a negative divisor is NaN."""
    root = call("rsqrt", node.b)
    return node.a * (root * root)


@entry(reduce("f32", "f32(0.0)", "C[i] + A[i, k]", k="200"), declared=True)
def add_up_in_sixteen_bits(store: Store) -> Store | None:
    """Rounding to bf16 after every step is more than f32 can explain."""
    if not isinstance(store.value, Add):
        return None
    return store.replace(value=cast(cast(store.value, BF16), F32))
