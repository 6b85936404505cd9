"""Wrong passes about the bodies of loops: conditions, stores, values, peeling."""

from irkit.core import fresh, substitute
from irkit.ir import (
    For,
    If,
    Let,
    Seq,
    Stmt,
    Store,
    Var,
    as_int,
    const,
    seq,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import kernel

entry = Entries("loops", legal=False)


@entry(
    kernel(
        "A: f32[9], C: f32[9]",
        """
        for i in serial(0, 9):
            C[i] = A[i]
        for i in serial(1, 9):
            C[i] = C[i] + C[i - 1] * f32(0.5)
        """,
    )
)
def reverse_a_recurrence(loop: For) -> Stmt | None:
    """Backwards, each step reads the value before its own update."""
    begin, end = as_int(loop.begin), as_int(loop.end)
    if begin != 1 or end is None:
        return None
    return loop.replace(body=substitute(loop.body, {loop.var: begin + end - 1 - loop.var}))


@entry(
    kernel(
        "A: f32[12], C: f32[12]",
        """
        for i in serial(0, 12):
            C[i] = A[i]
            if C[0] > f32(1.0):
                C[i] = C[i] - f32(4.0)
        """,
    )
)
def unswitch_a_loop_whose_condition_changes(loop: For) -> Stmt | None:
    """The first iteration may write the element that the condition reads."""
    match loop.body:
        case Seq((first, If(cond, then))):
            yes = loop.replace(body=seq(first, then))
            return If(cond, yes, fresh(loop.replace(body=first)))
        case _:
            return None


@entry(
    kernel(
        "A: f32[12], C: f32[12]",
        """
        for i in serial(0, 12):
            if A[i] > f32(0.0):
                C[i] = f32(1.0) - C[i]
            if C[i] > f32(0.0):
                C[i] = C[i] * f32(2.0)
        """,
    )
)
def join_conditions_in_a_row(stmt: Seq) -> Stmt | None:
    """The second condition is evaluated before the first branch has run."""
    match stmt.stmts:
        case (If(p, x, None), If(q, y, None)):
            name = Var("second", q.dtype)
            return Let(name, q, seq(If(p, x), If(name, y)))
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
def peel_without_moving_the_range(loop: For) -> Stmt | None:
    """The loop still begins at 0, and its first iteration now loads A[-1]."""
    match loop.body:
        case If(_, then, otherwise) if otherwise is not None:
            first = substitute(then, {loop.var: loop.begin})
            return seq(first, loop.replace(body=otherwise))
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
def interchange_a_triangle_as_a_rectangle(loop: For) -> Stmt | None:
    """j goes from 0 to 4 for every i; the elements above the diagonal are written too."""
    inner = loop.body
    if not isinstance(inner, For) or as_int(inner.end) is not None:
        return None
    return inner.replace(end=loop.end, body=loop.replace(body=inner.body))


@entry(
    kernel(
        "A: f32[20], n: i64, C: f32[20]",
        """
        assert n <= 20, "too many"
        assert n >= 0, "negative"
        for i in serial(0, n):
            C[i] = A[i]
        for i in serial(n, 20):
            C[i] = f32(0.0)
        """,
    )
)
def join_adjacent_loops_with_the_first_body(stmt: Seq) -> Stmt | None:
    """The ranges are adjacent, but the bodies differ."""
    loops = [s for s in stmt.stmts if isinstance(s, For)]
    if len(loops) != 2 or loops[0].end is not loops[1].begin:
        return None
    rest = [s for s in stmt.stmts if not isinstance(s, For)]
    return seq(*rest, loops[0].replace(end=loops[1].end))


@entry(
    kernel(
        "A: f32[6, 6], C: f32[6, 6]",
        """
        for i in serial(0, 6):
            for j in serial(0, 6):
                C[i, j] = A[i, j]
                C[j, i] = C[j, i] + A[i, j]
        """,
    )
)
def sink_a_store_below_its_reader(stmt: Seq) -> Stmt | None:
    """On the diagonal both statements touch one element."""
    match stmt.stmts:
        case (Store() as one, Store() as two):
            return seq(two, one)
        case _:
            return None


@entry(
    kernel(
        "A: f32[16], C: f32[16], D: f32[16]",
        """
        for i in serial(0, 16):
            C[i] = A[i] * A[i] + f32(1.0)
            D[i] = A[15 - i] * A[15 - i] + f32(1.0)
        """,
    )
)
def number_values_without_their_indices(stmt: Seq) -> Stmt | None:
    """Takes two loads of one buffer for the same value."""
    match stmt.stmts:
        case (Store() as one, Store() as two):
            name = Var("same", one.value.dtype)
            return Let(name, one.value, seq(one.replace(value=name), two.replace(value=name)))
        case _:
            return None


@entry(
    kernel(
        "A: f32[12], C: f32[12]",
        """
        T = alloc(f32[1])
        T[0] = f32(0.0)
        for i in serial(0, 12):
            C[i] = T[0] + A[i]
            T[0] = A[i]
        """,
    )
)
def drop_a_store_whose_reader_comes_before(loop: For) -> Stmt | None:
    """The store is read in the next iteration, above it in the text."""
    match loop.body:
        case Seq((first, Store(buffer))) if not buffer.name.startswith("C"):
            return loop.replace(body=first)
        case _:
            return None


@entry(
    kernel(
        "A: f32[4, 30], C: f32[4]",
        """
        for i in serial(0, 4):
            C[i] = f32(0.0)
            for k in serial(0, 30):
                if A[i, k] > f32(0.0):
                    C[i] = C[i] + f32(1.0)
        """,
    )
)
def stop_counting_after_sixteen(loop: For) -> Stmt | None:
    """Unrolls a loop up to a limit, and forgets what is beyond it."""
    count = trip_count(loop)
    if loop.var.name != "k" or count is None:
        return None
    copies = [substitute(loop.body, {loop.var: const(k, loop.var.dtype)}) for k in range(count)]
    return seq(*copies[:16])
