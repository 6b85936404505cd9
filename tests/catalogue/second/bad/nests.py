"""Wrong transformations of loop nests."""

from irkit.core import fresh, substitute
from irkit.ir import (
    U8,
    Allocate,
    For,
    If,
    Seq,
    Stmt,
    Store,
    as_int,
    cast,
    index,
    le,
    seq,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import kernel

entry = Entries("nests", legal=False)
RELAX = kernel(
    "C: f32[18]",
    """
    for t in serial(0, 3):
        for i in serial(1, 17):
            C[i] = C[i - 1] * f32(0.5) + C[i + 1]
    """,
)
COPY = kernel(
    "A: f32[n], C: f32[n]",
    """
    for i in serial(0, n):
        C[i] = A[i] * f32(3.0)
    """,
)


@entry(RELAX)
def all_steps_of_time_for_one_point(loop: For) -> Stmt | None:
    """The next step of a point needs its neighbours at the step before."""
    inner = loop.body
    if not isinstance(inner, For):
        return None
    return inner.replace(body=loop.replace(body=inner.body))


@entry(COPY)
def unroll_without_a_remainder(loop: For) -> Stmt | None:
    """What is left after the last four iterations is not done."""
    var = loop.var.copy()
    copies = [fresh(substitute(loop.body, {loop.var: var * 4 + k})) for k in range(4)]
    return For(var, loop.begin, loop.end // 4, seq(*copies))


@entry(COPY)
def guard_a_split_one_too_late(loop: For) -> Stmt | None:
    """The guard admits the extent itself, which is one past the end."""
    outer, inner = loop.var.copy("o"), loop.var.copy("i")
    at = outer * 16 + inner
    body = If(le(at, loop.end), substitute(loop.body, {loop.var: at}))
    return For(outer, index(0), (loop.end + 15) // 16, For(inner, index(0), index(16), body))


@entry(
    kernel(
        "A: f32[9], C: f32[10]",
        """
        C[0] = f32(1.0)
        for i in serial(0, 9):
            C[i + 1] = C[i] * A[i]
        """,
    )
)
def run_a_recurrence_backwards(loop: For) -> Stmt | None:
    """Each element needs the one before it."""
    last = as_int(loop.end) - 1
    return loop.replace(body=substitute(loop.body, {loop.var: last - loop.var}))


@entry(
    kernel(
        "A: f32[20], C: f32[20], m: i64",
        """
        for i in serial(max(m, 0), 20):
            C[i] = A[i] + f32(1.0)
        """,
    )
)
def peel_an_iteration_that_may_not_be(loop: For) -> Stmt | None:
    """From 20 on the loop is empty, and the peeled store leaves the buffer."""
    first = substitute(loop.body, {loop.var: loop.begin})
    return seq(first, fresh(loop.replace(begin=loop.begin + 1)))


@entry(
    kernel(
        "A: f32[12], B: f32[12], C: f32[13]",
        """
        for i in serial(0, 12):
            C[i] = A[i]
        for i in serial(0, 12):
            C[i + 1] = B[i]
        """,
    )
)
def fuse_loops_that_write_the_same_elements(stmt: Seq) -> Stmt | None:
    """The next iteration overwrites what the second statement stored."""
    match stmt.stmts:
        case (For() as first, For() as second):
            body = substitute(second.body, {second.var: first.var})
            return first.replace(body=seq(first.body, body))
        case _:
            return None


@entry(
    kernel(
        "A: f32[5, 7], C: f32[5]",
        """
        for i in serial(0, 5):
            T = alloc(f32[1])
            T[0] = f32(0.0)
            for k in serial(0, 7):
                T[0] = T[0] + A[i, k]
            C[i] = T[0]
        """,
    )
)
def set_an_accumulator_to_zero_once(loop: For) -> Stmt | None:
    """All rows but the first begin with the sum of those before."""
    match loop.body:
        case Allocate(buffer, Seq((Store() as zero, *rest))):
            return Allocate(buffer, seq(zero, loop.replace(body=seq(*rest))))
        case _:
            return None


@entry(
    kernel(
        "A: f32[n], C: f32[n]",
        """
        for i in serial(0, n):
            C[i] = A[i]
        """,
    )
)
def count_in_a_byte(store: Store) -> Stmt | None:
    """From 256 elements on the index begins at 0 again."""
    (at,) = store.indices
    return store.replace(indices=(cast(cast(at, U8), at.dtype),))


@entry(
    kernel(
        "A: f32[12, 12], C: f32[12, 12]",
        """
        for i in serial(0, 12):
            for j in serial(0, i + 1):
                C[i, j] = A[i, j] * f32(2.0)
        """,
    )
)
def interchange_a_triangle_without_the_diagonal(loop: For) -> Stmt | None:
    """The rows of column j begin at j, not at j + 1."""
    inner = loop.body
    if not isinstance(inner, For):
        return None
    rows = loop.replace(begin=inner.var + 1, body=inner.body)
    return inner.replace(end=loop.end, body=rows)
