"""Legal passes about sizes: tails, symbolic extents, zero, one, many, specialisation."""

from irkit.core import fresh, rewrite, substitute, walk
from irkit.ir import (
    I8,
    I32,
    LT,
    U8,
    Assert,
    Block,
    Cast,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    as_int,
    broadcast,
    cast,
    const,
    eq,
    ge,
    gt,
    lt,
    maximum,
    minimum,
    ramp,
    seq,
    trip_count,
)
from tests.catalogue.entries import Entries
from tests.catalogue.programs import STENCIL, each, kernel

entry = Entries("extents", legal=True)
SCALE = each("f32", "f32", "A[i] * f32(2.0) + f32(1.0)", n="n")
ROWS = kernel(
    "A: f32[m, n], C: f32[m, n]",
    """
    for i in serial(0, m):
        for j in serial(0, n):
            C[i, j] = A[i, j] + f32(1.0)
    """,
)
TRANSPOSE = kernel(
    "A: f32[m, n], C: f32[n, m]",
    """
    for i in serial(0, m):
        for j in serial(0, n):
            C[j, i] = A[i, j]
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
def split_with_a_guard(loop: For) -> Stmt | None:
    """The tiles are rounded up, the guard keeps the last one inside."""
    return _split(loop, (loop.end + 3) // 4, 4, guard=loop.end)


@entry(SCALE)
def split_with_a_tail(loop: For) -> Stmt | None:
    """Whole tiles, then the rest one by one."""
    whole = loop.end // 4
    return seq(_split(loop, whole, 4), fresh(loop.replace(begin=whole * 4)))


@entry(SCALE)
def split_into_a_tile_more_than_needed(loop: For) -> Stmt | None:
    """The guard is false in the whole last tile where 4 divides n."""
    return _split(loop, loop.end // 4 + 1, 4, guard=loop.end)


@entry(SCALE)
def unroll_by_two_with_a_remainder(loop: For) -> Stmt | None:
    """An odd number leaves one iteration for the end."""
    once = substitute(loop.body, {loop.var: loop.var * 2})
    twice = substitute(loop.body, {loop.var: loop.var * 2 + 1})
    main = loop.replace(end=loop.end // 2, body=seq(once, fresh(twice)))
    return seq(main, fresh(loop.replace(begin=loop.end // 2 * 2)))


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
def peel_the_first_iteration_if_there_is_one(loop: For) -> Stmt | None:
    """The copy of the first iteration is guarded by n > 0."""
    first = If(gt(loop.end, loop.begin), fresh(substitute(loop.body, {loop.var: loop.begin})))
    return seq(first, loop.replace(begin=loop.begin + 1))


@entry(SCALE)
def peel_the_last_iteration_if_there_is_one(loop: For) -> Stmt | None:
    """The loop ends one earlier, or runs not at all."""
    last = substitute(loop.body, {loop.var: loop.end - 1})
    return seq(loop.replace(end=loop.end - 1), If(gt(loop.end, 0), fresh(last)))


@entry(SCALE)
def specialise_for_a_size(loop: For) -> Stmt | None:
    """A copy for exactly 16 elements."""
    return If(eq(loop.end, 16), fresh(loop.replace(end=const(16, loop.end.dtype))), loop)


@entry(SCALE)
def specialise_for_multiples_of_eight(loop: For) -> Stmt | None:
    """A nest without a tail where 8 divides n."""
    return If(eq(loop.end % 8, 0), fresh(_split(loop, loop.end // 8, 8)), loop)


@entry(SCALE)
def nothing_to_do_for_nothing(loop: For) -> Stmt | None:
    """The condition says what the loop says itself."""
    return If(gt(loop.end, 0), loop)


@entry(each("f32", "f32", "A[i] * f32(0.5)", n="127"))
def narrow_a_loop_variable_to_a_byte(loop: For) -> Stmt | None:
    """The variable goes up to 126, and the end 127 fits too."""
    count = as_int(loop.end)
    if count is None or count > 127 or loop.var.dtype == I8:
        return None
    small = Var(loop.var.name, I8)
    body = substitute(loop.body, {loop.var: cast(small, loop.var.dtype)})
    return For(small, const(0, I8), const(count, I8), body)


@entry(each("f32", "f32", "A[i] * f32(0.5)", n="200"))
def narrow_an_index_to_an_unsigned_byte(load: Load) -> Expr | None:
    """The indices below 200 fit into u8."""
    return load.replace(indices=tuple(Cast(Cast(i, U8), i.dtype) for i in load.indices))


@entry(each("f32", "f32", "A[i] - f32(0.5)", n="64"))
def thirty_two_bits_for_a_constant_extent(loop: For) -> Stmt | None:
    """64 iterations need no 64 bits."""
    if loop.var.dtype == I32:
        return None
    small = Var(loop.var.name, I32)
    body = substitute(loop.body, {loop.var: small})
    return For(small, cast(loop.begin, I32), cast(loop.end, I32), body)


@entry(TRANSPOSE)
def interchange_a_nest_of_symbolic_extents(loop: For) -> Stmt | None:
    """Every element is written once, in any order."""
    inner = loop.body
    if not isinstance(inner, For):
        return None
    return inner.replace(body=loop.replace(body=inner.body))


@entry(ROWS)
def fuse_a_nest(loop: For) -> Stmt | None:
    """i is the quotient of the fused variable by n, j its remainder; for n = 0 nothing runs."""
    inner = loop.body
    if not isinstance(inner, For):
        return None
    var = loop.var.copy("ij")
    body = substitute(inner.body, {loop.var: var // inner.end, inner.var: var % inner.end})
    return For(var, loop.begin, loop.end * inner.end, body)


@entry(STENCIL)
def begin_at_zero(loop: For) -> Stmt | None:
    """The range moves, and the variable with it."""
    if as_int(loop.begin) in (None, 0):
        return None
    zero = const(0, loop.begin.dtype)
    body = substitute(loop.body, {loop.var: loop.var + loop.begin})
    return loop.replace(begin=zero, end=loop.end - loop.begin, body=body)


@entry(SCALE)
def run_backwards(loop: For) -> Stmt | None:
    """n - 1 - i goes through the same elements."""
    return loop.replace(body=substitute(loop.body, {loop.var: loop.end - 1 - loop.var}))


@entry(
    kernel(
        "A: f32[70], C: f32[70]",
        """
        for o in serial(0, 7):
            for r in serial(0, 10):
                with block("C"):
                    v = axis.spatial(70, o * 10 + r)
                    where(o * 10 + r < 70)
                    C[v] = A[v] * f32(3.0)
        """,
    )
)
def drop_a_predicate_that_always_holds(block: Block) -> Stmt | None:
    """Seven times ten iterations are the 70 elements."""
    return block.replace(predicate=None) if block.predicate is not None else None


@entry(
    kernel(
        "A: f32[10], C: f32[10]",
        """
        for i in serial(0, 10):
            C[i] = A[i] * f32(3.0)
        """,
    )
)
def shift_the_last_tile_of_a_map(loop: For) -> Stmt | None:
    """Two elements are computed twice, to the same values."""
    count = trip_count(loop)
    if count is None or count <= 4:
        return None
    outer, inner = loop.var.copy("o"), loop.var.copy("r")
    body = substitute(loop.body, {loop.var: minimum(outer * 4, count - 4) + inner})
    low = loop.begin
    nest = For(inner, low, const(4, low.dtype), body)
    return For(outer, low, const(-(-count // 4), low.dtype), nest)


@entry(SCALE)
def two_halves(loop: For) -> Stmt | None:
    """The second half has the odd element."""
    half = loop.end // 2
    return seq(loop.replace(end=half), fresh(loop.replace(begin=half)))


@entry(SCALE)
def cut_after_eight(loop: For) -> Stmt | None:
    """The cut is at most n."""
    at = minimum(loop.end, 8)
    return seq(loop.replace(end=at), fresh(loop.replace(begin=at)))


@entry(SCALE)
def a_condition_that_the_loop_gives(loop: For) -> Stmt | None:
    """The variable is below the end anyway."""
    return loop.replace(body=If(lt(loop.var, loop.end), loop.body))


@entry(SCALE)
def name_the_number_of_tiles(loop: For) -> Stmt | None:
    """The quotient is computed once, in a Let."""
    tiles = Var("tiles", loop.end.dtype)
    main = _split(loop, tiles, 4)
    rest = fresh(loop.replace(begin=tiles * 4))
    return Let(tiles, loop.end // 4, seq(main, rest))


@entry(SCALE)
def vectors_with_a_mask(func: PrimFunc) -> PrimFunc:
    """Lanes from n on are neither loaded nor stored."""

    def widen(loop: For) -> Stmt | None:
        store, lanes = loop.body, 4
        at = ramp(loop.var * lanes, 1, lanes)
        mask = lt(at, broadcast(loop.end, lanes))
        load = next(iter(walk(store.value, Load)))
        vector = load.buffer[(at,)].replace(mask=mask)
        two, one = broadcast(const(2.0, "f32"), lanes), broadcast(const(1.0, "f32"), lanes)
        new = Store(store.buffer, (at,), vector * two + one, mask)
        return loop.replace(end=(loop.end + 3) // lanes, body=new)

    return rewrite(func, widen)


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
    """Up to n - 1 the condition holds, from there on it does not; max for an empty array."""
    match loop.body:
        case If(LT(Var(), limit), then, otherwise) if otherwise is not None:
            at = maximum(limit, 0)
            first = loop.replace(end=at, body=then)
            return seq(first, fresh(loop.replace(begin=at, body=otherwise)))
        case _:
            return None


@entry(
    kernel(
        "A: f32[n], B: f32[n], C: f32[n], D: f32[n]",
        """
        for i in serial(0, n):
            C[i] = A[i] * f32(2.0)
        for j in serial(0, n):
            D[j] = B[j] * f32(4.0)
        """,
    )
)
def fuse_loops_of_one_symbolic_extent(stmt: Seq) -> Stmt | None:
    """Both loops run n times, and touch different arrays."""
    match stmt.stmts:
        case (For() as first, For() as second) if first.end is second.end:
            body = substitute(second.body, {second.var: first.var})
            return first.replace(body=seq(first.body, body))
        case _:
            return None


@entry(SCALE)
def assert_what_always_holds(func: PrimFunc) -> PrimFunc:
    """A size is never negative."""
    loop = func.body
    if not isinstance(loop, For):
        return func
    return func.replace(body=seq(Assert(ge(loop.end, 0), "a negative size"), loop))
