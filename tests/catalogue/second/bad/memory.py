"""Wrong passes over memory: scratch space, pools, rolling buffers, elision of copies."""

from irkit.core import rewrite, substitute, walk
from irkit.ir import (
    Allocate,
    Expr,
    For,
    If,
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

entry = Entries("memory", legal=False)
SWAP = kernel(
    "A: f32[9], C: f32[9]",
    """
    T = alloc(f32[9])
    for i in serial(0, 9):
        T[i] = A[i]
    for i in serial(0, 9):
        C[i] = T[8 - i] * f32(2.0)
    """,
)


@entry(SWAP)
def the_input_as_scratch_space(func: PrimFunc) -> PrimFunc:
    """The caller's array is not the pass's to write."""
    source = func.params[0]

    def reuse(alloc: Allocate) -> Stmt | None:
        return substitute(alloc.body, {alloc.buffer: source})

    def negate(store: Store) -> Stmt | None:
        if store.buffer is source:
            return store.replace(value=store.value * 2.0)
        return store.replace(value=store.value * 0.5)

    return rewrite(rewrite(func, reuse), negate)


@entry(SWAP)
def the_output_as_scratch_space(alloc: Allocate) -> Stmt | None:
    """The second half of the loop reads what the first half has overwritten."""
    last = list(walk(alloc.body, Store))[-1]
    return substitute(alloc.body, {alloc.buffer: last.buffer})


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
def keep_one_row_of_two(alloc: Allocate) -> Stmt | None:
    """The row before is needed as well, and has just been overwritten."""
    if len(alloc.buffer.shape) != 2:
        return None
    small = alloc.buffer.replace(shape=(index(1), alloc.buffer.shape[1]))

    def load(node: Load) -> Expr | None:
        return node.replace(indices=(index(0), node.indices[1])) if node.buffer is small else None

    def store(node: Store) -> Stmt | None:
        return node.replace(indices=(index(0), node.indices[1])) if node.buffer is small else None

    body = substitute(alloc.body, {alloc.buffer: small})
    return Allocate(small, rewrite(rewrite(body, load), store))


@entry(
    kernel(
        "A: f32[16], C: f32[16]",
        """
        V = view(C, f32[8], offset=8)
        for i in serial(0, 8):
            C[i + 8] = A[i]
            V[i // 2] = A[i + 8]
            C[i] = C[i + 8] + f32(1.0)
        """,
    )
)
def forward_past_a_store_to_a_view(stmt: Seq) -> Stmt | None:
    """Both names are of the same memory."""
    match stmt.stmts:
        case (Store() as first, Store() as second, Store() as third):

            def forward(load: Load) -> Expr | None:
                return first.value if load.buffer is first.buffer else None

            return seq(first, second, rewrite(third, forward))
        case _:
            return None


@entry(
    kernel(
        "A: f32[12], C: f32[12]",
        """
        for i in serial(0, 12):
            C[i] = f32(0.0)
            if A[i] > f32(1.0):
                C[i] = A[i]
        """,
    )
)
def drop_a_store_before_a_condition(stmt: Seq) -> Stmt | None:
    """Where the condition is false the first store is the last."""
    match stmt.stmts:
        case (Store() as first, If(_, Store() as second) as guard) if first.buffer is second.buffer:
            return guard
        case _:
            return None


@entry(
    kernel(
        "A: f32[10], C: f32[20]",
        """
        T = alloc(f32[10])
        U = alloc(f32[10])
        for i in serial(0, 10):
            T[i] = A[i]
            U[i] = A[i] * f32(3.0)
        for i in serial(0, 10):
            C[i] = T[i]
            C[i + 10] = U[i]
        """,
    )
)
def pool_two_buffers_one_element_short(alloc: Allocate) -> Stmt | None:
    """The first element of the second buffer is the last one of the first."""
    inner = alloc.body
    if not isinstance(inner, Allocate):
        return None
    pool = alloc.buffer.replace(name="pool", shape=(index(19),))
    second = View(inner.buffer, pool, index(9), inner.body)
    return Allocate(pool, View(alloc.buffer, pool, index(0), second))


@entry(
    kernel(
        "A: f32[8], C: f32[8]",
        """
        T = alloc(f32[8])
        for i in serial(0, 8):
            T[i] = A[i]
        for i in serial(0, 8):
            A[i] = A[i] * f32(0.5)
        for i in serial(0, 8):
            C[i] = T[i] + A[i]
        """,
    )
)
def no_copy_of_what_is_overwritten(alloc: Allocate) -> Stmt | None:
    """A changes between the copy and its use."""
    match alloc.body:
        case Seq((For(body=Store(value=Load() as source)), *rest)):
            return substitute(seq(*rest), {alloc.buffer: source.buffer})
        case _:
            return None
