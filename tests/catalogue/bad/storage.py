"""Wrong passes about memory: reuse, lifetimes, layout, indexing, views, bounds."""

from irkit.core import rewrite, substitute, walk
from irkit.ir import (
    F32,
    Allocate,
    Buffer,
    Expr,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    View,
    index,
    seq,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import kernel

entry = Entries("storage", legal=False)
TWO = kernel(
    "A: f32[8], C: f32[8]",
    """
    T = alloc(f32[8])
    U = alloc(f32[8])
    for i in serial(0, 8):
        T[i] = A[i] * f32(2.0)
    for i in serial(0, 8):
        U[i] = T[7 - i] + f32(1.0)
    for i in serial(0, 8):
        C[i] = U[i] * T[i]
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


def _with_buffer(stmt: Allocate, new: Buffer) -> Allocate:
    return stmt.replace(buffer=new, body=substitute(stmt.body, {stmt.buffer: new}))


@entry(TWO)
def reuse_a_buffer_that_is_still_live(stmt: Allocate) -> Stmt | None:
    """T is read once more after U is written."""
    inner = stmt.body
    if not isinstance(inner, Allocate):
        return None
    return stmt.replace(body=substitute(inner.body, {inner.buffer: stmt.buffer}))


@entry(
    kernel(
        "A: f32[12], C: f32[12]",
        """
        T = alloc(f32[12])
        for i in serial(0, 12):
            T[i] = A[i]
        for i in serial(0, 12):
            C[i] = T[i] + T[(i + 11) % 12]
        """,
    )
)
def compute_in_place_of_a_shifted_read(stmt: Allocate) -> Stmt | None:
    """The output replaces the temporary; the neighbour has been overwritten by then."""
    output = next(s.buffer for s in walk(stmt.body, Store) if s.buffer is not stmt.buffer)
    return substitute(stmt.body, {stmt.buffer: output})


@entry(TILE)
def transpose_a_layout_in_the_loads_only(func: PrimFunc) -> PrimFunc:
    """The stores keep the old layout, in a buffer large enough for both."""

    def change(stmt: Allocate) -> Stmt | None:
        old = stmt.buffer
        new = old.replace(shape=(index(10), index(10)))

        def load(node: Load) -> Expr | None:
            return node.replace(indices=node.indices[::-1]) if node.buffer is old else None

        return _with_buffer(stmt.replace(body=rewrite(stmt.body, load)), new)

    return rewrite(func, change)


@entry(TILE)
def flatten_with_the_rows_for_a_stride(stmt: Allocate) -> Stmt | None:
    """The stride of a row is the number of columns; 6 makes rows overlap."""
    old = stmt.buffer
    rows, columns = old.shape
    flat = Buffer(old.name, (rows * columns,), old.dtype)

    def at(indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return (indices[0] * rows + indices[1],)

    def load(node: Load) -> Expr | None:
        return flat[at(node.indices)] if node.buffer is old else None

    def store(node: Store) -> Stmt | None:
        return Store(flat, at(node.indices), node.value) if node.buffer is old else None

    return Allocate(flat, rewrite(rewrite(stmt.body, load), store))


@entry(
    kernel(
        "A: buffer(f32[4, 6], strides=(8, 1)), C: f32[4, 6]",
        """
        for i in serial(0, 4):
            for j in serial(0, 6):
                C[i, j] = A[i, j]
        """,
    )
)
def flatten_a_strided_buffer_as_if_it_were_dense(func: PrimFunc) -> PrimFunc:
    """The rows of A are eight elements apart, not six."""
    source = func.params[0]
    flat = Buffer("A_flat", (index(24),), F32)

    def load(node: Load) -> Expr | None:
        if node.buffer is not source:
            return None
        i, j = node.indices
        return flat[i * 6 + j]

    return func.replace(body=View(flat, source, index(0), rewrite(func.body, load)))


@entry(
    kernel(
        "A: f32[24], C: f32[8]",
        """
        V = view(A, f32[8], offset=16)
        for i in serial(0, 8):
            C[i] = V[i] * f32(2.0)
        """,
    )
)
def read_a_view_without_its_offset(stmt: View) -> Stmt | None:
    """The view begins at element 16."""

    def load(node: Load) -> Expr | None:
        return stmt.source[node.indices] if node.buffer is stmt.buffer else None

    return rewrite(stmt.body, load)


@entry(
    kernel(
        "A: f32[8], C: f32[8]",
        """
        V = view(C, f32[4], offset=4)
        for i in serial(0, 4):
            C[i + 4] = A[i]
            V[i] = A[i + 4] * f32(3.0)
            C[i] = C[i + 4]
        """,
    )
)
def forward_a_store_past_its_view(stmt: Seq) -> Stmt | None:
    """V is the upper half of C, so the element has changed in between."""
    match stmt.stmts:
        case (Store() as one, Store() as two, Store(value=Load() as load) as three):
            if load.buffer is one.buffer and two.buffer is not one.buffer:
                return seq(one, two, three.replace(value=one.value))
        case _:
            pass
    return None
