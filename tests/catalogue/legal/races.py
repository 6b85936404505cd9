"""Legal passes about parallel loops, threads, barriers and scatter."""

from irkit.core import any_node, fresh, rewrite, substitute
from irkit.ir import (
    Allocate,
    Evaluate,
    Expr,
    For,
    If,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    call,
    const,
    evaluates,
    ramp,
    seq,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.grids import MATMUL, NEST, OWN, PARALLEL_NEST, ROW_SUMS, TILES, TRANSPOSE, TREE
from tests.catalogue.programs import SOFTMAX, kernel

entry = Entries("races", legal=True)


def _outermost(func: PrimFunc) -> PrimFunc:
    """Mark the loops that no other loop is around."""

    def mark(stmt: Stmt) -> Stmt:
        if isinstance(stmt, For):
            return stmt.replace(kind="parallel") if stmt.kind == "serial" else stmt
        if isinstance(stmt, Seq):
            return seq(*(mark(inner) for inner in stmt.stmts))
        if isinstance(stmt, Allocate):
            return stmt.replace(body=mark(stmt.body))
        return stmt

    return func.replace(body=mark(func.body))


@entry(NEST)
def parallel_rows(func: PrimFunc) -> PrimFunc:
    """Each row is written by one iteration."""
    return _outermost(func)


@entry(ROW_SUMS)
def parallel_row_sums(func: PrimFunc) -> PrimFunc:
    """The sum of a row is of one iteration alone."""
    return _outermost(func)


@entry(SOFTMAX)
def parallel_rows_with_memory_of_their_own(func: PrimFunc) -> PrimFunc:
    """The temporaries are allocated inside the loop."""
    return _outermost(func)


@entry(
    kernel(
        "A: f32[16], C: f32[16]",
        """
        for i in serial(0, 16):
            C[i * 5 % 16] = A[i]
        """,
    )
)
def a_permutation_in_parallel(func: PrimFunc) -> PrimFunc:
    """5 has an inverse modulo 16, so no two iterations store to one element."""
    return _outermost(func)


@entry(
    kernel(
        "I: i64[20], C: i32[8]",
        """
        for i in serial(0, 8):
            C[i] = 0
        for i in serial(0, 20):
            C[I[i] & 7] = 1
        """,
    )
)
def mark_presence_in_parallel(func: PrimFunc) -> PrimFunc:
    """All iterations that meet write the same value, which is no race."""
    return _outermost(func)


@entry(
    kernel(
        "A: f32[16], C: f32[32]",
        """
        for i in serial(0, 16):
            C[2 * i] = A[i]
            C[2 * i + 1] = -A[i]
        """,
    )
)
def interleaved_stores_in_parallel(func: PrimFunc) -> PrimFunc:
    """Even elements and odd ones never meet."""
    return _outermost(func)


@entry(
    kernel(
        "A: f32[n], C: f32[n]",
        """
        for i in serial(0, n // 2):
            C[i] = A[n - 1 - i]
            C[n - 1 - i] = A[i]
        """,
    )
)
def swap_ends_in_parallel(func: PrimFunc) -> PrimFunc:
    """i is in the lower half, n - 1 - i in the upper one."""
    return _outermost(func)


@entry(
    kernel(
        "A: f32[32], C: f32[32]",
        """
        for i in serial(0, 16):
            C[i] = A[i]
        for i in serial(0, 16):
            C[i + 16] = C[i] * f32(2.0)
        """,
    )
)
def read_one_half_and_write_the_other_in_parallel(func: PrimFunc) -> PrimFunc:
    """What the second loop reads it does not write."""
    return _outermost(func)


@entry(PARALLEL_NEST)
def reorder_a_parallel_loop_inwards(loop: For) -> Stmt | None:
    """The parallel loop goes inside; every element is written once."""
    inner = loop.body
    if loop.kind != "parallel" or not isinstance(inner, For):
        return None
    return inner.replace(body=loop.replace(body=inner.body))


@entry(PARALLEL_NEST)
def reverse_a_parallel_loop(loop: For) -> Stmt | None:
    """The iterations of a parallel loop may run in any order."""
    count = trip_count(loop)
    if loop.kind != "parallel" or count is None:
        return None
    return loop.replace(body=substitute(loop.body, {loop.var: count - 1 - loop.var}))


@entry(NEST.replace("serial", "parallel"))
def interchange_two_parallel_loops(loop: For) -> Stmt | None:
    """Both may run in any order."""
    inner = loop.body
    if not isinstance(inner, For):
        return None
    return inner.replace(body=loop.replace(body=inner.body))


@entry(NEST.replace("serial", "parallel"))
def fuse_two_parallel_loops(loop: For) -> Stmt | None:
    """One parallel loop over all elements."""
    inner = loop.body
    if not isinstance(inner, For):
        return None
    var = loop.var.copy("ij")
    body = substitute(inner.body, {loop.var: var // inner.end, inner.var: var % inner.end})
    count = trip_count(loop) * trip_count(inner)
    return For(var, loop.begin, const(count, loop.end.dtype), body, "parallel")


@entry(PARALLEL_NEST)
def make_a_parallel_loop_serial(loop: For) -> Stmt | None:
    """One of the orders that are allowed."""
    return loop.replace(kind="serial") if loop.kind == "parallel" else None


@entry(PARALLEL_NEST)
def chunks_of_a_parallel_loop(loop: For) -> Stmt | None:
    """A parallel loop over chunks, each of them serial."""
    count = trip_count(loop)
    if loop.kind != "parallel" or count is None or count % 2:
        return None
    outer, inner = loop.var.copy("o"), loop.var.copy("r")
    body = substitute(loop.body, {loop.var: outer * 2 + inner})
    nest = For(inner, loop.begin, const(2, loop.end.dtype), body)
    return For(outer, loop.begin, const(count // 2, loop.end.dtype), nest, "parallel")


@entry(NEST)
def bind_a_nest_to_blocks_and_threads(loop: For) -> Stmt | None:
    """The rows to blocks, the elements of a row to threads."""
    axis = "blockIdx.x" if isinstance(loop.body, For) else "threadIdx.x"
    return loop.replace(kind="thread", thread=axis)


@entry(ROW_SUMS)
def bind_rows_to_threads(loop: For) -> Stmt | None:
    """Each thread sums its own row."""
    if not any_node(loop.body, For):
        return None
    return loop.replace(kind="thread", thread="threadIdx.x")


@entry(OWN)
def drop_a_barrier_between_own_accesses(stmt: Evaluate) -> Stmt | None:
    """Every thread reads its own memory only."""
    return seq() if evaluates(stmt, "barrier") else None


@entry(TILES)
def a_barrier_more(stmt: Seq) -> Stmt | None:
    """A second barrier after a first has nothing to wait for."""
    if not any(evaluates(s, "barrier") for s in stmt.stmts):
        return None
    twice = [
        extra
        for s in stmt.stmts
        for extra in ((s, Evaluate(call("barrier"))) if evaluates(s, "barrier") else (s,))
    ]
    return seq(*twice)


@entry(TREE)
def unroll_the_levels_of_a_tree(loop: For) -> Stmt | None:
    """The copies keep their barriers."""
    count = trip_count(loop)
    if loop.kind != "serial" or count is None:
        return None
    copies = [substitute(loop.body, {loop.var: const(i, loop.var.dtype)}) for i in range(count)]
    return seq(*(fresh(copy) for copy in copies))


@entry(
    kernel(
        "A: f32[8], C: f32[8]",
        """
        for t in thread(0, 8, "threadIdx.x"):
            S = alloc(f32[8], scope="shared")
            S[t] = A[t]
            evaluate(barrier())
            evaluate(barrier())
            C[t] = S[7 - t]
        """,
    )
)
def join_barriers_that_follow_each_other(stmt: Seq) -> Stmt | None:
    """Two barriers with nothing between them are one."""
    kept = [
        s
        for s, after in zip(stmt.stmts, (*stmt.stmts[1:], None), strict=True)
        if not (evaluates(s, "barrier") and after is not None and evaluates(after, "barrier"))
    ]
    return seq(*kept) if len(kept) < len(stmt.stmts) else None


@entry(TREE)
def multiply_what_the_first_thread_writes_by_one(stmt: If) -> Stmt | None:
    """A product by one is exact, and the barriers stay."""
    match stmt.then:
        case Store(value=Load() as load) as store if load.buffer.scope == "shared":
            return stmt.replace(then=store.replace(value=load * 1.0))
        case _:
            return None


@entry(TRANSPOSE)
def swap_the_thread_axes(func: PrimFunc) -> PrimFunc:
    """Threads have no order between barriers, so the axes can change names."""
    other = {"threadIdx.x": "threadIdx.y", "threadIdx.y": "threadIdx.x"}

    def swap(loop: For) -> Stmt | None:
        return loop.replace(thread=other[loop.thread]) if loop.thread in other else None

    return rewrite(func, swap)


@entry(MATMUL)
def reverse_the_blocks(loop: For) -> Stmt | None:
    """Blocks are independent of each other."""
    count = trip_count(loop)
    if not loop.thread.startswith("blockIdx") or count is None:
        return None
    return loop.replace(body=substitute(loop.body, {loop.var: count - 1 - loop.var}))


@entry(
    kernel(
        "A: f32[32], C: f32[36]",
        """
        for i in serial(0, 4):
            C[i] = f32(0.0)
        for i in serial(0, 32):
            C[i + 4] = C[i] + A[i]
        """,
    )
)
def vectors_as_long_as_the_distance(loop: For) -> Stmt | None:
    """Four lanes read what the four before wrote."""
    store, count = loop.body, trip_count(loop)
    if not isinstance(store, Store) or count is None or count % 8:
        return None
    at = loop.var * 4

    def widen(load: Expr) -> Expr:
        return load.buffer[(ramp(at, 1, 4),)]

    new = widen(store.value.a) + widen(store.value.b)
    there = Store(store.buffer, (ramp(at + 4, 1, 4),), new)
    return loop.replace(end=const(count // 4, loop.end.dtype), body=there)


@entry(NEST)
def vectorise_an_independent_loop(loop: For) -> Stmt | None:
    """The elements of a row are independent."""
    return None if isinstance(loop.body, For) else loop.replace(kind="vectorized")


@entry(
    kernel(
        "A: f32[6, 8], C: f32[6, 8]",
        """
        for i in serial(0, 6):
            for j in serial(0, i):
                C[i, j] = A[i, j]
            for j in serial(i, 8):
                C[i, j] = f32(0.0)
        """,
    )
)
def parallel_rows_of_a_triangle(func: PrimFunc) -> PrimFunc:
    """The rows have different lengths, and are independent."""
    return _outermost(func)
