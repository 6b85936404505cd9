"""Wrong passes about minimum, maximum, choice, NaN, infinities, zeros and initial values."""

from irkit.core import equal, rewrite
from irkit.ir import (
    F32,
    GE,
    GT,
    LT,
    Add,
    And,
    BitAnd,
    Call,
    Conditional,
    Const,
    Expr,
    Max,
    Min,
    Mul,
    Not,
    PrimFunc,
    Select,
    Stmt,
    Store,
    Sub,
    call,
    cast,
    const,
    eq,
    ge,
    gt,
    hole,
    le,
    lt,
    maximum,
    minimum,
    ne,
    select,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each, kernel, reduce

entry = Entries("choice", legal=False)
a, b, c = (hole(name, F32) for name in "abc")
ARGMAX = kernel(
    "A: f32[5, 12], C: i64[5]",
    """
    for i in serial(0, 5):
        M = alloc(f32[1])
        M[0] = A[i, 0]
        C[i] = 0
        for k in serial(1, 12):
            if A[i, k] > M[0]:
                M[0] = A[i, k]
                C[i] = k
    """,
)

entry.rule(
    "maximum as a choice",
    "If a is NaN the comparison is false and b is chosen; the maximum is NaN.",
    each("f32 f32", "f32", "max(A[i], B[i])"),
    maximum(a, b),
    lambda a, b: select(gt(a, b), a, b),
)


@entry(each("f32 f32", "f32", "select(A[i] < B[i], A[i], B[i])"))
def choice_as_a_minimum(node: Select) -> Expr | None:
    """If a is NaN the choice is b; the minimum is NaN."""
    match node:
        case Select(LT(x, y), p, q) if equal(x, p) and equal(y, q):
            return minimum(x, y)
        case _:
            return None


@entry(each("f32 f32", "f32", "(A[i] if not A[i] < B[i] else B[i])"))
def negate_a_comparison_of_floats(node: Not) -> Expr | None:
    """not a < b is true for NaN, a >= b is false."""
    return ge(node.a.a, node.a.b) if isinstance(node.a, LT) else None


entry.rule(
    "a number equals itself",
    "NaN does not.",
    each("f32", "bool", "A[i] == A[i]"),
    eq(a, a),
    lambda a: le(const(0, "i64"), 0),
)
entry.rule(
    "a product with zero",
    "inf * 0 is NaN, -1 * 0.0 is -0.0.",
    each("f32", "f32", "A[i] * 0.0 + 1.0"),
    a * 0.0,
    lambda a: const(0.0, a.dtype),
)
entry.rule(
    "a number minus itself",
    "inf - inf and NaN - NaN are NaN.",
    each("f32", "f32", "A[i] - A[i]"),
    a - a,
    lambda a: const(0.0, a.dtype),
)
entry.rule(
    "add positive zero",
    "-0.0 + 0.0 is 0.0, which 1 / x and atan2 tell from -0.0.",
    each("f32", "f32", "1.0 / (A[i] + 0.0)"),
    a + 0.0,
    a,
)
entry.rule(
    "subtract from zero as a negation",
    "0.0 - 0.0 is 0.0, -(0.0) is -0.0.",
    each("f32", "f32", "0.0 - A[i]"),
    0.0 - a,
    lambda a: -a,
)
entry.rule(
    "negate a difference by turning it around",
    "-(a - b) is -0.0 where b - a is 0.0.",
    each("f32 f32", "f32", "-(A[i] - B[i])"),
    -(a - b),
    b - a,
)


@entry(reduce("f32", 'f32("-inf")', "max(C[i], A[i, k])"))
def begin_a_maximum_with_zero(store: Store) -> Stmt | None:
    """The maximum of negative numbers becomes 0."""
    if isinstance(store.value, Const) and store.value.value == -float("inf"):
        return store.replace(value=const(0.0, store.value.dtype))
    return None


@entry(reduce("f32", 'f32("-inf")', "max(C[i], A[i, k])", rows="6", k="3"))
def begin_a_maximum_with_the_smallest_finite_number(store: Store) -> Stmt | None:
    """A row of -inf has the maximum -inf."""
    if isinstance(store.value, Const) and store.value.value == -float("inf"):
        return store.replace(value=const(-3.4028234663852886e38, store.value.dtype))
    return None


@entry(reduce("i16", "i16(32767)", "min(C[i], A[i, k])"))
def begin_a_minimum_with_a_large_number(store: Store) -> Stmt | None:
    """Elements above the chosen limit are lost."""
    if isinstance(store.value, Const) and store.value.value == 32767:
        return store.replace(value=const(9999, store.value.dtype))
    return None


@entry(each("f32 f32 f32", "f32", "min(max(A[i], B[i]), D[i])"))
def clamp_from_above_first(node: Min) -> Expr | None:
    """The orders differ where the lower limit is above the upper one."""
    return maximum(minimum(node.a.a, node.b), node.a.b) if isinstance(node.a, Max) else None


@entry(each("f32", "f32", "1.0 / abs(A[i])"))
def magnitude_as_a_choice(node: Call) -> Expr | None:
    """-0.0 < 0 is false, so the negative zero stays."""
    if node.name != "abs":
        return None
    return select(lt(node.args[0], 0.0), -node.args[0], node.args[0])


@entry(each("f32", "f32", "sign(A[i]) * 2.0"))
def sign_as_a_choice_of_two(node: Call) -> Expr | None:
    """The sign of 0 is 0, and that of NaN is NaN."""
    return select(ge(node.args[0], 0.0), 1.0, -1.0) if node.name == "sign" else None


@entry(each("f32", "f32", "sign(A[i])"))
def sign_as_a_choice_of_three(node: Call) -> Expr | None:
    """Zero is right now, but the sign of NaN is NaN and becomes 0."""
    if node.name != "sign":
        return None
    x = node.args[0]
    return select(gt(x, 0.0), 1.0, select(lt(x, 0.0), -1.0, const(0.0, x.dtype)))


@entry(ARGMAX)
def argmax_with_ties_to_the_last(node: GT) -> Expr | None:
    """Of equal elements, the program keeps the first."""
    return ge(node.a, node.b)


@entry(each("f32 bool", "f32", "select(B[i], A[i], f32(0.0))"))
def mask_by_multiplication(node: Select) -> Expr | None:
    """inf and NaN times 0 are NaN, and -1 times 0 is -0.0."""
    match node.otherwise:
        case Const(0.0):
            return node.then * cast(node.cond, node.dtype)
        case _:
            return None


@entry(
    kernel(
        "A: f32[20], C: f32[20]",
        """
        for i in serial(0, 20):
            C[i] = (A[i - 1] if i > 0 else f32(0.0)) + (A[i + 1] if i < 19 else f32(0.0))
        """,
    )
)
def choose_after_loading_both(node: Conditional) -> Expr | None:
    """A choice that evaluates both sides loads A[-1] and A[20]."""
    return select(node.cond, node.then, node.otherwise)


@entry(
    kernel(
        "A: f32[9], C: i32[12]",
        """
        for i in serial(0, 12):
            if i < 9 and A[i] > f32(0.0):
                C[i] = 1
            else:
                C[i] = 0
        """,
    )
)
def evaluate_both_sides_of_a_conjunction(node: And) -> Expr | None:
    """The load on the right is guarded by the left side."""
    return BitAnd(node.a, node.b, node.dtype)


@entry(each("f32 f32 f32", "f32", "max(A[i] + D[i], B[i] + D[i])"))
def add_after_the_maximum(node: Max) -> Expr | None:
    """-inf + inf is NaN on one side, while the maximum of -inf and 1 plus inf is inf."""
    match node:
        case Max(Add(x, z), Add(y, w)) if equal(z, w):
            return maximum(x, y) + z
        case _:
            return None


@entry(each("f32 f32 f32", "f32", "max(A[i] * D[i], B[i] * D[i])"))
def multiply_after_the_maximum(node: Max) -> Expr | None:
    """A negative factor turns the order around."""
    match node:
        case Max(Mul(x, z), Mul(y, w)) if equal(z, w):
            return maximum(x, y) * z
        case _:
            return None


@entry(each("f32", "f32", "max(min(A[i], f32(6.0)), f32(0.0))"))
def clamp_by_two_choices(func: PrimFunc) -> PrimFunc:
    """Comparisons with NaN are false: NaN becomes the lower limit."""

    def low(node: Max) -> Expr | None:
        return select(gt(node.a, node.b), node.a, node.b)

    return rewrite(func, low)


@entry(each("f32", "bool", "isfinite(A[i])"))
def finite_as_not_infinite(node: Call) -> Expr | None:
    """NaN is not finite either."""
    if node.name != "isfinite":
        return None
    return ne(call("abs", node.args[0]), float("inf"))


@entry(each("f32", "i32", "select(A[i] >= 0.0, 1, 2)"))
def not_negative_by_the_sign_bit(node: GE) -> Expr | None:
    """1 / -0.0 is -inf, so -0.0 counts as negative; NaN fails the other way."""
    if not node.a.dtype.is_float or isinstance(node.a, Const):
        return None
    return gt(const(1.0, node.a.dtype) / node.a, 0.0) & ge(node.a, 0.0)


@entry(each("f32", "f32", "(A[i] - 1.0 if A[i] > 1.0 else 0.0)"))
def soft_threshold_as_a_maximum(node: Conditional) -> Expr | None:
    """NaN is not above 1, so the program gives 0; max(NaN, 0) is NaN."""
    match node:
        case Conditional(GT(), Sub() as value, Const(0.0)):
            return maximum(value, 0.0)
        case _:
            return None
