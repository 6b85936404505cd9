"""Legal passes about the bodies of loops: conditions, ranges, stores, tiles."""

from irkit.core import any_node, fresh, rewrite, substitute
from irkit.ir import (
    I32,
    Add,
    Allocate,
    Buffer,
    For,
    If,
    Load,
    Seq,
    Stmt,
    Store,
    Var,
    as_int,
    const,
    index,
    seq,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import SOFTMAX, kernel

entry = Entries("loops", legal=True)
CHAIN = kernel(
    "A: f32[12], C: f32[12], D: f32[12]",
    """
    for i in serial(0, 12):
        C[i] = A[i] + f32(1.0)
        D[i] = C[i] * f32(2.0)
    """,
)


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
    """The next square is larger by 2 i + 1."""
    store = loop.body
    if not isinstance(store, Store) or not isinstance(store.value, Add):
        return None
    square = Buffer("square", (index(1),), I32)
    at = (index(0),)
    step = Store(square, at, square[0] + store.value.b.a * 2 + 1)
    body = seq(store.replace(value=store.value.a + square[0]), step)
    return Allocate(square, seq(Store(square, at, const(0, I32)), loop.replace(body=body)))


@entry(CHAIN)
def reverse_an_independent_loop(loop: For) -> Stmt | None:
    """Each iteration touches its own elements."""
    count = trip_count(loop)
    if count is None:
        return None
    return loop.replace(body=substitute(loop.body, {loop.var: count - 1 - loop.var}))


@entry(
    kernel(
        "A: f32[12], s: f32, C: f32[12]",
        """
        for i in serial(0, 12):
            C[i] = A[i]
            if s > f32(1.0):
                C[i] = C[i] - f32(4.0)
        """,
    )
)
def unswitch_a_loop(loop: For) -> Stmt | None:
    """The condition is of a scalar parameter."""
    match loop.body:
        case Seq((first, If(cond, then))):
            yes = loop.replace(body=seq(first, then))
            return If(cond, yes, fresh(loop.replace(body=first)))
        case _:
            return None


@entry(
    kernel(
        "A: f32[14], C: f32[14]",
        """
        for i in serial(0, 14):
            if i < 1:
                C[i] = f32(0.0)
            else:
                C[i] = A[i] - A[i - 1]
        """,
    )
)
def peel_an_iteration_with_its_branch(loop: For) -> Stmt | None:
    """The condition holds for 0 only."""
    match loop.body:
        case If(_, then, otherwise) if otherwise is not None:
            first = substitute(then, {loop.var: loop.begin})
            rest = loop.replace(begin=const(1, loop.begin.dtype), body=otherwise)
            return seq(first, rest)
        case _:
            return None


@entry(
    kernel(
        "A: i64[5, 7], C: i64[5, 7]",
        """
        for i in serial(0, 5):
            for j in serial(0, i + 1):
                C[i, j] = A[i, j]
        """,
    )
)
def interchange_a_triangle(loop: For) -> Stmt | None:
    """For a column j the rows begin at j."""
    inner = loop.body
    if not isinstance(inner, For) or as_int(inner.end) is not None:
        return None
    return inner.replace(end=loop.end, body=loop.replace(begin=inner.var, body=inner.body))


@entry(
    kernel(
        "A: f32[20], n: i64, C: f32[20]",
        """
        assert n <= 20, "too many"
        assert n >= 0, "negative"
        for i in serial(0, n):
            C[i] = A[i]
        for i in serial(n, 20):
            C[i] = A[i]
        """,
    )
)
def join_adjacent_loops(stmt: Seq) -> Stmt | None:
    """The bodies are the same, and the ranges meet at n, which lies between 0 and 20."""
    loops = [s for s in stmt.stmts if isinstance(s, For)]
    if len(loops) != 2 or loops[0].end is not loops[1].begin:
        return None
    rest = [s for s in stmt.stmts if not isinstance(s, For)]
    return seq(*rest, loops[0].replace(end=loops[1].end))


@entry(CHAIN)
def skew_a_loop(loop: For) -> Stmt | None:
    """The variable runs from 5, and 5 is taken off again."""
    begin, end = as_int(loop.begin), as_int(loop.end)
    if begin is None or end is None or begin:
        return None
    dtype = loop.begin.dtype
    body = substitute(loop.body, {loop.var: loop.var - 5})
    return loop.replace(begin=const(5, dtype), end=const(end + 5, dtype), body=body)


@entry(
    kernel(
        "A: f32[6, 8], C: f32[6, 8]",
        """
        for i in serial(0, 6):
            for j in serial(0, 8):
                C[i, j] = A[i, j] * f32(2.0)
        """,
    )
)
def tile_both_loops(loop: For) -> Stmt | None:
    """Two by four tiles divide the extents."""
    inner = loop.body
    if not isinstance(inner, For):
        return None
    low, dtype = loop.begin, loop.begin.dtype
    io, ii, jo, ji = (Var(name) for name in ("io", "ii", "jo", "ji"))
    body = substitute(inner.body, {loop.var: io * 2 + ii, inner.var: jo * 4 + ji})
    nest = body
    for var, count in ((ji, 4), (ii, 2), (jo, 2), (io, 3)):
        nest = For(var, low, const(count, dtype), nest)
    return nest


@entry(SOFTMAX)
def mark_short_loops_as_unrolled(loop: For) -> Stmt | None:
    """Unrolled loops are serial."""
    count = trip_count(loop)
    short = loop.kind == "serial" and count is not None and count <= 10
    return loop.replace(kind="unrolled") if short else None


@entry(
    kernel(
        "A: f32[6, 6], C: f32[6, 6], D: f32[6, 6]",
        """
        for i in serial(0, 6):
            for j in serial(0, 6):
                C[i, j] = A[i, j]
                D[j, i] = A[i, j] + f32(1.0)
        """,
    )
)
def swap_stores_to_different_arrays(stmt: Seq) -> Stmt | None:
    """Neither reads what the other writes."""
    match stmt.stmts:
        case (Store() as one, Store() as two) if one.buffer is not two.buffer:
            return seq(two, one)
        case _:
            return None


@entry(
    kernel(
        "A: f32[12], C: f32[12]",
        """
        T = alloc(f32[1])
        for i in serial(0, 12):
            C[i] = A[i]
            T[0] = A[i]
        """,
    )
)
def drop_stores_that_nothing_reads(stmt: Allocate) -> Stmt | None:
    """The temporary is only written."""
    if any_node(stmt.body, Load, lambda node: node.buffer is stmt.buffer):
        return None

    def gone(store: Store) -> Stmt | None:
        return seq() if store.buffer is stmt.buffer else None

    return rewrite(stmt.body, gone)
