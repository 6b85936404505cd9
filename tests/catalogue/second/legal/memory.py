"""Legal passes over memory."""

from irkit.core import rewrite, substitute
from irkit.ir import (
    Allocate,
    Expr,
    For,
    Load,
    Seq,
    Stmt,
    Store,
    View,
    index,
    seq,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import kernel

entry = Entries("memory", legal=True)
STAGES = kernel(
    "A: f32[10], C: f32[10]",
    """
    T = alloc(f32[10])
    U = alloc(f32[10])
    for i in serial(0, 10):
        T[i] = A[i] * A[i]
    for i in serial(0, 10):
        U[i] = T[i] + f32(1.0)
    for i in serial(0, 10):
        C[i] = U[9 - i]
    """,
)
TILE = kernel(
    "A: f32[6, 10], C: f32[10, 6]",
    """
    T = alloc(f32[6, 10])
    for i in serial(0, 6):
        for j in serial(0, 10):
            T[i, j] = A[i, j] - f32(1.0)
    for j in serial(0, 10):
        for i in serial(0, 6):
            C[j, i] = T[i, j]
    """,
)


@entry(STAGES)
def one_buffer_for_two_stages(alloc: Allocate) -> Stmt | None:
    """Each element of T is read for the last time where that of U is written."""
    inner = alloc.body
    if not isinstance(inner, Allocate):
        return None
    return alloc.replace(body=substitute(inner.body, {inner.buffer: alloc.buffer}))


@entry(STAGES)
def pool_two_buffers(alloc: Allocate) -> Stmt | None:
    """Ten elements and ten more."""
    inner = alloc.body
    if not isinstance(inner, Allocate):
        return None
    pool = alloc.buffer.replace(name="pool", shape=(index(20),))
    second = View(inner.buffer, pool, index(10), inner.body)
    return Allocate(pool, View(alloc.buffer, pool, index(0), second))


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
def allocate_before_the_loop(loop: For) -> Stmt | None:
    """Each iteration writes before it reads, and none runs beside another."""
    match loop.body:
        case Allocate(buffer, body):
            return Allocate(buffer, loop.replace(body=body))
        case _:
            return None


def _relaid(stmt: Allocate, shape: tuple[int, ...], turned: bool) -> Stmt | None:
    if len(stmt.buffer.shape) != 2:
        return None
    new = stmt.buffer.replace(shape=tuple(index(extent) for extent in shape))

    def load(node: Load) -> Expr | None:
        return node.replace(indices=node.indices[::-1]) if node.buffer is new and turned else None

    def store(node: Store) -> Stmt | None:
        return node.replace(indices=node.indices[::-1]) if node.buffer is new and turned else None

    return Allocate(new, rewrite(rewrite(substitute(stmt.body, {stmt.buffer: new}), load), store))


@entry(TILE)
def columns_before_rows(alloc: Allocate) -> Stmt | None:
    """A temporary buffer the other way round, at the store and at the load."""
    return _relaid(alloc, (10, 6), True)


@entry(TILE)
def pad_the_rows_of_a_tile(alloc: Allocate) -> Stmt | None:
    """One column more, which nobody reads."""
    return _relaid(alloc, (6, 11), False)


@entry(
    kernel(
        "A: f32[12], C: f32[12]",
        """
        for i in serial(0, 12):
            C[i] = f32(0.0)
            C[i] = A[i]
        """,
    )
)
def drop_a_store_that_the_next_overwrites(stmt: Seq) -> Stmt | None:
    """Nobody reads in between."""
    match stmt.stmts:
        case (Store(), Store() as second):
            return second
        case _:
            return None


@entry(
    kernel(
        "A: f32[8], C: f32[8]",
        """
        T = alloc(f32[8])
        for i in serial(0, 8):
            T[i] = A[i]
        for i in serial(0, 8):
            C[i] = T[7 - i] + A[i]
        """,
    )
)
def no_copy_of_what_stays(alloc: Allocate) -> Stmt | None:
    """Nobody writes A."""
    match alloc.body:
        case Seq((For(body=Store(value=Load() as source)), *rest)):
            return substitute(seq(*rest), {alloc.buffer: source.buffer})
        case _:
            return None


@entry(
    kernel(
        "A: f32[6, 8], C: f32[6, 8]",
        """
        T = alloc(f32[6, 8])
        for j in serial(0, 8):
            T[0, j] = A[0, j]
        for i in serial(1, 6):
            for j in serial(0, 8):
                T[i, j] = A[i, j] * f32(2.0)
            for j in serial(0, 8):
                C[i, j] = T[i - 1, j] + T[i, j]
        """,
    )
)
def keep_two_rows(alloc: Allocate) -> Stmt | None:
    """A row and the one before it, in turn."""
    if len(alloc.buffer.shape) != 2:
        return None
    small = alloc.buffer.replace(shape=(index(2), alloc.buffer.shape[1]))

    def load(node: Load) -> Expr | None:
        if node.buffer is not small:
            return None
        row, column = node.indices
        return node.replace(indices=(row % 2, column))

    def store(node: Store) -> Stmt | None:
        if node.buffer is not small:
            return None
        row, column = node.indices
        return node.replace(indices=(row % 2, column))

    body = substitute(alloc.body, {alloc.buffer: small})
    return Allocate(small, rewrite(rewrite(body, load), store))
