"""Legal loop transformations."""

from irkit.core import any_node, equal, fresh, rewrite, substitute, walk
from irkit.ir import (
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    Seq,
    Stmt,
    Store,
    Var,
    as_int,
    const,
    eq,
    ramp,
    seq,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import MATMUL, kernel

entry = Entries("loops", legal=True)
WAVE = kernel(
    "A: f32[6, 8], C: f32[6, 8]",
    """
    for i in serial(0, 6):
        for j in serial(0, 8):
            C[i, j] = A[i, j]
    for i in serial(1, 6):
        for j in serial(1, 8):
            C[i, j] = C[i - 1, j - 1] * f32(0.5) + A[i, j]
    """,
)
PRODUCER = kernel(
    "A: f32[16], C: f32[16]",
    """
    T = alloc(f32[16])
    for i in serial(0, 16):
        T[i] = A[i] * f32(2.0)
    for i in serial(0, 16):
        C[i] = T[i] - (T[i - 1] if i > 0 else f32(0.0))
    """,
)
CHAIN = kernel(
    "A: f32[12], C: f32[12], D: f32[12]",
    """
    for i in serial(0, 12):
        C[i] = A[i] + f32(1.0)
        D[i] = C[i] * f32(2.0)
    """,
)


@entry(WAVE)
def interchange_along_a_diagonal(loop: For) -> Stmt | None:
    """The dependence (1, 1) points forwards either way."""
    inner = loop.body
    if not isinstance(inner, For) or as_int(loop.begin) != 1:
        return None
    return inner.replace(body=loop.replace(body=inner.body))


@entry(PRODUCER)
def fuse_a_producer_with_a_consumer_that_looks_back(stmt: Seq) -> Stmt | None:
    """T[i] and T[i - 1] are there in iteration i."""
    match stmt.stmts:
        case (For() as first, For() as second):
            body = substitute(second.body, {second.var: first.var})
            return first.replace(body=seq(first.body, body))
        case _:
            return None


@entry(CHAIN)
def distribute_a_loop(loop: For) -> Stmt | None:
    """The second statement reads what the first wrote in the same iteration."""
    match loop.body:
        case Seq((first, second)):
            return seq(loop.replace(body=first), fresh(loop.replace(body=second)))
        case _:
            return None


@entry(CHAIN)
def forward_a_store(stmt: Seq) -> Stmt | None:
    """The stored value is at hand."""
    match stmt.stmts:
        case (Store() as one, Store() as two):
            name = Var("stored", one.value.dtype)

            def named(node: Load) -> Expr | None:
                same = node.buffer is one.buffer and equal(node.indices[0], one.indices[0])
                return name if same else None

            after = two.replace(value=rewrite(two.value, named))
            return Let(name, one.value, seq(one.replace(value=name), after))
        case _:
            return None


@entry(
    kernel(
        "A: f32[10], B: f32[1], C: f32[10]",
        """
        for i in serial(0, 10):
            C[i] = B[0] * f32(0.5) + A[i]
        """,
    )
)
def hoist_an_invariant_load(loop: For) -> Stmt | None:
    """The loop runs, and does not store to B."""
    loads = [n for n in walk(loop.body, Load) if not any_node(n, Var)]
    if not loads:
        return None
    name = Var("once", loads[0].dtype)

    def named(node: Load) -> Expr | None:
        return name if equal(node, loads[0]) else None

    return Let(name, loads[0], loop.replace(body=rewrite(loop.body, named)))


@entry(
    kernel(
        "A: f32[n], B: f32[1], C: f32[n]",
        """
        for i in serial(0, n):
            C[i] = B[0] + A[i]
        """,
    )
)
def hoist_an_invariant_load_out_of_a_loop_that_may_not_run(loop: For) -> Stmt | None:
    """B[0] is there always, so loading it for nothing is no error."""
    loads = [n for n in walk(loop.body, Load) if not any_node(n, Var)]
    name = Var("once", loads[0].dtype)

    def named(node: Load) -> Expr | None:
        return name if equal(node, loads[0]) else None

    return Let(name, loads[0], loop.replace(body=rewrite(loop.body, named)))


@entry(
    kernel(
        "A: f32[10], C: f32[10], D: f32[10]",
        """
        for i in serial(0, 10):
            D[i] = A[i] * A[i]
            C[i] = A[i] + f32(2.0)
        """,
    )
)
def a_common_load(stmt: Seq) -> Stmt | None:
    """The stores between go to other arrays."""
    loads = list(walk(stmt.stmts[0], Load))
    name = Var("same", loads[0].dtype)

    def named(node: Load) -> Expr | None:
        return name if equal(node, loads[0]) else None

    return Let(name, loads[0], seq(*(rewrite(s, named) for s in stmt.stmts)))


@entry(
    kernel(
        "A: f32[12], C: f32[12]",
        """
        for i in serial(0, 12):
            C[i] = f32(0.0)
            C[i] = A[i] * f32(3.0)
        """,
    )
)
def drop_a_store_that_is_overwritten(stmt: Seq) -> Stmt | None:
    """Nothing reads the first value."""
    match stmt.stmts:
        case (Store() as one, Store() as two) if equal(one.indices[0], two.indices[0]):
            return two
        case _:
            return None


@entry(MATMUL)
def unroll_by_four(loop: For) -> Stmt | None:
    """Four steps of the reduction in order."""
    count = trip_count(loop)
    if loop.var.name != "k" or count is None or count % 4:
        return None
    copies = [substitute(loop.body, {loop.var: loop.var * 4 + r}) for r in range(4)]
    return loop.replace(end=const(count // 4, loop.end.dtype), body=seq(*copies))


@entry(MATMUL)
def begin_the_accumulator_in_the_first_step(stmt: Seq) -> Stmt | None:
    """The loop runs, so its first step can write the 0."""
    match stmt.stmts:
        case (Store(value=Const()) as begin, For() as loop):
            guard = If(eq(loop.var, loop.begin), begin)
            return loop.replace(body=seq(guard, loop.body))
        case _:
            return None


@entry(MATMUL)
def interchange_rows_and_columns(loop: For) -> Stmt | None:
    """The elements of the product are independent; each keeps the order of its sum."""
    inner = loop.body
    if not isinstance(inner, For) or loop.var.name != "i":
        return None
    return inner.replace(body=loop.replace(body=inner.body))


@entry(MATMUL)
def initialise_in_a_nest_of_its_own(loop: For) -> Stmt | None:
    """All zeros first, then all sums."""
    inner = loop.body
    match inner:
        case For(body=Seq((Store() as begin, For() as sums))):
            first = loop.replace(body=inner.replace(body=begin))
            return seq(first, fresh(loop.replace(body=inner.replace(body=sums))))
        case _:
            return None


@entry(MATMUL)
def reduction_outside_of_the_columns(loop: For) -> Stmt | None:
    """For one row: zeros, then for each k all columns; each sum keeps its order."""
    match loop:
        case For(body=Seq((Store() as begin, For() as sums))) if loop.var.name == "j":
            first = loop.replace(body=begin)
            return seq(first, sums.replace(body=fresh(loop.replace(body=sums.body))))
        case _:
            return None


@entry(
    kernel(
        "A: f32[32], C: f32[16]",
        """
        for i in serial(0, 16):
            C[i] = A[2 * i] + A[2 * i + 1]
        """,
    )
)
def vectorise_with_strided_loads(loop: For) -> Stmt | None:
    """The stride of the ramp is the factor of the variable."""
    count = trip_count(loop)
    if count is None or not isinstance(loop.body, Store):
        return None
    lanes, store = 4, loop.body

    def widen(node: Expr) -> Expr:
        first = substitute(node.indices[0], {loop.var: loop.var * lanes})
        return node.buffer[(ramp(first, 2, lanes),)]

    value = widen(store.value.a) + widen(store.value.b)
    there = Store(store.buffer, (ramp(loop.var * lanes, 1, lanes),), value)
    return loop.replace(end=const(count // lanes, loop.end.dtype), body=there)
