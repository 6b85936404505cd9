"""Wrong marks on loops, wrong barriers, and memory that threads share by mistake."""

from irkit.core import substitute
from irkit.ir import (
    Allocate,
    Call,
    Evaluate,
    For,
    If,
    Seq,
    Stmt,
    Store,
    lt,
    seq,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import MATMUL, kernel

entry = Entries("threads", legal=False)


def is_barrier(stmt: Stmt) -> bool:
    """Return True for a barrier."""
    return (
        isinstance(stmt, Evaluate) and isinstance(stmt.value, Call) and stmt.value.name == "barrier"
    )


REVERSE = kernel(
    "A: f32[4, 8], C: f32[4, 8]",
    """
    for b in thread(0, 4, "blockIdx.x"):
        for t in thread(0, 8, "threadIdx.x"):
            S = alloc(f32[8], scope="shared")
            S[t] = A[b, t]
            evaluate(barrier())
            C[b, t] = S[7 - t] + f32(1.0)
    """,
)


@entry(
    kernel(
        "A: f32[10], C: f32[10]",
        """
        T = alloc(f32[1])
        for i in serial(0, 10):
            T[0] = A[i] * A[i]
            C[i] = T[0] + f32(1.0)
        """,
    )
)
def parallel_iterations_with_one_temporary(loop: For) -> Stmt | None:
    """All iterations write the one element of T."""
    return loop.replace(kind="parallel") if loop.kind == "serial" else None


@entry(
    kernel(
        "A: f32[30], I: u8[30], C: f32[4]",
        """
        for i in serial(0, 30):
            C[cast(I[i] % 4, i64)] = max(C[cast(I[i] % 4, i64)], A[i])
        """,
    )
)
def parallel_maxima_of_bins(loop: For) -> Stmt | None:
    """The order does not matter, but reading and writing a bin are two accesses."""
    return loop.replace(kind="parallel") if loop.kind == "serial" else None


@entry(MATMUL)
def parallel_sum_of_products(loop: For) -> Stmt | None:
    """All iterations of k add to one element."""
    return loop.replace(kind="parallel") if loop.var.name == "k" and loop.kind == "serial" else None


@entry(REVERSE)
def a_barrier_for_half_of_the_threads(stmt: Seq) -> Stmt | None:
    """The other half never comes to the barrier."""
    if not any(is_barrier(inner) for inner in stmt.stmts):
        return None
    name = next(s for s in stmt.stmts if isinstance(s, Store)).indices[0]
    return seq(*(If(lt(name, 4), s) if is_barrier(s) else s for s in stmt.stmts))


@entry(REVERSE)
def shared_memory_of_each_thread(alloc: Allocate) -> Stmt | None:
    """In scope local each thread has a buffer of its own, and reads what it never wrote."""
    if alloc.buffer.scope != "shared":
        return None
    own = alloc.buffer.replace(scope="local")
    return Allocate(own, substitute(alloc.body, {alloc.buffer: own}))


@entry(REVERSE)
def the_barrier_before_the_store(stmt: Seq) -> Stmt | None:
    """Nothing separates the store from the load of another thread."""
    if len(stmt.stmts) != 3 or is_barrier(stmt.stmts[0]):
        return None
    first, barrier, last = stmt.stmts
    return seq(barrier, first, last) if is_barrier(barrier) else None


@entry(
    kernel(
        "A: f32[4, 6], C: f32[1]",
        """
        C[0] = f32(0.0)
        for b in serial(0, 4):
            for k in serial(0, 6):
                C[0] = C[0] + A[b, k]
        """,
    )
)
def a_sum_over_blocks(loop: For) -> Stmt | None:
    """The blocks of a grid are independent, and these add to one element."""
    if loop.var.name != "b" or loop.kind != "serial":
        return None
    return loop.replace(kind="thread", thread="blockIdx.x")


@entry(
    kernel(
        "A: f32[20], C: f32[20]",
        """
        for i in serial(0, 16):
            C[i + 4] = C[i] + A[i]
        """,
    )
)
def vectorize_across_a_distance_of_four(loop: For) -> Stmt | None:
    """The fifth lane reads what the first one stores."""
    return loop.replace(kind="vectorized") if loop.kind == "serial" else None


@entry(
    kernel(
        "A: f32[8, 5], C: f32[33]",
        """
        for i in serial(0, 8):
            for j in serial(0, 5):
                C[4 * i + j] = A[i, j]
        """,
    )
)
def parallel_windows_that_overlap(loop: For) -> Stmt | None:
    """The last element of a window is the first of the next, and their values differ."""
    if loop.var.name != "i" or loop.kind != "serial":
        return None
    return loop.replace(kind="parallel")
