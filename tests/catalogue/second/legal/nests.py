"""Legal transformations of loop nests."""

from irkit.core import fresh, substitute
from irkit.ir import For, If, Seq, Stmt, as_int, index, lt, seq
from tests.catalogue.entries import Entries
from tests.catalogue.programs import kernel

entry = Entries("nests", legal=True)
COPY = kernel(
    "A: f32[n], C: f32[n]",
    """
    for i in serial(0, n):
        C[i] = A[i] * f32(3.0)
    """,
)


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
def interchange_a_triangle(loop: For) -> Stmt | None:
    """The rows of column j begin at j."""
    inner = loop.body
    if not isinstance(inner, For):
        return None
    return inner.replace(end=loop.end, body=loop.replace(begin=inner.var, body=inner.body))


@entry(
    kernel(
        "C: f32[9, 11]",
        """
        for i in serial(1, 9):
            for j in serial(1, 11):
                C[i, j] = C[i - 1, j] * f32(0.5) + C[i, j - 1]
        """,
    )
)
def interchange_a_wavefront(loop: For) -> Stmt | None:
    """The neighbours above and to the left come first in either order."""
    inner = loop.body
    if not isinstance(inner, For):
        return None
    return inner.replace(body=loop.replace(body=inner.body))


@entry(
    kernel(
        "A: f32[9], C: f32[9]",
        """
        for i in serial(0, 9):
            C[i] = C[i] * A[i]
        """,
    )
)
def run_backwards(loop: For) -> Stmt | None:
    """Each iteration has an element of its own."""
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
def peel_if_there_is_an_iteration(loop: For) -> Stmt | None:
    """A guard around the peeled iteration."""
    first = If(lt(loop.begin, loop.end), substitute(loop.body, {loop.var: loop.begin}))
    return seq(first, fresh(loop.replace(begin=loop.begin + 1)))


@entry(COPY)
def split_with_a_guard(loop: For) -> Stmt | None:
    """Sixteen at a time, and a guard."""
    outer, inner = loop.var.copy("o"), loop.var.copy("i")
    at = outer * 16 + inner
    body = If(lt(at, loop.end), substitute(loop.body, {loop.var: at}))
    return For(outer, index(0), (loop.end + 15) // 16, For(inner, index(0), index(16), body))


@entry(COPY)
def unroll_with_a_remainder(loop: For) -> Stmt | None:
    """Four at a time, and a loop for what is left."""
    var = loop.var.copy()
    copies = [fresh(substitute(loop.body, {loop.var: var * 4 + k})) for k in range(4)]
    fours = For(var, loop.begin, loop.end // 4, seq(*copies))
    return seq(fours, loop.replace(begin=loop.end // 4 * 4))


@entry(
    kernel(
        "A: f32[12], C: f32[12], D: f32[12]",
        """
        for i in serial(0, 12):
            C[i] = A[i] + f32(1.0)
        for i in serial(0, 12):
            D[i] = C[i] * C[i]
        """,
    )
)
def fuse_element_by_element(stmt: Seq) -> Stmt | None:
    """The second statement reads what the first stored in the same iteration."""
    match stmt.stmts:
        case (For() as first, For() as second):
            body = substitute(second.body, {second.var: first.var})
            return first.replace(body=seq(first.body, body))
        case _:
            return None


@entry(
    kernel(
        "A: f32[12], C: f32[13], D: f32[12]",
        """
        C[0] = f32(0.0)
        for i in serial(0, 12):
            C[i + 1] = A[i] + f32(1.0)
            D[i] = C[i] * f32(2.0)
        """,
    )
)
def distribute_along_the_dependence(loop: For) -> Stmt | None:
    """D needs what C got in an earlier iteration."""
    match loop.body:
        case Seq((first, second)):
            return seq(loop.replace(body=first), fresh(loop.replace(body=second)))
        case _:
            return None


@entry(
    kernel(
        "A: f32[6, 7], C: f32[6, 7]",
        """
        for i in serial(0, 6):
            for j in serial(0, 7):
                C[i, j] = A[i, j] + f32(1.0)
        """,
    )
)
def one_loop_for_two(loop: For) -> Stmt | None:
    """Row and column are quotient and remainder by the number of columns."""
    inner = loop.body
    if not isinstance(inner, For):
        return None
    var = loop.var.copy("k")
    body = substitute(inner.body, {loop.var: var // 7, inner.var: var % 7})
    return For(var, index(0), index(42), body)
