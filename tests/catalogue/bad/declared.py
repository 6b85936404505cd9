"""Passes that declare another rounding, and are wrong by more than rounding explains."""

import math

from irkit.core import fresh, rewrite, substitute
from irkit.ir import (
    BF16,
    F16,
    F32,
    F64,
    I32,
    Add,
    Allocate,
    Buffer,
    Call,
    Cast,
    Const,
    Div,
    Expr,
    For,
    Load,
    Max,
    Mul,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Sub,
    call,
    cast,
    const,
    index,
    maximum,
    minimum,
    seq,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import MATMUL, SOFTMAX, STENCIL, each, kernel, reduce

entry = Entries("declared", legal=False)
SUM = reduce("f32", "f32(0.0)", "C[i] + A[i, k]", k="27")
MEAN = kernel(
    "A: f32[5, 20], C: f32[5]",
    """
    for i in serial(0, 5):
        C[i] = f32(0.0)
        for k in serial(0, 20):
            C[i] = C[i] + A[i, k]
        C[i] = C[i] / f32(20.0)
    """,
)
VARIANCE = kernel(
    "A: f32[5, 16], C: f32[5]",
    """
    for i in serial(0, 5):
        M = alloc(f32[1])
        M[0] = f32(0.0)
        for k in serial(0, 16):
            M[0] = M[0] + A[i, k] / f32(16.0)
        C[i] = f32(0.0)
        for k in serial(0, 16):
            C[i] = C[i] + (A[i, k] - M[0]) * (A[i, k] - M[0])
    """,
)


@entry(SUM, declared=True)
def sum_in_four_parts_without_the_tail(loop: For) -> Stmt | None:
    """27 elements are six times four and three more, which are lost."""
    count = trip_count(loop)
    if loop.var.name != "k" or count is None:
        return None
    parts = [
        fresh(
            loop.replace(
                end=const(count // 4, loop.end.dtype),
                body=substitute(loop.body, {loop.var: loop.var * 4 + r}),
            )
        )
        for r in range(4)
    ]
    return seq(*parts)


@entry(MEAN, declared=True)
def mean_by_the_reciprocal_of_one_less(node: Div) -> Expr | None:
    """The divisor of a sample variance in a mean."""
    match node.b:
        case Const(float() as value) if value > 1:
            return node.a * (1.0 / (value - 1.0))
        case _:
            return None


@entry(MATMUL, declared=True)
def contract_with_the_sum_negated(node: Add) -> Expr | None:
    """Builds a fused multiply-subtract for an addition."""
    if isinstance(node.b, Mul):
        return call("fma", node.b.a, node.b.b, -node.a)
    return None


@entry(
    kernel(
        "A: f32[4, 32], C: f32[4]",
        """
        for i in serial(0, 4):
            S = alloc(f32[1])
            S[0] = f32(0.0)
            for k in serial(0, 32):
                S[0] = S[0] + A[i, k]
            C[i] = S[0]
        """,
    ),
    declared=True,
)
def accumulate_in_half_precision(func: PrimFunc) -> PrimFunc:
    """The unit of f16 is 2**13 times that of f32, which the result has."""

    def narrow(stmt: Allocate) -> Stmt | None:
        old, new = stmt.buffer, stmt.buffer.replace(dtype=F16)

        def stored(store: Store) -> Stmt | None:
            return store.replace(value=cast(store.value, F16)) if store.buffer is old else None

        def loaded(node: Load) -> Expr | None:
            return cast(new[node.indices], F32) if node.buffer is old else None

        body = rewrite(rewrite(stmt.body, stored), loaded)
        return stmt.replace(buffer=new, body=substitute(body, {old: new}))

    return rewrite(func, narrow)


@entry(each("f32 f32", "f32", "A[i] / (B[i] * B[i] + 1.0)"), declared=True)
def divide_by_an_estimate_of_the_reciprocal(node: Div) -> Expr | None:
    """An estimate of eight bits needs Newton steps before it is a reciprocal."""
    return node.a * cast(cast(1.0 / node.b, BF16), F32)


@entry(each("f32", "f32", "exp(A[i])"), declared=True)
def exponential_by_a_short_series(node: Call) -> Expr | None:
    """Four terms of the series are right near 0 only."""
    if node.name != "exp":
        return None
    x = node.args[0]
    return 1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0)))


@entry(SOFTMAX, declared=True)
def softmax_without_the_maximum(node: Call) -> Expr | None:
    """exp overflows for arguments above 88, and the quotient is NaN."""
    match node:
        case Call("exp", (Sub(x, Load()),)):
            return call("exp", x)
        case _:
            return None


@entry(each("f32", "f32", "sqrt(A[i]) + 1.0"), declared=True)
def root_as_a_power(node: Call) -> Expr | None:
    """pow(-inf, 0.5) is inf, sqrt(-inf) is NaN."""
    return call("pow", node.args[0], 0.5) if node.name == "sqrt" else None


@entry(each("f32", "f32", "log1p(A[i] * A[i] * f32(0.0001))"), declared=True)
def logarithm_of_a_sum_near_one(node: Call) -> Expr | None:
    """1 + x loses x where it is small, which is what log1p is for."""
    return call("log", 1.0 + node.args[0]) if node.name == "log1p" else None


@entry(each("f32", "f32", "expm1(A[i] * f32(0.001))"), declared=True)
def exponential_near_one_minus_one(node: Call) -> Expr | None:
    """exp(x) - 1 cancels where x is small."""
    return call("exp", node.args[0]) - 1.0 if node.name == "expm1" else None


@entry(each("f32", "i32", "cast(round(A[i] * 4.0), i32)"), declared=True)
def round_by_adding_a_half(node: Call) -> Expr | None:
    """Ties go up instead of to even, which is a whole unit, and integers are exact."""
    return call("floor", node.args[0] + 0.5) if node.name == "round" else None


@entry(
    kernel(
        "A: f32[6, 16], B: f32[6], C: f32[6]",
        """
        for i in serial(0, 6):
            C[i] = B[i]
            for k in serial(0, 16):
                C[i] = C[i] + A[i, k]
        """,
    ),
    declared=True,
)
def two_accumulators_that_both_begin_with_the_bias(func: PrimFunc) -> PrimFunc:
    """The second accumulator has to begin with 0."""

    def split(stmt: Seq) -> Stmt | None:
        first, loop = stmt.stmts[0], stmt.stmts[-1]
        if not isinstance(first, Store) or not isinstance(loop, For) or len(stmt.stmts) != 2:
            return None
        count = trip_count(loop)
        part = Buffer("part", (index(1),), F32)
        half = loop.replace(end=const(count // 2, loop.end.dtype))
        even = half.replace(body=substitute(loop.body, {loop.var: loop.var * 2}))
        other = fresh(half.replace(body=substitute(loop.body, {loop.var: loop.var * 2 + 1})))

        def to_part(node: Load) -> Expr | None:
            return part[0] if node.buffer is first.buffer else None

        def store_part(store: Store) -> Stmt | None:
            return Store(part, (index(0),), store.value)

        odd = rewrite(rewrite(other, to_part), store_part)
        begin = Store(part, (index(0),), first.value)
        target = first.buffer[first.indices]
        end = Store(first.buffer, first.indices, target + part[0])
        return Allocate(part, seq(first, begin, even, odd, end))

    return rewrite(func, split)


@entry(reduce("i32", "0", "C[i] + A[i, k] // 3"), declared=True)
def divide_integers_after_the_sum(func: PrimFunc) -> PrimFunc:
    """A declaration is about floats; the quotient of a sum is not the sum of quotients."""

    def after(loop: For) -> Stmt | None:
        if loop.var.name != "k":
            return None
        store = loop.body
        plain = loop.replace(body=store.replace(value=store.value.a + store.value.b.a))
        target = store.buffer[store.indices]
        return seq(plain, Store(store.buffer, store.indices, target // 3))

    return rewrite(func, after)


@entry(reduce("f32", 'f32("-inf")', "max(C[i], A[i, k])"), declared=True)
def maximum_in_half_precision(node: Max) -> Expr | None:
    """A maximum is exact; rounded operands give another number."""
    return Max(node.a, cast(cast(node.b, F16), F32), F32)


@entry(STENCIL, declared=True)
def weights_of_two_digits(node: Div) -> Expr | None:
    """0.33 for a third is a typing error, not rounding."""
    return node.a * 0.33 if isinstance(node.b, Const) else None


@entry(each("f32", "f32", "tanh(A[i])"), declared=True)
def hyperbolic_tangent_by_exponentials(node: Call) -> Expr | None:
    """exp(2x) overflows for large x, and inf / inf is NaN; near 0 the difference cancels."""
    if node.name != "tanh":
        return None
    e = call("exp", node.args[0] * 2.0)
    return (e - 1.0) / (e + 1.0)


@entry(each("f32", "f32", "sigmoid(A[i] * 4.0)"), declared=True)
def piecewise_linear_logistic(node: Call) -> Expr | None:
    """The hard sigmoid is another function."""
    if node.name != "sigmoid":
        return None
    x = node.args[0] * 0.2 + 0.5
    return maximum(minimum(x, 1.0), 0.0)


@entry(each("f32", "f32", "sin(A[i] * 100.0)"), declared=True)
def reduce_the_angle_with_a_short_pi(node: Call) -> Expr | None:
    """The remainder by an f32 for two pi is wrong by the error of that constant, times turns."""
    return call("sin", node.args[0] % (2 * math.pi)) if node.name == "sin" else None


@entry(VARIANCE, declared=True)
def center_with_the_mean_so_far(func: PrimFunc) -> PrimFunc:
    """Fuses both loops, so the mean is not complete when it is subtracted."""

    def fuse(stmt: Seq) -> Stmt | None:
        loops = [s for s in stmt.stmts if isinstance(s, For)]
        if len(loops) != 2:
            return None
        first, second = loops
        body = substitute(second.body, {second.var: first.var})
        others = [s for s in stmt.stmts if not isinstance(s, For)]
        return seq(*others, first.replace(body=seq(first.body, body)))

    return rewrite(func, fuse)


@entry(
    kernel(
        "A: f32[8, 8], B: f32[8, 8], C: f32[8, 8]",
        """
        for i in serial(0, 8):
            for j in serial(0, 8):
                C[i, j] = f32(0.0)
                for ko in serial(0, 2):
                    for ki in serial(0, 4):
                        C[i, j] = C[i, j] + A[i, ko * 4 + ki] * B[ko * 4 + ki, j]
        """,
    ),
    declared=True,
)
def partial_sums_that_forget_the_outer_tile(func: PrimFunc) -> PrimFunc:
    """Begins each tile with 0 in the output itself, so only the last tile is left."""

    def tile(loop: For) -> Stmt | None:
        if loop.var.name != "ki":
            return None
        store = loop.body
        zero = Store(store.buffer, store.indices, const(0.0, F32))
        return seq(zero, loop)

    return rewrite(func, tile)


@entry(each("f32 f32", "f32", "A[i] * B[i] - A[i]"), declared=True)
def factor_out_of_a_difference(node: Sub) -> Expr | None:
    """a * b - a is a * (b - 1); the pass writes b + 1."""
    match node:
        case Sub(Mul(x, y), z) if str(x.indices) == str(z.indices):
            return x * (y + 1.0)
        case _:
            return None


@entry(each("f64 f64", "f64", "A[i] * B[i] + 1.0"), declared=True)
def double_precision_in_single(node: Add) -> Expr | None:
    """An f64 result computed in f32 has lost half of its digits."""
    if node.dtype != F64 or not isinstance(node.a, Mul):
        return None
    product = cast(node.a.a, F32) * cast(node.a.b, F32)
    return cast(product + 1.0, F64)


@entry(each("i32", "f32", "cast(A[i], f32) / 3.0"), declared=True)
def divide_before_converting(node: Div) -> Expr | None:
    """An integer division drops the fraction."""
    match node:
        case Div(Cast(x), Const(float() as by)) if x.dtype == I32:
            return cast(x // int(by), F32)
        case _:
            return None
