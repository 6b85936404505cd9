"""Wrong passes about races and barriers, parallel loops, threads and scatter."""

from irkit.core import any_node, rewrite, substitute
from irkit.ir import (
    Allocate,
    Evaluate,
    Expr,
    For,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    const,
    evaluates,
    ramp,
    seq,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.grids import (
    HISTOGRAM,
    MATMUL,
    NEST,
    PREFIX,
    ROW_SUMS,
    TILES,
    TRANSPOSE,
    TREE,
)
from tests.catalogue.programs import kernel

entry = Entries("races", legal=False)


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


@entry(PREFIX)
def every_outermost_loop_in_parallel(func: PrimFunc) -> PrimFunc:
    """A prefix sum reads what the iteration before wrote."""
    return _outermost(func)


@entry(HISTOGRAM)
def a_histogram_in_parallel(func: PrimFunc) -> PrimFunc:
    """Two elements of one bin update the same counter."""
    return _outermost(func)


@entry(
    kernel(
        "A: f32[32], C: f32[1]",
        """
        C[0] = f32(0.0)
        for i in serial(0, 32):
            C[0] = C[0] + A[i]
        """,
    )
)
def a_sum_in_parallel(func: PrimFunc) -> PrimFunc:
    """All iterations update one element, and it is float besides."""
    return _outermost(func)


@entry(ROW_SUMS)
def the_innermost_loop_in_parallel(loop: For) -> Stmt | None:
    """The loop over the row is the reduction."""
    return None if any_node(loop.body, For) else loop.replace(kind="parallel")


@entry(
    kernel(
        "A: f32[6, 8], C: f32[6, 8]",
        """
        T = alloc(f32[8])
        for i in serial(0, 6):
            for j in serial(0, 8):
                T[j] = A[i, j] * f32(2.0)
            for j in serial(0, 8):
                C[i, j] = T[7 - j] + f32(1.0)
        """,
    )
)
def parallel_rows_with_one_temporary(func: PrimFunc) -> PrimFunc:
    """The temporary is outside the loop, so all rows use the same one."""
    return _outermost(func)


@entry(
    kernel(
        "A: f32[32], C: f32[16]",
        """
        for i in serial(0, 32):
            C[i // 2] = A[i]
        """,
    )
)
def overlapping_stores_in_parallel(func: PrimFunc) -> PrimFunc:
    """The odd element must be stored last."""
    return _outermost(func)


@entry(
    kernel(
        "A: f32[20], I: i64[20], C: f32[8]",
        """
        for i in serial(0, 20):
            C[I[i] % 8] = A[i]
        """,
    )
)
def scatter_in_parallel(func: PrimFunc) -> PrimFunc:
    """20 elements go to 8 places, so some places are written more than once."""
    return _outermost(func)


@entry(
    kernel(
        "A: f32[26], C: f32[26]",
        """
        for i in serial(0, 26):
            C[i] = A[i]
        for i in serial(1, 25):
            C[i] = C[i - 1] * f32(0.5) + C[i + 1] * f32(0.5)
        """,
    )
)
def a_stencil_in_place_in_parallel(func: PrimFunc) -> PrimFunc:
    """Gauss and Seidel's iteration reads the new value on one side and the old on the other."""
    return _outermost(func)


@entry(TRANSPOSE)
def drop_every_barrier(stmt: Evaluate) -> Stmt | None:
    """The threads read what others wrote to shared memory."""
    return seq() if evaluates(stmt, "barrier") else None


@entry(TILES)
def drop_the_barrier_at_the_end_of_a_loop(loop: For) -> Stmt | None:
    """It keeps the next tile from overwriting what other threads still read."""
    match loop.body:
        case Seq(stmts) if evaluates(stmts[-1], "barrier") and loop.kind == "serial":
            return loop.replace(body=seq(*stmts[:-1]))
        case _:
            return None


@entry(TREE)
def drop_the_barriers_inside_a_loop(loop: For) -> Stmt | None:
    """Each level of the tree reads what the level before wrote."""
    match loop.body:
        case Seq(stmts) if loop.kind == "serial":
            return loop.replace(body=seq(*(s for s in stmts if not evaluates(s, "barrier"))))
        case _:
            return None


@entry(TREE)
def drop_a_barrier_before_a_loop_that_has_one(stmt: Seq) -> Stmt | None:
    """The barrier in the loop comes after the first level has read."""
    kept = [
        s
        for s, after in zip(stmt.stmts, (*stmt.stmts[1:], None), strict=True)
        if not (evaluates(s, "barrier") and isinstance(after, For))
    ]
    return seq(*kept) if len(kept) < len(stmt.stmts) else None


@entry(MATMUL)
def move_a_barrier_up(stmt: Seq) -> Stmt | None:
    """Before the tile is filled the barrier separates nothing."""
    for at, inner in enumerate(stmt.stmts):
        if at and evaluates(inner, "barrier"):
            rest = [s for s in stmt.stmts if s is not inner]
            return seq(*rest[: at - 1], inner, *rest[at - 1 :])
    return None


@entry(
    kernel(
        "A: f32[16], C: f32[16]",
        """
        for i in serial(0, 16):
            C[i] = A[i]
        for k in serial(1, 16):
            C[k] = C[k] + C[k - 1] * f32(0.5)
        """,
    )
)
def bind_a_recurrence_to_threads(loop: For) -> Stmt | None:
    """Each thread reads what its neighbour writes."""
    if loop.var.name != "k":
        return None
    return loop.replace(kind="thread", thread="threadIdx.x")


@entry(ROW_SUMS)
def bind_a_reduction_to_threads(loop: For) -> Stmt | None:
    """All threads update the sum of the row."""
    if loop.var.name != "k":
        return None
    return loop.replace(kind="thread", thread="threadIdx.x")


@entry(
    kernel(
        "A: f32[32], C: f32[33]",
        """
        C[0] = f32(1.0)
        for i in serial(0, 32):
            C[i + 1] = C[i] * f32(0.5) + A[i]
        """,
    )
)
def mark_a_recurrence_as_vectorised(loop: For) -> Stmt | None:
    """Every lane needs the result of the lane before."""
    return loop.replace(kind="vectorized")


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
def vectors_longer_than_the_distance(loop: For) -> Stmt | None:
    """The distance is four, the vectors have eight lanes."""
    store = loop.body
    count = trip_count(loop)
    if not isinstance(store, Store) or count is None or count % 8:
        return None
    at = loop.var * 8

    def widen(load: Load) -> Expr | None:
        return load.buffer[(ramp(at, 1, 8),)]

    value = store.value
    new = widen(value.a) + widen(value.b)
    there = Store(store.buffer, (ramp(at + 4, 1, 8),), new)
    return loop.replace(end=const(count // 8, loop.end.dtype), body=there)


@entry(NEST.replace("C[i, j] = A[i, j] * f32(2.0) + f32(1.0)", "C[j, 0] = A[i, j]").replace(
    "C: f32[6, 8]", "C: f32[8, 1]"
))  # fmt: skip
def parallel_because_the_inner_loop_is_independent(loop: For) -> Stmt | None:
    """The inner iterations are independent, those of the outer loop store to the same column."""
    inner = loop.body
    if isinstance(inner, For) and isinstance(inner.body, Store):
        return loop.replace(kind="parallel")
    return None


@entry(
    kernel(
        "A: f32[4, 16], C: f32[4, 16]",
        """
        for b in thread(0, 4, "blockIdx.x"):
            for t in thread(0, 16, "threadIdx.x"):
                S = alloc(f32[16], scope="shared")
                S[t] = A[b, t]
                evaluate(barrier())
                S[15 - t] = S[15 - t] * f32(2.0)
                evaluate(barrier())
                C[b, t] = S[t]
        """,
    )
)
def keep_only_the_first_of_several_barriers(func: PrimFunc) -> PrimFunc:
    """The second one separates other accesses."""
    found: list[Stmt] = []

    def keep(stmt: Evaluate) -> Stmt | None:
        found.append(stmt)
        return None if len(found) == 1 else seq()

    return rewrite(func, keep)


@entry(
    kernel(
        "L: f32[6, 6], B: f32[6], X: f32[6]",
        """
        for i in serial(0, 6):
            X[i] = B[i]
            for j in serial(0, i):
                X[i] = X[i] - L[i, j] * X[j]
        """,
    )
)
def a_triangular_solve_in_parallel(func: PrimFunc) -> PrimFunc:
    """Each row needs the solution of all rows before."""
    return _outermost(func)


@entry(
    kernel(
        "A: f32[5, 12], C: f32[12], D: f32[5, 12]",
        """
        for i in serial(0, 5):
            for j in parallel(0, 12):
                C[j] = A[i, j]
            for j in serial(0, 12):
                D[i, j] = C[11 - j]
        """,
    )
)
def move_the_parallel_mark_outwards(loop: For) -> Stmt | None:
    """The inner loop is parallel; the rows share one line of results."""
    if not any_node(loop.body, For):
        return loop.replace(kind="serial") if loop.kind == "parallel" else None
    return loop.replace(kind="parallel")


@entry(
    kernel(
        "A: f32[8], I: i64[8], C: f32[8]",
        """
        for i in serial(0, 8):
            C[i] = A[i]
        for i in serial(0, 8):
            C[i] = C[I[i] & 7] + f32(1.0)
        """,
    )
)
def a_gather_in_place_in_parallel(func: PrimFunc) -> PrimFunc:
    """An element may be read before or after its own iteration wrote it."""
    return _outermost(func)


@entry(
    kernel(
        "A: f32[64], C: f32[8]",
        """
        for i in serial(0, 64):
            C[i % 8] = A[i]
        """,
    )
)
def parallel_tiles_that_store_to_the_same_places(loop: For) -> Stmt | None:
    """The remainders repeat with the period of the tiles."""
    count = trip_count(loop)
    if count is None or loop.kind == "parallel" or count % 8:
        return None
    outer, inner = loop.var.copy("o"), loop.var.copy("r")
    body = substitute(loop.body, {loop.var: outer * 8 + inner})
    nest = For(inner, loop.begin, const(8, loop.end.dtype), body)
    return For(outer, loop.begin, const(count // 8, loop.end.dtype), nest, "parallel")
