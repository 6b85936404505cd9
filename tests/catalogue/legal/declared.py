"""Passes that declare another rounding, and stay within what rounding explains."""

from irkit.core import equal, fresh, rewrite, substitute
from irkit.ir import (
    F16,
    F32,
    F64,
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
    Mul,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Sub,
    call,
    cast,
    const,
    hole,
    index,
    seq,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import MATMUL, SOFTMAX, STENCIL, each, kernel, reduce

entry = Entries("declared", legal=True)
a, b, c = (hole(name, F32) for name in "abc")
SUM = reduce("f32", "f32(0.0)", "C[i] + A[i, k]")
LOCAL_SUM = kernel(
    "A: f32[4, 32], C: f32[4]",
    """
    for i in serial(0, 4):
        S = alloc(f32[1])
        S[0] = f32(0.0)
        for k in serial(0, 32):
            S[0] = S[0] + A[i, k]
        C[i] = S[0]
    """,
)
DOT = kernel(
    "A: f32[6, 20], B: f32[6, 20], C: f32[6]",
    """
    for i in serial(0, 6):
        C[i] = f32(0.0)
        for k in serial(0, 20):
            C[i] = C[i] + A[i, k] * B[i, k]
    """,
)


@entry(MATMUL, declared=True)
def contract_a_matrix_product(node: Add) -> Expr | None:
    """Contraction: the product is not rounded by itself."""
    return call("fma", node.b.a, node.b.b, node.a) if isinstance(node.b, Mul) else None


@entry(each("f32 f32 f32", "f32", "A[i] * B[i] + D[i]"), declared=True)
def contract_an_element_wise_product(node: Add) -> Expr | None:
    """Contraction outside a reduction."""
    return call("fma", node.a.a, node.a.b, node.b) if isinstance(node.a, Mul) else None


@entry(SUM, declared=True)
def sum_from_the_end(loop: For) -> Stmt | None:
    """A sum in reverse order."""
    count = trip_count(loop)
    if count is None or loop.var.name != "k":
        return None
    return loop.replace(body=substitute(loop.body, {loop.var: count - 1 - loop.var}))


@entry(DOT, declared=True)
def dot_product_of_even_and_odd_elements(loop: For) -> Stmt | None:
    """The even elements first, then the odd ones."""
    count = trip_count(loop)
    if count is None or loop.var.name != "k" or count % 2:
        return None
    half = loop.replace(end=const(count // 2, loop.end.dtype))
    even = half.replace(body=substitute(loop.body, {loop.var: loop.var * 2}))
    odd = half.replace(body=substitute(loop.body, {loop.var: loop.var * 2 + 1}))
    return seq(even, fresh(odd))


def _retyped(func: PrimFunc, dtype: object) -> PrimFunc:
    """Change the type of allocated accumulators."""

    def widen(stmt: Allocate) -> Stmt | None:
        old, new = stmt.buffer, stmt.buffer.replace(dtype=dtype)
        if old.dtype == dtype or not old.dtype.is_float:
            return None

        def stored(store: Store) -> Stmt | None:
            if store.buffer is not old:
                return None
            value = store.value
            if isinstance(value, Add):  # Add in the wide type.
                return store.replace(value=cast(value.a, dtype) + cast(value.b, dtype))
            return store.replace(value=cast(value, dtype))

        def loaded(node: Load) -> Expr | None:
            return cast(new[node.indices], old.dtype) if node.buffer is old else None

        def direct(node: Cast) -> Expr | None:
            inner = node.value
            wide = isinstance(inner, Cast) and inner.value.dtype == dtype == node.dtype
            return inner.value if wide else None

        body = rewrite(rewrite(rewrite(stmt.body, stored), loaded), direct)
        return stmt.replace(buffer=new, body=substitute(body, {old: new}))

    return rewrite(func, widen)


@entry(LOCAL_SUM, declared=True)
def accumulate_in_double_precision(func: PrimFunc) -> PrimFunc:
    """A wide accumulator is closer to the true value."""
    return _retyped(func, F64)


@entry(LOCAL_SUM.replace("f32", "f16"), declared=True)
def accumulate_halves_in_single_precision(func: PrimFunc) -> PrimFunc:
    """The usual accumulator of a sum of f16."""
    return _retyped(func, F32)


@entry(SUM, declared=True)
def two_accumulators(func: PrimFunc) -> PrimFunc:
    """The odd elements are summed in a variable of their own, which begins with 0."""

    def split(stmt: Seq) -> Stmt | None:
        first, loop = stmt.stmts[0], stmt.stmts[-1]
        if not isinstance(first, Store) or not isinstance(loop, For):
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
        begin = Store(part, (index(0),), const(0.0, F32))
        target = first.buffer[first.indices]
        end = Store(first.buffer, first.indices, target + part[0])
        return Allocate(part, seq(first, begin, even, odd, end))

    return rewrite(func, split)


@entry(
    LOCAL_SUM.replace("A: f32", "A: i16").replace("+ A[i, k]", "+ cast(A[i, k], f32) * f32(0.1)"),
    declared=True,
)
def compensated_summation(func: PrimFunc) -> PrimFunc:
    """Kahan's sum, which carries the error of each addition."""

    def compensate(stmt: Allocate) -> Stmt | None:
        total = stmt.buffer
        rest = Buffer("rest", (index(1),), F32)
        part = Buffer("part", (index(2),), F32)
        first, loop, last = stmt.body.stmts
        value = loop.body.value.b
        y, t = part[0], part[1]
        body = seq(
            Store(part, (index(0),), value - rest[0]),
            Store(part, (index(1),), total[0] + y),
            Store(rest, (index(0),), (t - total[0]) - y),
            Store(total, (index(0),), t),
        )
        clear = Store(rest, (index(0),), const(0.0, F32))
        inner = seq(first, clear, loop.replace(body=Allocate(part, body)), last)
        return stmt.replace(body=Allocate(rest, inner))

    return rewrite(func, compensate)


entry.rule(
    "reassociate a sum",
    "Another order of two additions.",
    each("f32 f32 f32", "f32", "A[i] + B[i] + D[i]"),
    a + b + c,
    a + (b + c),
    declared=True,
)


@entry(each("i16 i16", "f32", "cast(A[i], f32) * 0.7 * (cast(B[i], f32) * 0.3)"), declared=True)
def collect_constant_factors(node: Mul) -> Expr | None:
    """(x * 0.7) * (y * 0.3) as (x * y) * 0.21."""
    match node:
        case Mul(Mul(x, Const(p)), Mul(y, Const(q))):
            return x * y * (p * q)
        case _:
            return None


@entry(each("f32 i8", "f32", "A[i] / (cast(B[i], f32) + 200.0)"), declared=True)
def divide_by_the_reciprocal(node: Div) -> Expr | None:
    """The divisor is between 72 and 327; the quotient rounds twice instead of once."""
    return node.a * (1.0 / node.b)


@entry(STENCIL, declared=True)
def divide_by_a_constant_with_its_reciprocal(node: Div) -> Expr | None:
    """A third as f32 is wrong by half a unit, the product by another half."""
    return node.a * (1.0 / node.b.value) if isinstance(node.b, Const) else None


@entry(SOFTMAX, declared=True)
def multiply_by_the_reciprocal_of_the_sum(node: Div) -> Expr | None:
    """The sum of a softmax is at least 1."""
    return node.a * (const(1.0, node.dtype) / node.b)


@entry(each("f32", "f32", "1.0 / sqrt(A[i] * A[i] + 0.25)"), declared=True)
def reciprocal_root(node: Div) -> Expr | None:
    """rsqrt is within 1.5 units."""
    match node:
        case Div(Const(1.0), Call("sqrt", (x,))):
            return call("rsqrt", x)
        case _:
            return None


@entry(each("f32", "f32", "pow(A[i], f32(3.0))"), declared=True)
def cube_as_two_products(node: Call) -> Expr | None:
    """Two roundings instead of one."""
    match node:
        case Call("pow", (x, Const(3.0))):
            return x * x * x
        case _:
            return None


@entry(each("f32", "f32", "0.5 + A[i] * (1.5 + A[i] * (0.25 + A[i] * 2.0))"), declared=True)
def polynomial_with_fused_steps(node: Add) -> Expr | None:
    """Horner's form with one rounding for each step."""
    return call("fma", node.b.a, node.b.b, node.a) if isinstance(node.b, Mul) else None


@entry(
    each(
        "i16 i16 f16",
        "f32",
        "cast(A[i], f32) * (cast(B[i], f32) * 0.1) + cast(A[i], f32) * cast(D[i], f32)",
    ),
    declared=True,
)
def take_out_a_common_factor(node: Add) -> Expr | None:
    """a * b + a * c as a * (b + c)."""
    match node:
        case Add(Mul(x, y), Mul(z, w)) if equal(x, z):
            return x * (y + w)
        case _:
            return None


@entry(
    each("i16 i16 f16", "f32", "cast(A[i], f32) * (cast(B[i], f32) * 0.1 - cast(D[i], f32))"),
    declared=True,
)
def multiply_out_a_difference(node: Mul) -> Expr | None:
    """a * b - a * c rounds relative to both products, which are the absolute values."""
    return node.a * node.b.a - node.a * node.b.b if isinstance(node.b, Sub) else None


@entry(each("f16 f16 f16", "f16", "A[i] + B[i] + D[i]"), declared=True)
def keep_halves_in_single_precision(node: Add) -> Expr | None:
    """The inner sum is rounded to f32 instead of f16."""
    if node.dtype == F16 and isinstance(node.a, Add):
        inner = node.a
        return cast(cast(inner.a, F32) + cast(inner.b, F32) + cast(node.b, F32), F16)
    return None


@entry(each("f64 f64", "f32", "cast(A[i] * B[i] + A[i], f32)"), declared=True)
def contract_in_double_precision(node: Add) -> Expr | None:
    """One rounding fewer in f64, before the result is rounded to f32."""
    return call("fma", node.a.a, node.a.b, node.b) if node.dtype == F64 else None


@entry(
    kernel(
        "A: i8[4, 8], C: f32[4]",
        """
        for i in serial(0, 4):
            C[i] = f32(1.0)
            for k in serial(0, 8):
                C[i] = C[i] * (cast(A[i, k], f32) * f32(0.1))
        """,
    ),
    declared=True,
)
def product_from_the_end(loop: For) -> Stmt | None:
    """A product of eight factors in reverse order."""
    count = trip_count(loop)
    if count is None or loop.var.name != "k":
        return None
    return loop.replace(body=substitute(loop.body, {loop.var: count - 1 - loop.var}))


@entry(each("f32 f32", "f32", "(A[i] + B[i]) * 0.5"), declared=True)
def mean_of_two_halves(node: Mul) -> Expr | None:
    """a / 2 + b / 2."""
    return node.a.a * 0.5 + node.a.b * 0.5 if isinstance(node.a, Add) else None


@entry(each("f32", "f32", "1.0 / (1.0 + exp(-A[i]))"), declared=True)
def recognise_the_logistic_function(node: Div) -> Expr | None:
    """The function of one rounding for a formula of four."""
    match node:
        case Div(Const(1.0), Add(Const(1.0), Call("exp", (x,)))):
            return call("sigmoid", -x)
        case _:
            return None


@entry(DOT, declared=True)
def dot_product_in_tiles_of_four(loop: For) -> Stmt | None:
    """Strides through the elements: 0, 4, 8, …, then 1, 5, 9, …"""
    count = trip_count(loop)
    if loop.var.name != "k" or count is None or count % 4:
        return None
    inner = loop.replace(end=const(count // 4, loop.end.dtype))
    outer = loop.var.copy("r")
    body = substitute(loop.body, {loop.var: loop.var * 4 + outer})
    return For(outer, loop.begin, const(4, loop.end.dtype), inner.replace(body=body))
