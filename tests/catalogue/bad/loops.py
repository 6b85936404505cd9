"""Wrong loop transformations: unroll, fuse, interchange, vectorise, hoist, CSE, dead stores."""

from irkit.core import any_node, equal, fresh, rewrite, substitute, walk
from irkit.ir import (
    I32,
    Add,
    Allocate,
    Buffer,
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
    index,
    lt,
    ramp,
    seq,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import MATMUL, kernel

entry = Entries("loops", legal=False)
FIB = kernel(
    "A: f32[6, 8], C: f32[6, 8]",
    """
    for i in serial(0, 6):
        for j in serial(0, 8):
            C[i, j] = A[i, j]
    for i in serial(1, 6):
        for j in serial(0, 7):
            C[i, j] = C[i - 1, j + 1] * f32(0.5) + A[i, j]
    """,
)
PRODUCER = kernel(
    "A: f32[16], C: f32[15]",
    """
    T = alloc(f32[16])
    for i in serial(0, 16):
        T[i] = A[i] * f32(2.0)
    for i in serial(0, 15):
        C[i] = T[i + 1] - T[i]
    """,
)
CHAIN = kernel(
    "A: f32[12], C: f32[12], D: f32[12]",
    """
    for i in serial(0, 12):
        C[i] = A[i] + f32(1.0)
        D[i] = C[11 - i] * f32(2.0)
    """,
)


@entry(FIB)
def interchange_across_a_diagonal(loop: For) -> Stmt | None:
    """The dependence (1, -1) points backwards after the interchange."""
    inner = loop.body
    if not isinstance(inner, For) or as_int(loop.begin) != 1:
        return None
    return inner.replace(body=loop.replace(body=inner.body))


@entry(PRODUCER)
def fuse_a_producer_with_a_consumer_that_looks_ahead(stmt: Seq) -> Stmt | None:
    """T[i + 1] is not computed yet in iteration i."""
    match stmt.stmts:
        case (For() as first, For() as second):
            body = substitute(second.body, {second.var: first.var})
            guarded = If(lt(first.var, second.end), body)
            return first.replace(body=seq(first.body, guarded))
        case _:
            return None


@entry(CHAIN)
def distribute_a_loop(loop: For) -> Stmt | None:
    """D reads elements of C that later iterations compute: first the old ones, now the new."""
    match loop.body:
        case Seq((first, second)):
            return seq(loop.replace(body=first), fresh(loop.replace(body=second)))
        case _:
            return None


@entry(
    kernel(
        "A: f32[10], C: f32[10]",
        """
        for i in serial(0, 10):
            C[i] = C[5] * f32(0.5) + A[i]
        """,
    )
)
def hoist_a_load_that_the_loop_overwrites(loop: For) -> Stmt | None:
    """C[5] has one index all the time, but the sixth iteration stores to it."""
    loads = [n for n in walk(loop.body, Load) if not any_node(n, Var)]
    if not loads or loop.var.name != "i":
        return None
    name = Var("first", loads[0].dtype)

    def named(node: Load) -> Expr | None:
        return name if equal(node, loads[0]) else None

    body = rewrite(loop.body, named)
    return Let(name, loads[0], loop.replace(body=body))


@entry(
    kernel(
        "A: f32[10], C: f32[10], D: f32[10]",
        """
        for i in serial(0, 10):
            C[i] = D[0] + A[i]
            D[i] = C[i] * f32(3.0)
        """,
    )
)
def hoist_an_invariant_load(loop: For) -> Stmt | None:
    """The first iteration changes D[0]."""
    loads = [n for n in walk(loop.body, Load) if not any_node(n, Var)]
    if not loads:
        return None
    name = Var("first", loads[0].dtype)

    def named(node: Load) -> Expr | None:
        return name if equal(node, loads[0]) else None

    return Let(name, loads[0], loop.replace(body=rewrite(loop.body, named)))


@entry(
    kernel(
        "A: f32[10], C: f32[10], D: f32[10]",
        """
        for i in serial(0, 10):
            D[i] = C[i] * C[i]
            C[i] = A[i]
            D[i] = D[i] + C[i]
        """,
    )
)
def a_common_load_across_a_store(stmt: Seq) -> Stmt | None:
    """The last load sees what the store between wrote."""
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
            C[i] = A[i]
            if A[i] > f32(0.0):
                C[i] = C[i] + f32(1.0)
        """,
    )
)
def drop_a_store_before_another_to_the_same_place(stmt: Seq) -> Stmt | None:
    """The second store is conditional, and reads the first."""
    match stmt.stmts:
        case (Store() as one, If(then=Store() as two)) if equal(one.indices[0], two.indices[0]):
            return stmt.stmts[1]
        case _:
            return None


@entry(
    kernel(
        "A: f32[12], C: f32[12]",
        """
        for i in serial(0, 12):
            C[i] = A[i] * f32(2.0)
        """,
    )
)
def unroll_by_three_with_one_index_twice(loop: For) -> Stmt | None:
    """The third copy has the index of the second."""
    count = trip_count(loop)
    if count is None or count % 3:
        return None
    copies = [substitute(loop.body, {loop.var: loop.var * 3 + min(r, 1)}) for r in range(3)]
    return loop.replace(end=const(count // 3, loop.end.dtype), body=seq(*copies))


@entry(MATMUL)
def begin_the_accumulator_in_the_innermost_loop(stmt: Seq) -> Stmt | None:
    """Each step of the reduction begins with 0 again."""
    match stmt.stmts:
        case (Store(value=Const()) as begin, For() as loop):
            return loop.replace(body=seq(begin, loop.body))
        case _:
            return None


@entry(MATMUL)
def move_the_initial_value_to_the_last_step(stmt: Seq) -> Stmt | None:
    """Writes 0 where k is the last instead of the first."""
    match stmt.stmts:
        case (Store(value=Const()) as begin, For() as loop):
            guard = If(eq(loop.var, as_int(loop.end) - 1), begin)
            return loop.replace(body=seq(guard, loop.body))
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
def vectorise_with_a_stride_of_one(loop: For) -> Stmt | None:
    """The loads have stride 2."""
    count = trip_count(loop)
    if count is None or not isinstance(loop.body, Store):
        return None
    lanes, store = 4, loop.body

    def widen(node: Load) -> Expr | None:
        first = substitute(node.indices[0], {loop.var: loop.var * lanes})
        return node.buffer[(ramp(first, 1, lanes),)]

    value = widen(store.value.a) + widen(store.value.b)
    there = Store(store.buffer, (ramp(loop.var * lanes, 1, lanes),), value)
    return loop.replace(end=const(count // lanes, loop.end.dtype), body=there)


@entry(
    kernel(
        "A: i32[10], C: i32[10]",
        """
        for i in serial(0, 10):
            C[i] = A[i] + cast(i, i32) * cast(i, i32)
        """,
    )
)
def strength_reduction_of_a_square(loop: For) -> Stmt | None:
    """The difference of two squares is 2 i + 1; the pass adds 2 i."""
    store = loop.body
    if not isinstance(store, Store) or not isinstance(store.value, Add):
        return None
    square = Buffer("square", (index(1),), I32)
    at = (index(0),)
    step = Store(square, at, square[0] + store.value.b.a * 2)
    body = seq(store.replace(value=store.value.a + square[0]), step)
    return Allocate(square, seq(Store(square, at, const(0, I32)), loop.replace(body=body)))
