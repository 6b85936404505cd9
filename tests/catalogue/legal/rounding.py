"""Passes over floats that keep every bit, without a declaration."""

from irkit.core import equal, rewrite, substitute
from irkit.ir import (
    F16,
    F32,
    F64,
    Add,
    Call,
    Cast,
    Const,
    Div,
    Expr,
    For,
    Mul,
    Neg,
    PrimFunc,
    Stmt,
    Sub,
    call,
    cast,
    const,
    hole,
    lt,
    select,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import MATMUL, SOFTMAX, each, kernel

entry = Entries("rounding", legal=True)
a, b, c = (hole(name, F32) for name in "abc")


def _power_of_two(value: object) -> bool:
    return isinstance(value, float) and value > 0 and value.hex().startswith("0x1.0000000000000p")


@entry(each("f32", "f32", "A[i] / 8.0 + 1.0"))
def divide_by_a_power_of_two_with_its_reciprocal(node: Div) -> Expr | None:
    """The reciprocal of 8 is exact, so both round the same value, denormals included."""
    match node.b:
        case Const(value) if _power_of_two(value):
            return node.a * (1.0 / value)
        case _:
            return None


entry.rule(
    "double by adding",
    "2 * x and x + x are the same value, rounded once.",
    each("f32", "f32", "A[i] * 2.0"),
    a * 2.0,
    a + a,
)
entry.rule(
    "subtract by adding the negative",
    "a - b is a + (-b), also for zeros, infinities and NaN.",
    each("f32 f32", "f32", "A[i] - B[i]"),
    a - b,
    lambda a, b: a + -b,
)
entry.rule(
    "swap the operands of a float sum",
    "A single sum commutes; NaN has no specified payload.",
    each("f32 f32", "f32", "A[i] * 3.0 + B[i]"),
    a * 3.0 + b,
    b + a * 3.0,
)


@entry(MATMUL)
def swap_the_factors_of_a_matrix_product(node: Mul) -> Expr | None:
    """A single product commutes."""
    return node.b * node.a if node.dtype.is_float else None


@entry(each("f32 f32", "f32", "-A[i] * B[i]"))
def negate_after_the_product(node: Mul) -> Expr | None:
    """The sign of a product is that of the factors, whatever is rounded."""
    return -(node.a.a * node.b) if isinstance(node.a, Neg) else None


entry.rule(
    "multiply by minus one",
    "x * -1 flips the sign; the sign of a NaN is not specified.",
    each("f64", "f64", "A[i] * -1.0"),
    hole("a", F64) * -1.0,
    lambda a: -a,
)


@entry(each("f32 f32", "f32", "abs(A[i]) * abs(B[i])"))
def magnitude_of_the_product(node: Mul) -> Expr | None:
    """Rounding to nearest is symmetric, so the magnitude can be taken afterwards."""
    match node:
        case Mul(Call("abs", (x,)), Call("abs", (y,))):
            return call("abs", x * y)
        case _:
            return None


@entry(each("f32 f32", "f32", "A[i] * B[i]"))
def multiply_in_double_precision(node: Mul) -> Expr | None:
    """The product of two f32 is exact in f64, so it is rounded once, by the conversion."""
    return cast(cast(node.a, F64) * cast(node.b, F64), F32) if node.dtype == F32 else None


@entry(each("f32 f32", "f32", "A[i] + B[i]"))
def add_in_double_precision(node: Add) -> Expr | None:
    """53 bits are more than twice 24 plus two: rounding twice equals rounding once."""
    return cast(cast(node.a, F64) + cast(node.b, F64), F32) if node.dtype == F32 else None


@entry(each("f32 f32", "f32", "A[i] / B[i]"))
def divide_in_double_precision(node: Div) -> Expr | None:
    """53 bits are enough for the quotient too."""
    return cast(cast(node.a, F64) / cast(node.b, F64), F32) if node.dtype == F32 else None


@entry(each("f16 f16", "f16", "A[i] * B[i] + A[i]"))
def compute_halves_in_single_precision_each(node: Mul | Add) -> Expr | None:
    """f16 is computed in f32 and rounded after each operation: this writes it out."""
    if node.dtype != F16:
        return None
    return Cast(type(node)(cast(node.a, F32), cast(node.b, F32), F32), F16)


@entry(each("f32", "f32", "pow(A[i], f32(2.0)) + 1.0"))
def square_as_a_product(node: Call) -> Expr | None:
    """The square of an f32 rounded once is the product."""
    match node:
        case Call("pow", (x, Const(2.0))):
            return x * x
        case _:
            return None


@entry(each("f32 f32", "f32", "fma(A[i], f32(1.0), B[i])"))
def fused_multiply_add_by_one(node: Call) -> Expr | None:
    """A product by one is exact."""
    match node:
        case Call("fma", (x, Const(1.0), y)):
            return x + y
        case _:
            return None


entry.rule(
    "subtract positive zero",
    "x - 0.0 is x, also for -0.0.",
    each("f32", "f32", "(A[i] - 0.0) * 2.0"),
    a - 0.0,
    a,
)
entry.rule(
    "add negative zero",
    "x + -0.0 is x, also for 0.0.",
    each("f32", "f32", "(A[i] + -0.0) * 2.0"),
    a + -0.0,
    a,
)
entry.rule(
    "multiply by one",
    "x * 1.0 is x.",
    each("f32", "f32", "A[i] * 1.0 + 2.0"),
    a * 1.0,
    a,
)
entry.rule(
    "widen and narrow a float",
    "f64 holds every f32.",
    each("f32", "f32", "cast(cast(A[i], f64), f32) + 1.0"),
    cast(cast(a, F64), F32),
    lambda a: a,
)


@entry(each("f32", "f32", "floor(floor(A[i] * 3.0))"))
def round_only_once_to_a_whole_number(node: Call) -> Expr | None:
    """A whole number is its own floor."""
    match node:
        case Call("floor", (Call("floor" | "ceil" | "round" | "trunc"),)):
            return node.args[0]
        case _:
            return None


@entry(each("f32", "f32", "trunc(A[i])"))
def truncate_by_floor_and_ceiling(node: Call) -> Expr | None:
    """Towards zero is up for negative numbers, else down; -0.0 and NaN go through floor."""
    if node.name != "trunc":
        return None
    x = node.args[0]
    return select(lt(x, 0.0), call("ceil", x), call("floor", x))


@entry(
    kernel(
        "A: i8[5, 30], C: f32[5]",
        """
        for i in serial(0, 5):
            C[i] = f32(0.0)
            for k in serial(0, 30):
                C[i] = C[i] + cast(A[i, k], f32)
        """,
    )
)
def sum_of_bytes_from_the_end(loop: For) -> Stmt | None:
    """Thirty bytes sum to whole numbers far below 2**24, so every order is exact."""
    count = trip_count(loop)
    if count is None or loop.var.name != "k":
        return None
    return loop.replace(body=substitute(loop.body, {loop.var: count - 1 - loop.var}))


@entry(each("f32", "f32", "A[i] * 2.0 * 4.0"))
def join_two_exact_factors(node: Mul) -> Expr | None:
    """Products by powers of two above one are exact until they overflow, as the joined one does."""
    match node:
        case Mul(Mul(x, Const(p)), Const(q)) if min(p, q) >= 1 and _power_of_two(p * q):
            return x * (p * q)
        case _:
            return None


@entry(each("f32 f32", "f32", "(A[i] - B[i]) * (A[i] - B[i])"))
def square_of_a_difference_turned_around(node: Mul) -> Expr | None:
    """b - a is the negative of a - b, up to the sign of zero, which the square drops."""
    match node:
        case Mul(Sub(p, q), Sub(r, s)) if equal(p, r) and equal(q, s):
            return (q - p) * (q - p)
        case _:
            return None


@entry(SOFTMAX)
def exponent_of_a_negated_difference(node: Call) -> Expr | None:
    """a - m is -(m - a) up to the sign of zero, and exp of either zero is 1."""
    match node:
        case Call("exp", (Sub(p, q),)):
            return call("exp", -(q - p))
        case _:
            return None


@entry(each("f32", "f32", "sqrt(A[i] * A[i] * 4.0)"))
def constant_factor_first(func: PrimFunc) -> PrimFunc:
    """A single product commutes, also under a root."""

    def turn(node: Mul) -> Expr | None:
        match node:
            case Mul(x, Const(4.0)):
                return const(4.0, node.dtype) * x
            case _:
                return None

    return rewrite(func, turn)
