"""Wrong passes about sizes: tails, symbolic extents, zero, one, many, specialisation."""

from irkit.core import fresh, rewrite, substitute, walk
from irkit.ir import (
    I8,
    I16,
    LT,
    U8,
    Add,
    Block,
    Cast,
    Const,
    Expr,
    For,
    If,
    Load,
    Mul,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Sub,
    Var,
    broadcast,
    cast,
    const,
    eq,
    ge,
    le,
    lt,
    maximum,
    minimum,
    ramp,
    seq,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import STENCIL, each, kernel

entry = Entries("extents", legal=False)
SCALE = each("f32", "f32", "A[i] * f32(2.0) + f32(1.0)", n="n")
ROWS = kernel(
    "A: f32[m, n], C: f32[m, n]",
    """
    for i in serial(0, m):
        for j in serial(0, n):
            C[i, j] = A[i, j] + f32(1.0)
    """,
)
SUM = kernel(
    "A: f32[n], C: f32[1]",
    """
    C[0] = f32(0.0)
    for i in serial(0, n):
        C[0] = C[0] + A[i]
    """,
)


def _split(loop: For, outer_end: Expr, factor: int, *, guard: Expr | None = None) -> For:
    outer, inner = loop.var.copy("o"), loop.var.copy("r")
    body = substitute(loop.body, {loop.var: outer * factor + inner})
    if guard is not None:
        body = If(lt(outer * factor + inner, guard), body)
    low = loop.begin
    return For(outer, low, outer_end, For(inner, low, const(factor, low.dtype), body))


@entry(SCALE)
def split_without_the_tail(loop: For) -> Stmt | None:
    """n // 4 tiles leave up to three elements out."""
    return _split(loop, loop.end // 4, 4)


@entry(SCALE)
def split_beyond_the_end(loop: For) -> Stmt | None:
    """The number of tiles is rounded up, but there is no guard: it writes outside."""
    return _split(loop, (loop.end + 3) // 4, 4)


@entry(SCALE)
def split_with_a_guard_of_a_tile_too_few(loop: For) -> Stmt | None:
    """n // 4 + 1 tiles would do; (n + 2) // 4 leaves the last element out for n = 4 q + 1."""
    return _split(loop, (loop.end + 2) // 4, 4, guard=loop.end)


@entry(SCALE)
def vector_body_and_a_tail_that_begins_late(loop: For) -> Stmt | None:
    """The tail begins one element after the end of the vectors."""
    whole = loop.end // 4 * 4
    main = _split(loop, loop.end // 4, 4)
    return seq(main, fresh(loop.replace(begin=whole + 1)))


@entry(SCALE)
def unroll_by_two_for_even_sizes(loop: For) -> Stmt | None:
    """The last element of an odd number is forgotten."""
    if loop.attrs:
        return None
    once = substitute(loop.body, {loop.var: loop.var * 2})
    twice = substitute(loop.body, {loop.var: loop.var * 2 + 1})
    return loop.replace(end=loop.end // 2, body=seq(once, fresh(twice)))


@entry(
    kernel(
        "A: f32[n], C: f32[n + 1]",
        """
        C[0] = f32(7.0)
        for i in serial(0, n):
            C[i + 1] = A[i] - f32(1.0)
        """,
    )
)
def peel_the_first_iteration_of_no_iterations(loop: For) -> Stmt | None:
    """Runs the first iteration also where the loop runs zero times."""
    first = substitute(loop.body, {loop.var: loop.begin})
    return seq(fresh(first), loop.replace(begin=loop.begin + 1))


@entry(SCALE)
def specialise_for_a_size_and_all_above(loop: For) -> Stmt | None:
    """The fast path of 16 elements is taken by every size of at least 16."""
    short = fresh(loop.replace(end=const(16, loop.end.dtype)))
    return If(ge(loop.end, 16), short, loop)


@entry(SCALE)
def specialise_for_one(func: PrimFunc) -> PrimFunc:
    """A common mistake with broadcast: an extent that may be 1 is taken to be 1."""

    def once(loop: For) -> Stmt | None:
        return substitute(loop.body, {loop.var: const(0, loop.var.dtype)})

    return rewrite(func, once)


@entry(
    kernel(
        "A: f32[200], C: f32[200]",
        """
        for i in serial(0, 200):
            C[i] = A[i] * f32(0.5)
        """,
    )
)
def narrow_a_loop_variable_to_a_byte(loop: For) -> Stmt | None:
    """200 does not fit into i8: the end wraps around to a negative number."""
    small = Var(loop.var.name, I8)
    body = substitute(loop.body, {loop.var: small})
    return For(small, cast(loop.begin, I8), Cast(loop.end, I8), body)


@entry(SCALE)
def narrow_a_symbolic_index_to_a_byte(func: PrimFunc) -> PrimFunc:
    """Right up to 128 elements."""

    def narrow(load: Load) -> Expr | None:
        return load.replace(indices=tuple(Cast(Cast(i, I8), i.dtype) for i in load.indices))

    return rewrite(func, narrow)


@entry(SCALE)
def narrow_a_symbolic_size_to_an_unsigned_byte(loop: For) -> Stmt | None:
    """Sizes from 256 on wrap around: the loop runs n modulo 256 times."""
    return loop.replace(end=Cast(Cast(loop.end, U8), loop.end.dtype))


@entry(
    kernel(
        "A: f32[40000], C: f32[200, 200]",
        """
        for i in serial(0, 200):
            for j in serial(0, 200):
                C[i, j] = A[i * 200 + j]
        """,
    )
)
def compute_a_flat_index_in_sixteen_bits(load: Load) -> Expr | None:
    """Each extent fits into i16, their product does not."""
    if load.buffer.rank != 1:
        return None
    (flat,) = load.indices
    match flat:
        case Add(Mul(i, Const(by)), j):
            small = Cast(i, I16) * by + Cast(j, I16)
            return load.replace(indices=(Cast(small, flat.dtype),))
        case _:
            return None


@entry(
    kernel(
        "A: f32[m, n], C: f32[n, m]",
        """
        for i in serial(0, m):
            for j in serial(0, n):
                C[j, i] = A[i, j]
        """,
    )
)
def swap_the_ends_of_a_nest(loop: For) -> Stmt | None:
    """Exchanges the ends but not the variables: right for square matrices only."""
    inner = loop.body
    if not isinstance(inner, For):
        return None
    return loop.replace(end=inner.end, body=inner.replace(end=loop.end))


@entry(STENCIL)
def stop_one_before_the_last(loop: For) -> Stmt | None:
    """The end is exclusive already."""
    return loop.replace(end=loop.end - 1) if isinstance(loop.end, Sub) else None


@entry(
    kernel(
        "A: f32[n], C: f32[n]",
        """
        for i in serial(0, n):
            C[i] = A[i] + f32(3.0)
        """,
    )
)
def run_backwards_from_the_end(loop: For) -> Stmt | None:
    """The last index is n - 1; n - i begins outside."""
    return loop.replace(body=substitute(loop.body, {loop.var: loop.end - loop.var}))


@entry(
    kernel(
        "A: f32[70], C: f32[70]",
        """
        for o in serial(0, 9):
            for r in serial(0, 8):
                with block("C"):
                    v = axis.spatial(70, o * 8 + r)
                    where(o * 8 + r < 70)
                    C[v] = A[v] * f32(3.0)
        """,
    )
)
def drop_the_predicate_of_a_block(block: Block) -> Stmt | None:
    """72 iterations for 70 elements: the predicate is not always true."""
    return block.replace(predicate=None) if block.predicate is not None else None


@entry(
    kernel(
        "A: f32[m], B: f32[n], C: f32[m], D: f32[n]",
        """
        for i in serial(0, m):
            C[i] = A[i] * f32(2.0)
        for j in serial(0, n):
            D[j] = B[j] * f32(4.0)
        """,
    )
)
def fuse_loops_of_different_symbolic_extents(stmt: Seq) -> Stmt | None:
    """m and n are equal in the tests of the author only."""
    match stmt.stmts:
        case (For() as first, For() as second):
            body = substitute(second.body, {second.var: first.var})
            return first.replace(body=seq(first.body, body))
        case _:
            return None


@entry(
    kernel(
        "A: f32[10], C: f32[10]",
        """
        for i in serial(0, 10):
            C[i] = C[i] + A[i]
        """,
    )
)
def shift_the_last_tile_of_an_update(loop: For) -> Stmt | None:
    """The last tile of four begins at 6, so two elements are updated twice."""
    count = trip_count(loop)
    if count is None or count <= 4:
        return None
    outer, inner = loop.var.copy("o"), loop.var.copy("r")
    at = minimum(outer * 4, count - 4) + inner
    body = substitute(loop.body, {loop.var: at})
    low = loop.begin
    nest = For(inner, low, const(4, low.dtype), body)
    return For(outer, low, const(-(-count // 4), low.dtype), nest)


@entry(SUM)
def sum_in_two_halves(loop: For) -> Stmt | None:
    """Both halves have n // 2 elements."""
    half = loop.end // 2
    return seq(loop.replace(end=half), fresh(loop.replace(begin=half, end=half * 2)))


@entry(SCALE)
def run_at_least_once(loop: For) -> Stmt | None:
    """A loop as do-while: writes C[0] of an empty array."""
    return loop.replace(end=maximum(loop.end, 1))


@entry(ROWS)
def fuse_a_nest_by_the_wrong_extent(loop: For) -> Stmt | None:
    """i * n + j is taken apart by m."""
    inner = loop.body
    if not isinstance(inner, For):
        return None
    var = loop.var.copy("ij")
    body = substitute(inner.body, {loop.var: var // loop.end, inner.var: var % loop.end})
    return For(var, loop.begin, loop.end * inner.end, body)


@entry(SCALE)
def vectorise_with_a_masked_tail_off_by_one(func: PrimFunc) -> PrimFunc:
    """The mask lets the lane at n through where n is no multiple of the width."""

    def widen(loop: For) -> Stmt | None:
        store = loop.body
        lanes = 4
        at = ramp(loop.var * lanes, 1, lanes)
        mask = le(at, broadcast(loop.end, lanes))
        load = next(node for node in _loads(store.value))
        vector = load.buffer[(at,)].replace(mask=mask)
        two, one = broadcast(const(2.0, "f32"), lanes), broadcast(const(1.0, "f32"), lanes)
        new = Store(store.buffer, (at,), vector * two + one, mask)
        return loop.replace(end=(loop.end + 3) // lanes, body=new)

    return rewrite(func, widen)


def _loads(expr: Expr) -> list[Load]:
    return list(walk(expr, Load))


@entry(
    kernel(
        "A: f32[n], C: f32[n]",
        """
        for i in serial(0, n):
            if i < n - 1:
                C[i] = A[i + 1]
            else:
                C[i] = A[i]
        """,
    )
)
def partition_a_loop_at_its_condition(loop: For) -> Stmt | None:
    """The last element gets no branch: the second part begins at n."""
    match loop.body:
        case If(LT(Var(), limit), then, otherwise) if otherwise is not None:
            first = loop.replace(end=limit, body=then)
            return seq(first, fresh(loop.replace(begin=limit + 1, body=otherwise)))
        case _:
            return None


@entry(SCALE)
def specialise_for_multiples_of_eight(loop: For) -> Stmt | None:
    """Tests the remainder by four for a nest of eight."""
    wide = fresh(_split(loop, loop.end // 8, 8))
    return If(eq(loop.end % 4, 0), wide, loop)
