"""Wrong passes about windows, copies, masks and arenas of memory."""

from irkit.core import rewrite, substitute
from irkit.ir import (
    F16,
    F32,
    Add,
    Allocate,
    Buffer,
    Conditional,
    Expr,
    FloorMod,
    For,
    Let,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    as_int,
    cast,
    index,
    seq,
)
from tests.catalogue.entries import Entries
from tests.catalogue.grids import TRANSPOSE
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
WINDOW = kernel(
    "A: f32[20], C: f32[18]",
    """
    T = alloc(f32[3])
    for i in serial(0, 20):
        T[i % 3] = A[i] * A[i]
        if i >= 2:
            C[i - 2] = T[(i - 2) % 3] + T[(i - 1) % 3] + T[i % 3]
    """,
)
ROWS = kernel(
    "A: f32[5, 7], C: f32[5]",
    """
    for i in serial(0, 5):
        T = alloc(f32[8])
        for j in serial(0, 7):
            T[j] = A[i, j]
        T[7] = f32(0.0)
        C[i] = f32(0.0)
        for j in serial(0, 8):
            C[i] = C[i] + T[j]
    """,
)


def _with_buffer(stmt: Allocate, new: Buffer) -> Allocate:
    return stmt.replace(buffer=new, body=substitute(stmt.body, {stmt.buffer: new}))


@entry(WINDOW)
def a_window_one_element_short(func: PrimFunc) -> PrimFunc:
    """Three elements are alive at once; two places hold two."""

    def short(node: FloorMod) -> Expr | None:
        return node.a % 2 if as_int(node.b) == 3 else None

    def smaller(stmt: Allocate) -> Stmt | None:
        return _with_buffer(stmt, stmt.buffer.replace(shape=(index(2),)))

    return rewrite(rewrite(func, short), smaller)


@entry(ROWS)
def leave_the_padding_as_it_is(stmt: Store) -> Stmt | None:
    """The padding is read with the rest, and never written now."""
    return seq() if as_int(stmt.indices[0]) == 7 else None


@entry(
    kernel(
        "A: f32[4, 9], C: f32[4]",
        """
        for i in serial(0, 4):
            T = alloc(f32[1])
            T[0] = f32(0.0)
            for j in serial(0, 9):
                T[0] = T[0] + A[i, j]
            C[i] = T[0]
        """,
    )
)
def take_an_accumulator_and_its_initial_value_out(loop: For) -> Stmt | None:
    """Each row has to begin with 0 again."""
    match loop.body:
        case Allocate(_, Seq(stmts)) as found if isinstance(stmts[0], Store):
            rest = loop.replace(body=seq(*stmts[1:]))
            return found.replace(body=seq(stmts[0], rest))
        case _:
            return None


@entry(TRANSPOSE)
def shared_memory_as_registers(stmt: Allocate) -> Stmt | None:
    """Every thread gets a tile of its own, of which it writes one element."""
    if stmt.buffer.scope != "shared":
        return None
    return _with_buffer(stmt, stmt.buffer.replace(scope="local"))


@entry(
    kernel(
        "A: f32[8], I: i64[8], C: f32[8]",
        """
        for i in serial(0, 8):
            C[i] = f32(0.0)
        for i in serial(0, 8):
            C[i] = A[i]
            C[I[i] & 7] = f32(5.0)
            C[7 - i] = C[i] + f32(1.0)
        """,
    )
)
def forward_a_store_past_a_scatter(stmt: Seq) -> Stmt | None:
    """The index of the scatter may be i."""
    match stmt.stmts:
        case (Store() as one, Store() as two, Store(value=Add(Load(), c)) as three):
            return seq(one, two, three.replace(value=one.value + c))
        case _:
            return None


@entry(
    kernel(
        "A: f32[10], C: f32[10]",
        """
        T = alloc(f32[10])
        for i in serial(0, 10):
            T[i] = C[i]
        for i in serial(0, 10):
            C[i] = A[i]
        for i in serial(0, 10):
            C[i] = C[i] + T[9 - i]
        """,
    )
)
def read_the_source_of_a_copy(stmt: Allocate) -> Stmt | None:
    """The source is overwritten before the copy is read."""
    copy, *rest = stmt.body.stmts
    source = copy.body.value.buffer
    return substitute(seq(*rest), {stmt.buffer: source})


@entry(TWO)
def temporaries_in_half_precision(stmt: Allocate) -> Stmt | None:
    """Saves memory, and thirteen bits of every element."""
    if stmt.buffer.dtype != F32:
        return None
    old, new = stmt.buffer, stmt.buffer.replace(dtype=F16)

    def load(node: Load) -> Expr | None:
        return cast(new[node.indices], F32) if node.buffer is old else None

    def store(node: Store) -> Stmt | None:
        if node.buffer is not old:
            return None
        return Store(new, node.indices, cast(node.value, F16))

    return Allocate(new, rewrite(rewrite(stmt.body, load), store))


@entry(
    kernel(
        "A: f32[6, 8], C: f32[6, 8]",
        """
        T = alloc(f32[2, 8])
        for j in serial(0, 8):
            T[0, j] = A[0, j]
        for i in serial(0, 6):
            if i < 5:
                for j in serial(0, 8):
                    T[(i + 1) % 2, j] = A[i + 1, j]
            for j in serial(0, 8):
                C[i, j] = T[i % 2, 7 - j]
        """,
    )
)
def fill_the_half_that_is_being_read(node: FloorMod) -> Expr | None:
    """A double buffer whose halves are taken for the same parity."""
    return node.a.a % 2 if isinstance(node.a, Add) else None


@entry(
    kernel(
        "A: f32[13], C: f32[16]",
        """
        for i in serial(0, 4):
            m: boolx4 = ramp(i * 4, 1, 4) < broadcast(13, 4)
            C[ramp(i * 4, 1, 4)] = load(A, (ramp(i * 4, 1, 4),), mask=m)
        """,
    )
)
def load_without_the_mask(node: Load) -> Expr | None:
    """The last lanes are outside of A."""
    return None if node.mask is None else node.replace(mask=None)


@entry(
    kernel(
        "A: f32[12], C: f32[12]",
        """
        for i in serial(0, 12):
            C[i] = (A[i + 1] if i < 11 else f32(0.0))
        """,
    )
)
def load_ahead_of_the_condition(store: Store) -> Stmt | None:
    """The load of the element behind the last is guarded, and becomes unconditional."""
    match store.value:
        case Conditional(cond, Load() as load, other):
            ahead = Var("ahead", load.dtype)
            new = Conditional(cond, ahead, other, store.value.dtype)
            return Let(ahead, load, store.replace(value=new))
        case _:
            return None


@entry(TILE)
def a_tile_of_one_row_less(stmt: Allocate) -> Stmt | None:
    """Takes the largest index for the extent."""
    rows, columns = stmt.buffer.shape
    return _with_buffer(stmt, stmt.buffer.replace(shape=(index(as_int(rows) - 1), columns)))


@entry(
    kernel(
        "A: f32[16], C: f32[16]",
        """
        S = alloc(f32[4])
        T = alloc(f32[8])
        for i in serial(0, 4):
            S[i] = A[i]
        for i in serial(0, 8):
            T[i] = A[i + 8]
        for i in serial(0, 16):
            C[i] = S[i % 4] * T[i % 8]
        """,
    )
)
def two_buffers_in_one_arena_that_overlap(stmt: Allocate) -> Stmt | None:
    """The second begins at the size of the first in bytes divided by 8 instead of 4."""
    inner = stmt.body
    if not isinstance(inner, Allocate):
        return None
    arena = Buffer("arena", (index(16),), F32)
    at = as_int(stmt.buffer.shape[0]) // 2
    second = View(inner.buffer, arena, index(at), inner.body)
    return Allocate(arena, View(stmt.buffer, arena, index(0), second))


@entry(
    kernel(
        "A: f32[6, 6], C: f32[6, 6]",
        """
        for i in serial(0, 6):
            for j in serial(0, 6):
                C[i, j] = A[j, i] + A[i, j]
        """,
    )
)
def swap_the_indices_of_a_square(load: Load) -> Expr | None:
    """Normalises the order of indices by name, as if the matrix were symmetric."""
    names = [getattr(i, "name", "") for i in load.indices]
    return load.replace(indices=load.indices[::-1]) if names == ["j", "i"] else None


@entry(
    kernel(
        "A: f32[9], C: f32[9], D: f32[9]",
        """
        for i in serial(0, 9):
            C[i] = A[i] * f32(2.0)
            D[i] = C[i] + f32(1.0)
        """,
    )
)
def drop_an_output_that_is_read_later(stmt: Seq) -> Stmt | None:
    """Replaces the reads of C by its value and drops the store, though C is a result."""
    match stmt.stmts:
        case (Store() as one, Store(value=Add(Load() as load, c)) as two):
            return two.replace(value=one.value + c) if load.buffer is one.buffer else None
        case _:
            return None
