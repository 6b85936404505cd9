"""Passes that round otherwise and do not say so."""

from irkit.core import equal, fresh, rewrite, substitute
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
    FloorMod,
    For,
    Mul,
    PrimFunc,
    Stmt,
    Store,
    Sub,
    as_int,
    call,
    cast,
    const,
    hole,
    seq,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import MATMUL, SOFTMAX, STENCIL, each, kernel, reduce

entry = Entries("rounding", legal=False)
a, b, c = (hole(name, F32) for name in "abc")


@entry(each("f32 f32", "f32", "A[i] / (B[i] * B[i] + 1.5)"))
def divide_by_the_reciprocal(node: Div) -> Expr | None:
    """The reciprocal is rounded before the product is."""
    return node.a * (1.0 / node.b)


@entry(STENCIL)
def divide_by_a_constant_with_its_reciprocal(node: Div) -> Expr | None:
    """A third is no f32 number, so the product is rounded from another value."""
    match node.b:
        case Const(float() as value) if value not in (0.0, 1.0):
            return node.a * (1.0 / value)
        case _:
            return None


entry.rule(
    "reassociate a sum of floats",
    "(a + b) + c and a + (b + c) round other intermediate values.",
    each("f32 f32 f32", "f32", "A[i] + B[i] + D[i]"),
    a + b + c,
    a + (b + c),
)
entry.rule(
    "reassociate a product of floats",
    "Each of the two products is rounded.",
    each("f32 f32 f32", "f32", "A[i] * B[i] * D[i]"),
    a * b * c,
    a * (b * c),
)


@entry(MATMUL)
def contract_to_a_fused_multiply_add(node: Add) -> Expr | None:
    """fma rounds once where the product and the sum round twice."""
    if isinstance(node.b, Mul) and node.dtype == F32:
        return call("fma", node.b.a, node.b.b, node.a)
    return None


@entry(reduce("f32", "f32(0.0)", "C[i] + A[i, k]"))
def sum_from_the_end(loop: For) -> Stmt | None:
    """The elements are added in reverse order."""
    count = trip_count(loop)
    if count is None or loop.var.name != "k":
        return None
    return loop.replace(body=substitute(loop.body, {loop.var: count - 1 - loop.var}))


@entry(each("f32 f32", "f32", "sqrt(abs(A[i])) * sqrt(abs(B[i]))"))
def one_root_of_a_product(node: Mul) -> Expr | None:
    """sqrt(a) * sqrt(b) rounds three times, sqrt(a * b) twice; a * b can overflow as well."""
    match node:
        case Mul(Call("sqrt", (x,)), Call("sqrt", (y,))):
            return call("sqrt", x * y)
        case _:
            return None


@entry(each("f32", "f32", "1.0 / sqrt(A[i] * A[i] + 0.25)"))
def reciprocal_root(node: Div) -> Expr | None:
    """rsqrt rounds once where 1 / sqrt(x) rounds twice."""
    match node:
        case Div(Const(1.0), Call("sqrt", (x,))):
            return call("rsqrt", x)
        case _:
            return None


@entry(each("f32", "f32", "pow(A[i], f32(3.0)) + 1.0"))
def cube_as_two_products(node: Call) -> Expr | None:
    """x * x * x rounds twice; pow rounds the true value."""
    match node:
        case Call("pow", (x, Const(3.0))):
            return x * x * x
        case _:
            return None


@entry(each("f32 f32", "f32", "exp(A[i]) * exp(B[i])"))
def one_exponential_of_a_sum(node: Mul) -> Expr | None:
    """The sum is rounded, and the exponential magnifies that."""
    match node:
        case Mul(Call("exp", (x,)), Call("exp", (y,))):
            return call("exp", x + y)
        case _:
            return None


@entry(each("f32", "f32", "exp(A[i]) - 1.0"))
def exponential_minus_one(node: Sub) -> Expr | None:
    """expm1 is more precise near 0, and so another number."""
    match node:
        case Sub(Call("exp", (x,)), Const(1.0)):
            return call("expm1", x)
        case _:
            return None


@entry(each("f16 f16 f16", "f16", "A[i] + B[i] + D[i]"))
def keep_halves_in_single_precision(node: Add) -> Expr | None:
    """The inner sum must be rounded to f16; here only the last one is."""
    if node.dtype == F16 and isinstance(node.a, Add):
        inner = node.a
        return cast(cast(inner.a, F32) + cast(inner.b, F32) + cast(node.b, F32), F16)
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
    )
)
def sum_even_and_odd_elements_apart(func: PrimFunc) -> PrimFunc:
    """Two partial sums that are added at the end are another order."""

    def split(loop: For) -> Stmt | None:
        count = trip_count(loop)
        if loop.var.name != "k" or not count or count % 2:
            return None
        half = loop.replace(end=const(count // 2, loop.end.dtype))
        even = half.replace(body=substitute(loop.body, {loop.var: loop.var * 2}))
        odd = fresh(half.replace(body=substitute(loop.body, {loop.var: loop.var * 2 + 1})))
        return seq(even, odd)

    return rewrite(func, split)


@entry(each("f32 f32 f32", "f32", "A[i] * B[i] + A[i] * D[i]"))
def take_out_a_common_factor(node: Add) -> Expr | None:
    """One rounding fewer, and other intermediate values."""
    match node:
        case Add(Mul(x, y), Mul(z, w)) if equal(x, z):
            return x * (y + w)
        case _:
            return None


@entry(each("f32", "f32", "1.0 / (1.0 + exp(-A[i]))"))
def recognise_the_logistic_function(node: Div) -> Expr | None:
    """sigmoid is the true value rounded; the formula rounds four times."""
    match node:
        case Div(Const(1.0), Add(Const(1.0), Call("exp", (x,)))):
            return call("sigmoid", -x)
        case _:
            return None


@entry(SOFTMAX)
def multiply_by_the_reciprocal_of_the_sum(node: Div) -> Expr | None:
    """The usual last step of a softmax: exact only for sums that are powers of two."""
    return node.a * (const(1.0, node.dtype) / node.b)


@entry(each("f64 f64", "f32", "cast(A[i] * B[i], f32)"))
def multiply_after_narrowing(node: Cast) -> Expr | None:
    """The factors are rounded to f32 before the product is."""
    if isinstance(node.value, Mul) and node.value.dtype == F64:
        return cast(node.value.a, F32) * cast(node.value.b, F32)
    return None


@entry(each("f32", "f32", "A[i] % f32(0.7)"))
def remainder_by_floor_of_the_quotient(node: FloorMod) -> Expr | None:
    """The exact remainder becomes a difference of rounded values."""
    if not node.dtype.is_float:
        return None
    return node.a - call("floor", node.a / node.b) * node.b


@entry(each("f32", "f32", "log(exp(A[i]))"))
def logarithm_of_the_exponential(node: Call) -> Expr | None:
    """exp rounds (and overflows), so its logarithm is not the argument."""
    match node:
        case Call("log", (Call("exp", (x,)),)):
            return x
        case _:
            return None


@entry(each("i32", "f64", "cast(cast(A[i], f32), f64) * 0.5"))
def drop_a_conversion_through_single_precision(node: Cast) -> Expr | None:
    """f32 rounds integers above 2**24, f64 holds them."""
    match node:
        case Cast(Cast(x)) if node.dtype == F64 and node.value.dtype == F32:
            return cast(x, F64) if x.dtype.is_integer else None
        case _:
            return None


@entry(each("f32", "f32", "0.5 + A[i] * (1.5 + A[i] * (0.25 + A[i] * 2.0))"))
def polynomial_in_powers(store: Store) -> Stmt | None:
    """Horner's form and the sum of powers round otherwise."""
    match store.value:
        case Add(c0, Mul(x, Add(c1, Mul(_, Add(c2, Mul(_, c3)))))):
            return store.replace(value=c0 + c1 * x + c2 * (x * x) + c3 * (x * x * x))
        case _:
            return None


@entry(each("bf16 bf16", "f32", "cast(A[i] * B[i], f32) + 1.0"))
def multiply_before_rounding_to_sixteen_bits(node: Cast) -> Expr | None:
    """The product in f32 is exact; that of bf16 is rounded to eight bits."""
    inner = node.value
    if node.dtype == F32 and isinstance(inner, Mul) and str(inner.dtype) == "bf16":
        return cast(inner.a, F32) * cast(inner.b, F32)
    return None


@entry(
    kernel(
        "A: f32[6, 20], C: f32[6]",
        """
        for i in serial(0, 6):
            C[i] = f32(0.0)
            for k in serial(0, 20):
                C[i] = C[i] + A[i, k] / f32(20.0)
        """,
    )
)
def divide_once_after_the_sum(func: PrimFunc) -> PrimFunc:
    """The mean divides the sum once; the program rounds each quotient."""

    def plain(node: Div) -> Expr | None:
        return node.a

    def after(loop: For) -> Stmt | None:
        if loop.var.name != "k":
            return None
        store = loop.body
        target = store.buffer[store.indices]
        by = as_int(loop.end)
        done = Store(store.buffer, store.indices, target / const(float(by), target.dtype))
        return seq(rewrite(loop, plain), done)

    return rewrite(func, after)
