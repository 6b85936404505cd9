"""Legal passes about memory: reuse, lifetimes, layout, indexing, views, bounds."""

from irkit.core import rewrite, substitute, walk
from irkit.ir import (
    F32,
    Allocate,
    Buffer,
    Conditional,
    Evaluate,
    Expr,
    FloorMod,
    For,
    Let,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    View,
    as_int,
    call,
    const,
    index,
    minimum,
    select,
    seq,
)
from tests.catalogue.entries import Entries
from tests.catalogue.grids import TRANSPOSE
from tests.catalogue.programs import SOFTMAX, each, kernel

entry = Entries("storage", legal=True)
CHAIN = kernel(
    "A: f32[8], C: f32[8]",
    """
    T = alloc(f32[8])
    U = alloc(f32[8])
    for i in serial(0, 8):
        T[i] = A[i] * f32(2.0)
    for i in serial(0, 8):
        U[i] = T[i] + f32(1.0)
    for i in serial(0, 8):
        C[i] = U[i] * U[7 - i]
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
    T = alloc(f32[20])
    for i in serial(0, 20):
        T[i] = A[i] * A[i]
        if i >= 2:
            C[i - 2] = T[i - 2] + T[i - 1] + T[i]
    """,
)


def _with_buffer(stmt: Allocate, new: Buffer) -> Allocate:
    return stmt.replace(buffer=new, body=substitute(stmt.body, {stmt.buffer: new}))


def _reindexed(stmt: Allocate, new: Buffer, at: object) -> Allocate:
    old = stmt.buffer

    def load(node: Load) -> Expr | None:
        return new[at(node.indices)] if node.buffer is old else None

    def store(node: Store) -> Stmt | None:
        return Store(new, at(node.indices), node.value) if node.buffer is old else None

    return Allocate(new, rewrite(rewrite(stmt.body, load), store))


@entry(CHAIN)
def reuse_a_buffer_element_by_element(stmt: Allocate) -> Stmt | None:
    """T[i] is read for the last time where U[i] is written."""
    inner = stmt.body
    if not isinstance(inner, Allocate):
        return None
    return stmt.replace(body=substitute(inner.body, {inner.buffer: stmt.buffer}))


@entry(each("f32", "f32", "A[i] + f32(1.0)").replace("C[i] = A[i]", "C[i] = C[i] * A[i]"))
def a_copy_of_what_is_loaded(store: Store) -> Stmt | None:
    """Loads into a name first."""
    loads = [node for node in walk(store.value, Load) if node.buffer is store.buffer]
    if not loads:
        return None
    old = Var("old", loads[0].dtype)

    def named(node: Load) -> Expr | None:
        return old if node.buffer is store.buffer else None

    return Let(old, loads[0], store.replace(value=rewrite(store.value, named)))


@entry(TILE)
def transpose_a_layout(stmt: Allocate) -> Stmt | None:
    """Loads and stores agree on the new layout."""
    rows, columns = stmt.buffer.shape
    return _reindexed(stmt, stmt.buffer.replace(shape=(columns, rows)), lambda at: at[::-1])


@entry(TILE)
def flatten_a_temporary(stmt: Allocate) -> Stmt | None:
    """Row by row, with the number of columns as the stride."""
    rows, columns = stmt.buffer.shape
    if stmt.buffer.rank != 2:
        return None
    flat = Buffer(stmt.buffer.name, (index(as_int(rows) * as_int(columns)),), F32)
    return _reindexed(stmt, flat, lambda at: (at[0] * columns + at[1],))


@entry(TILE)
def pad_the_rows_of_a_temporary(stmt: Allocate) -> Stmt | None:
    """An unused column keeps rows apart in the cache."""
    rows, columns = stmt.buffer.shape
    return _with_buffer(stmt, stmt.buffer.replace(shape=(rows, index(as_int(columns) + 1))))


@entry(TILE)
def swizzle_the_columns_of_a_temporary(stmt: Allocate) -> Stmt | None:
    """The columns of each row are rotated, by the same amount in loads and stores."""
    _, columns = stmt.buffer.shape
    return _reindexed(stmt, stmt.buffer.copy(), lambda at: (at[0], (at[1] + at[0]) % columns))


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
def flatten_a_strided_buffer(func: PrimFunc) -> PrimFunc:
    """The rows are eight elements apart; the memory ends with the last element."""
    source = func.params[0]
    flat = Buffer("A_flat", (index(30),), F32)

    def load(node: Load) -> Expr | None:
        if node.buffer is not source:
            return None
        i, j = node.indices
        return flat[i * 8 + j]

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
def read_a_view_with_its_offset(stmt: View) -> Stmt | None:
    """The loads go to the memory itself."""

    def load(node: Load) -> Expr | None:
        if node.buffer is not stmt.buffer:
            return None
        return stmt.source[node.indices[0] + stmt.offset]

    return rewrite(stmt.body, load)


@entry(
    kernel(
        "A: f32[3, 8], C: f32[24]",
        """
        for i in serial(0, 3):
            for j in serial(0, 8):
                C[i * 8 + j] = A[i, j]
        """,
    )
)
def store_through_a_view_of_two_dimensions(func: PrimFunc) -> PrimFunc:
    """The view has the rows that the index makes."""
    output = func.params[1]
    view = Buffer("C_rows", (index(3), index(8)), F32)

    def store(node: Store) -> Stmt | None:
        flat = node.indices[0]
        return Store(view, (flat.a.a, flat.b), node.value) if node.buffer is output else None

    return func.replace(body=View(view, output, index(0), rewrite(func.body, store)))


@entry(WINDOW)
def keep_a_window_of_three(stmt: Allocate) -> Stmt | None:
    """Three elements are alive at once."""
    return _reindexed(stmt, stmt.buffer.replace(shape=(index(3),)), lambda at: (at[0] % 3,))


@entry(WINDOW)
def keep_a_window_of_four(stmt: Allocate) -> Stmt | None:
    """A power of two is easier to index, and larger than needed."""
    return _reindexed(stmt, stmt.buffer.replace(shape=(index(4),)), lambda at: (at[0] & 3,))


@entry(SOFTMAX)
def take_an_allocation_out_of_a_loop(loop: For) -> Stmt | None:
    """Each row writes the memory before it reads it."""
    if isinstance(loop.body, Allocate):
        return loop.body.replace(body=loop.replace(body=loop.body.body))
    return None


@entry(SOFTMAX)
def local_memory_for_scalars(stmt: Allocate) -> Stmt | None:
    """Nothing but one iteration uses it."""
    if stmt.buffer.scope == "local":
        return None
    return _with_buffer(stmt, stmt.buffer.replace(scope="local"))


@entry(
    kernel(
        "A: f32[10], C: f32[10]",
        """
        T = alloc(f32[10])
        for i in serial(0, 10):
            T[i] = A[i]
        for i in serial(0, 10):
            C[i] = T[9 - i] + T[i]
        """,
    )
)
def read_the_source_of_a_copy(stmt: Allocate) -> Stmt | None:
    """A is an input and never written."""
    copy, *rest = stmt.body.stmts
    return substitute(seq(*rest), {stmt.buffer: copy.body.value.buffer})


@entry(CHAIN)
def compute_elements_where_they_are_read(stmt: Allocate) -> Stmt | None:
    """T[i] is a function of i, and A does not change."""
    if isinstance(stmt.body, Allocate):
        return None

    def value_of(loop: For, at: Expr) -> Expr:
        return substitute(loop.body.value, {loop.var: at})

    producer = next(
        s for s in stmt.body.stmts if isinstance(s, For) and s.body.buffer is stmt.buffer
    )

    def inline(node: Load) -> Expr | None:
        return value_of(producer, node.indices[0]) if node.buffer is stmt.buffer else None

    rest = [rewrite(s, inline) for s in stmt.body.stmts if s is not producer]
    return seq(*rest)


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
def two_buffers_in_one_arena(stmt: Allocate) -> Stmt | None:
    """The second begins where the first ends."""
    inner = stmt.body
    if not isinstance(inner, Allocate):
        return None
    first, second = as_int(stmt.buffer.shape[0]), as_int(inner.buffer.shape[0])
    arena = Buffer("arena", (index(first + second),), F32)
    below = View(inner.buffer, arena, index(first), inner.body)
    return Allocate(arena, View(stmt.buffer, arena, index(0), below))


@entry(
    kernel(
        "A: f32[12], C: f32[12]",
        """
        for i in serial(0, 12):
            C[i] = (A[i + 1] if i < 11 else f32(0.0))
        """,
    )
)
def load_an_element_that_is_there_always(node: Conditional) -> Expr | None:
    """The index is limited instead of the load."""
    match node:
        case Conditional(cond, Load() as load, other):
            safe = load.replace(indices=(minimum(load.indices[0], 11),))
            return select(cond, safe, other)
        case _:
            return None


@entry(CHAIN)
def prefetch_what_is_read(store: Store) -> Stmt | None:
    """A prefetch does nothing, even outside."""
    load = next(iter(walk(store.value, Load)), None)
    if load is None or load.buffer.name != "A":
        return None
    ahead = load.buffer[load.indices[0] + 4]
    return seq(Evaluate(call("prefetch", ahead)), store)


@entry(CHAIN)
def align_temporaries(stmt: Allocate) -> Stmt | None:
    """Alignment says nothing about values."""
    if stmt.buffer.align:
        return None
    return _with_buffer(stmt, stmt.buffer.replace(align=64))


@entry(CHAIN)
def two_temporaries_as_rows_of_one(stmt: Allocate) -> Stmt | None:
    """T becomes row 0 and U row 1."""
    inner = stmt.body
    if not isinstance(inner, Allocate):
        return None
    both = Buffer("both", (index(2), index(8)), F32)
    first = _reindexed(Allocate(stmt.buffer, inner.body), both, lambda at: (index(0), *at))
    return _reindexed(Allocate(inner.buffer, first.body), both, lambda at: (index(1), *at))


@entry(CHAIN)
def zero_a_temporary_first(stmt: Allocate) -> Stmt | None:
    """Whatever is there is overwritten before it is read."""
    if isinstance(stmt.body, Allocate):
        return None
    var = Var("z")
    clear = For(var, index(0), index(8), Store(stmt.buffer, (var,), const(0.0, F32)))
    return stmt.replace(body=seq(clear, stmt.body))


@entry(TRANSPOSE)
def pad_a_shared_tile(stmt: Allocate) -> Stmt | None:
    """The usual ninth column against bank conflicts."""
    return _with_buffer(stmt, stmt.buffer.replace(shape=(index(8), index(9))))


@entry(TRANSPOSE)
def transpose_a_shared_tile(stmt: Allocate) -> Stmt | None:
    """The tile is stored by columns, and read by rows."""
    return _reindexed(stmt, stmt.buffer.copy(), lambda at: at[::-1])


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
def three_halves_of_a_double_buffer(func: PrimFunc) -> PrimFunc:
    """One more half than needed, in turn."""

    def turn(node: FloorMod) -> Expr | None:
        return node.a % 3

    def larger(stmt: Allocate) -> Stmt | None:
        return _with_buffer(stmt, stmt.buffer.replace(shape=(index(3), index(8))))

    return rewrite(rewrite(func, turn), larger)
