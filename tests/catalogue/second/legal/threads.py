"""Legal marks on loops and barriers that are not needed."""

from irkit.ir import (
    Call,
    Evaluate,
    For,
    Seq,
    Stmt,
    call,
    seq,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import kernel

entry = Entries("threads", legal=True)


def is_barrier(stmt: Stmt) -> bool:
    """Return True for a barrier."""
    return (
        isinstance(stmt, Evaluate) and isinstance(stmt.value, Call) and stmt.value.name == "barrier"
    )


def parallel(loop: For) -> Stmt | None:
    """Mark loops over i as parallel."""
    if loop.var.name != "i" or loop.kind != "serial":
        return None
    return loop.replace(kind="parallel")


OWN = kernel(
    "A: f32[4, 8], C: f32[4, 8]",
    """
    for b in thread(0, 4, "blockIdx.x"):
        for t in thread(0, 8, "threadIdx.x"):
            S = alloc(f32[8], scope="shared")
            S[t] = A[b, t]
            evaluate(barrier())
            C[b, t] = S[t] + f32(1.0)
    """,
)


@entry(
    kernel(
        "A: f32[3, 8], C: f32[8]",
        """
        for t in thread(0, 8, "threadIdx.x"):
            S = alloc(f32[2, 8], scope="shared")
            C[t] = f32(0.0)
            for k in serial(0, 3):
                S[k % 2, t] = A[k, t]
                evaluate(barrier())
                C[t] = C[t] + S[k % 2, 7 - t]
                evaluate(barrier())
        """,
    )
)
def one_barrier_for_two_buffers(stmt: Seq) -> Stmt | None:
    """The next iteration fills the other half, and comes to its barrier before this one again."""
    if len(stmt.stmts) == 4 and is_barrier(stmt.stmts[3]):
        return seq(*stmt.stmts[:3])
    return None


@entry(
    kernel(
        "A: f32[8, 4], C: f32[32]",
        """
        for i in serial(0, 8):
            for j in serial(0, 4):
                C[4 * i + j] = A[i, j]
        """,
    )
)
def parallel_windows(loop: For) -> Stmt | None:
    """Windows of four, four apart."""
    return parallel(loop)


@entry(
    kernel(
        "A: f32[25], F: i32[1]",
        """
        F[0] = 0
        for i in serial(0, 25):
            if A[i] > f32(0.0):
                F[0] = 1
        """,
    )
)
def raise_a_flag_in_parallel(loop: For) -> Stmt | None:
    """All write the same value."""
    return parallel(loop)


@entry(
    kernel(
        "A: f32[32], C: f32[32]",
        """
        for i in serial(0, 16):
            C[i + 16] = C[i] + A[i]
        """,
    )
)
def vectorize_across_a_distance_of_sixteen(loop: For) -> Stmt | None:
    """No lane reads what another one stores."""
    return loop.replace(kind="vectorized") if loop.kind == "serial" else None


@entry(
    kernel(
        "A: f32[32], C: f32[32]",
        """
        for i in serial(0, 32):
            C[i] = A[31 - i] + f32(1.0)
        """,
    )
)
def bind_to_threads(loop: For) -> Stmt | None:
    """Each thread has an element of its own."""
    if loop.kind != "serial":
        return None
    return loop.replace(kind="thread", thread="threadIdx.x")


@entry(OWN)
def one_barrier_more(stmt: Seq) -> Stmt | None:
    """A barrier too many does no harm where all threads come to it."""
    if len(stmt.stmts) != 3:
        return None
    return seq(*stmt.stmts, Evaluate(call("barrier")))


@entry(
    kernel(
        "A: f32[30], I: u8[30], C: f32[30]",
        """
        for i in serial(0, 30):
            C[i] = A[cast(I[i] % 30, i64)]
        """,
    )
)
def gather_in_parallel(loop: For) -> Stmt | None:
    """Only the load depends on data."""
    return parallel(loop)


@entry(OWN)
def drop_a_barrier_between_accesses_of_one_thread(stmt: Seq) -> Stmt | None:
    """Each thread reads what it wrote itself."""
    if not any(is_barrier(inner) for inner in stmt.stmts):
        return None
    return seq(*(inner for inner in stmt.stmts if not is_barrier(inner)))


@entry(
    kernel(
        "A: f32[12], C: f32[24]",
        """
        for i in serial(0, 12):
            C[2 * i] = A[i]
            C[2 * i + 1] = -A[i]
        """,
    )
)
def parallel_pairs(loop: For) -> Stmt | None:
    """Even and odd elements of one iteration."""
    return parallel(loop)
