"""Miscompiles of loops, each as a pass that is wrong, and that is right with ``legal=True``.

They were written before they were first run, and nothing that draws programs knows of them.
"""

from irkit.core import any_node, equal, free_symbols, fresh, rewrite, substitute, walk
from irkit.ir import (
    I64,
    Allocate,
    And,
    Assert,
    Block,
    Buffer,
    Compare,
    Conditional,
    Const,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    Load,
    Max,
    Min,
    Not,
    Or,
    PrimFunc,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    as_int,
    const,
    dependences,
    le,
    lt,
    maximum,
    minimum,
    seq,
)
from irkit.transform import AnyPass, define_pass
from tests.fuzz.check_pass.published_loop_bugs import first_changed, perfect

_OPAQUE = (Block, Assert, View)


def loads_of(node: Stmt | Expr) -> set[Buffer]:
    """Return the buffers that a statement or an expression reads."""
    root = Evaluate(node) if isinstance(node, Expr) else node
    return {load.buffer for load in walk(root, Load)}


def stores_of(stmt: Stmt) -> set[Buffer]:
    """Return the buffers that a statement writes."""
    return {store.buffer for store in walk(stmt, Store)}


def _plain(stmt: Stmt) -> bool:
    return isinstance(stmt, Store) and stmt.mask is None and stmt.value.dtype.lanes == 1


def _is_guarded(root: Stmt, load: Load) -> bool:
    """Return True if an equal load stands where it is not always evaluated."""
    return any(
        equal(inside, load)
        for each in walk(root, (And, Or, Conditional, If))
        for inside in walk(each, Load)
    )


@define_pass
def hoist_loads(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Load what the second of two stores reads before the first, which may write it."""

    def hoist(row: Seq) -> Stmt | None:
        for at in range(len(row.stmts) - 1):
            first, second = row.stmts[at], row.stmts[at + 1]
            if not (_plain(first) and isinstance(second, Store) and _plain(second)):
                continue
            assert isinstance(first, Store)
            for load in walk(Evaluate(second.value), Load):
                if load.mask is not None or _is_guarded(Evaluate(second.value), load):
                    continue
                if any_node(Evaluate(second.value), Select):
                    continue
                if legal and load.buffer is first.buffer:
                    continue
                if any(isinstance(index, Load) for index in load.indices):
                    continue
                early, seen = Var("early", load.dtype), load

                def named(each: Load, seen: Load = seen, early: Var = early) -> Expr | None:
                    return early if equal(each, seen) else None

                changed = rewrite(second, named, on=Load)
                rest = (first, changed, *row.stmts[at + 2 :])
                return seq(*row.stmts[:at], Let(early, load, seq(*rest), span=second.span))
        return None

    if any_node(func.body, Let, lambda let: let.var.name.startswith("early")):
        return func
    return rewrite(func, hoist, on=Seq)


@define_pass
def keep_element_in_register(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Keep a fixed element in a register for a whole loop, which reaches it by other indices too
    (scalar promotion across an aliasing access)."""

    def promote(loop: For) -> Stmt | None:
        begin, end = as_int(loop.begin), as_int(loop.end)
        if loop.kind != "serial" or begin is None or end is None or end <= begin:
            return None
        if any_node(loop.body, (*_OPAQUE, For, Allocate)):
            return None
        bound = {loop.var, *(let.var for let in walk(loop.body, Let))}
        for store in walk(loop.body, Store):
            if store.mask is not None or store.value.dtype.lanes > 1:
                continue
            if any(bound & set(free_symbols(Evaluate(i))) or loads_of(i) for i in store.indices):
                continue
            if any_node(loop.body, If):
                continue
            others = [
                each
                for each in walk(loop.body, (Load, Store))
                if each.buffer is store.buffer and not all(map(equal, each.indices, store.indices))
            ]
            if legal and others:
                continue
            register = Buffer("register", (Const(1, I64),), store.buffer.dtype)
            return _promoted(loop, store, register)
        return None

    return first_changed(func, promote)


def _promoted(loop: For, store: Store, register: Buffer) -> Stmt:
    at = (Const(0, I64),)

    def kept(each: Load | Store) -> Load | Store | None:
        if each.buffer is not store.buffer or not all(map(equal, each.indices, store.indices)):
            return None
        return each.replace(buffer=register, indices=at)

    body = rewrite(loop, kept, on=(Load, Store))
    start = Store(register, at, store.buffer[store.indices])
    last = Store(store.buffer, store.indices, register[at])
    return Allocate(register, seq(start, body, last))


@define_pass
def strip_mine(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Run a loop in strips of four; what is left of a strip is lost."""

    def strips(loop: For) -> Stmt | None:
        begin, end = as_int(loop.begin), as_int(loop.end)
        if loop.kind != "serial" or begin is None or end is None or end - begin < 4:
            return None
        if (legal and (end - begin) % 4) or any_node(loop.body, _OPAQUE):
            return None
        outer, inner = (Var(loop.var.name + name, loop.var.dtype) for name in ("_strip", "_in"))
        place = outer * 4 + inner + begin
        zero, four = const(0, loop.var.dtype), const(4, loop.var.dtype)
        if end - begin == 4:
            return None
        body = For(inner, zero, four, substitute(loop.body, {loop.var: place}), "serial")
        return For(outer, zero, const((end - begin) // 4, loop.var.dtype), body, "serial")

    return first_changed(func, strips)


@define_pass
def split_main_and_rest(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Split a loop at the last multiple of four below its end, which may stand before its begin."""

    def split(loop: For) -> Stmt | None:
        if loop.kind != "serial" or any_node(loop.body, (*_OPAQUE, For)):
            return None
        if as_int(loop.begin) == 0 or any_node(Evaluate(loop.end), Max):
            return None
        middle: Expr = loop.end // const(4, loop.end.dtype) * const(4, loop.end.dtype)
        if legal:
            middle = maximum(middle, loop.begin)
        return seq(loop.replace(end=middle), fresh(loop.replace(begin=middle)))

    if any_node(func.body, For, lambda loop: bool(_is_split(loop))):
        return func
    return first_changed(func, split)


def _is_split(loop: For) -> bool:
    return any(
        isinstance(number, Const) and number.value == 4
        for bound in (loop.begin, loop.end)
        for number in walk(Evaluate(bound), Const)
        if not isinstance(bound, Const)
    )


@define_pass
def split_at_condition(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Run a loop up to where its condition ends, and the rest: that may stand outside of the loop
    (index-set splitting)."""

    def split(loop: For) -> Stmt | None:
        body = loop.body
        if loop.kind != "serial" or not isinstance(body, If) or any_node(body, _OPAQUE):
            return None
        cond = body.cond
        if not isinstance(cond, Compare) or not equal(cond, lt(cond.a, cond.b)):
            return None
        if cond.a is not loop.var or loads_of(cond.b) or loop.var in free_symbols(cond.b):
            return None
        limit: Expr = cond.b
        if legal:
            limit = maximum(minimum(limit, loop.end), loop.begin)
        first = loop.replace(body=body.then, end=limit)
        if body.otherwise is None:
            return first
        return seq(first, fresh(loop.replace(body=body.otherwise, begin=limit)))

    return first_changed(func, split)


@define_pass
def forward_past_guards(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Read what was stored before a guarded statement from where it came; the guarded one may have
    stored there."""

    def forward(row: Seq) -> Stmt | None:
        for at in range(len(row.stmts) - 2):
            first, guard, last = row.stmts[at : at + 3]
            if not (_plain(first) and isinstance(guard, If) and isinstance(last, Store)):
                continue
            assert isinstance(first, Store)
            if loads_of(first.value) or (legal and first.buffer in stores_of(guard)):
                continue
            made = _with_known(last, first)
            if made is not last:
                return seq(*row.stmts[: at + 2], made, *row.stmts[at + 3 :])
        return None

    return rewrite(func, forward, on=Seq)


def _with_known(last: Store, first: Store) -> Store:
    def known(load: Load) -> Expr | None:
        same = load.buffer is first.buffer and all(map(equal, load.indices, first.indices))
        return first.value if same else None

    return last.replace(value=rewrite(Evaluate(last.value), known, on=Load).value)


@define_pass
def order_stores_by_name(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Put neighbouring stores in the order of their buffers' names; one may read the other's."""

    def turn(row: Seq) -> Stmt | None:
        for at in range(len(row.stmts) - 1):
            first, second = row.stmts[at], row.stmts[at + 1]
            if not (isinstance(first, Store) and isinstance(second, Store)):
                continue
            if first.buffer.name <= second.buffer.name:
                continue
            reads = first.buffer in loads_of(second) or second.buffer in loads_of(first)
            if not (legal and reads):
                return seq(*row.stmts[:at], second, first, *row.stmts[at + 2 :])
        return None

    return rewrite(func, turn, on=Seq)


@define_pass
def contract_memory(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Keep one element of memory that each iteration fills and reads; another may read it later
    (array contraction)."""

    def contract(memory: Allocate) -> Stmt | None:
        own = memory.buffer
        if own.rank != 1 or as_int(own.shape[0]) == 1 or any_node(memory.body, _OPAQUE):
            return None
        if own.scope not in ("", "global") or any_node(memory.body, (If, Select, Conditional)):
            return None
        accesses = [each for each in walk(memory.body, (Load, Store)) if each.buffer is own]
        if any(each.mask is not None for each in accesses):
            return None
        loops = {
            loop
            for loop in walk(memory.body, For)
            if any_node(loop.body, (Load, Store), lambda each: each.buffer is own)
        }
        if legal and (len(loops) > 1 or not _one_place(accesses)):
            return None
        if legal and any(loop.kind != "serial" for loop in loops):
            return None  # Iterations that run at once would share the element.
        one = Buffer(own.name, (Const(1, I64),), own.dtype, own.scope)

        def first(each: Load | Store) -> Load | Store | None:
            same = each.buffer is own
            return each.replace(buffer=one, indices=(Const(0, I64),)) if same else None

        return Allocate(one, rewrite(memory.body, first, on=(Load, Store)))

    return rewrite(func, contract, on=Allocate)


def _one_place(accesses: list[Load | Store]) -> bool:
    return all(equal(each.indices[0], accesses[0].indices[0]) for each in accesses)


@define_pass
def split_guards(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Guard each statement by itself; the first may change the condition."""

    def split(node: If) -> Stmt | None:
        if not isinstance(node.then, Seq) or node.otherwise is not None:
            return None
        wrote = {buffer for stmt in node.then.stmts[:-1] for buffer in stores_of(stmt)}
        if legal and wrote & loads_of(node.cond):
            return None
        if any_node(node.then, (Block, Allocate, Let)):
            return None
        return seq(*(fresh(node.replace(then=stmt)) for stmt in node.then.stmts))

    return rewrite(func, split, on=If)


@define_pass
def collapse_nests(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Make one loop of two, and divide its variable by the number of rows, not of columns."""

    def collapse(outer: For) -> Stmt | None:
        inner = perfect(outer)
        if inner is None or any_node(inner.body, For):
            return None
        ends = [as_int(each) for each in (outer.begin, outer.end, inner.begin, inner.end)]
        if None in ends or ends[0] or ends[2]:
            return None
        rows, columns = ends[1] or 0, ends[3] or 0
        if rows <= 0 or columns <= 0:
            return None
        flat = Var("flat", outer.var.dtype)
        by = const(columns if legal else rows, outer.var.dtype)
        at = {outer.var: flat // by, inner.var: flat % by}
        if not legal and rows > columns:
            return None  # It would leave the array.
        end = const(rows * columns, outer.end.dtype)
        return For(flat, outer.begin, end, substitute(inner.body, at), "serial")

    return first_changed(func, collapse)


@define_pass
def tile_nests(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Run a perfect nest in tiles of two columns, which reads other columns of rows before."""
    deps = dependences(func)

    def tile(outer: For) -> Stmt | None:
        inner = perfect(outer)
        if inner is None or any_node(inner.body, For):
            return None
        begin, end = as_int(inner.begin), as_int(inner.end)
        if begin is None or end is None or end - begin < 4 or (end - begin) % 2:
            return None
        if legal and (deps.carried(outer) is not None or deps.carried(inner) is not None):
            return None
        strip, place = Var("strip", inner.var.dtype), Var("in", inner.var.dtype)
        zero, two = const(0, inner.var.dtype), const(2, inner.var.dtype)
        body = substitute(inner.body, {inner.var: strip * 2 + place + begin})
        tiles = outer.replace(body=For(place, zero, two, body, "serial", span=inner.span))
        half = const((end - begin) // 2, inner.var.dtype)
        return For(strip, zero, half, tiles, "serial", span=inner.span)

    return first_changed(func, tile)


@define_pass
def fuse_to_shorter(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Fuse neighbouring loops of different lengths, and forget what the longer one has more."""

    def join(row: Seq) -> Stmt | None:
        for at in range(len(row.stmts) - 1):
            first, second = row.stmts[at], row.stmts[at + 1]
            if not (isinstance(first, For) and isinstance(second, For)):
                continue
            if first.kind != "serial" or second.kind != "serial":
                continue
            if any_node(seq(first, second), Block) or not equal(first.begin, second.begin):
                continue
            if legal and not equal(first.end, second.end):
                continue
            shared = stores_of(first) & (stores_of(second) | loads_of(second))
            if shared or stores_of(second) & loads_of(first):
                continue
            body = substitute(second.body, {second.var: first.var})
            end = first.end if equal(first.end, second.end) else minimum(first.end, second.end)
            made = first.replace(body=seq(first.body, body), end=end)
            return seq(*row.stmts[:at], made, *row.stmts[at + 2 :])
        return None

    return rewrite(func, join, on=Seq)


@define_pass
def drop_store_before_guard(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Drop a store that the next statement overwrites, under a condition."""

    def drop(row: Seq) -> Stmt | None:
        for at in range(len(row.stmts) - 1):
            first, guard = row.stmts[at], row.stmts[at + 1]
            if not (isinstance(first, Store) and isinstance(guard, If)):
                continue
            if first.buffer in loads_of(guard):
                continue
            sides = [guard.then] if guard.otherwise is None else [guard.then, guard.otherwise]
            if legal and guard.otherwise is None:
                continue
            kills = [
                any(
                    isinstance(stmt, Store)
                    and stmt.buffer is first.buffer
                    and all(map(equal, stmt.indices, first.indices))
                    for stmt in (side.stmts if isinstance(side, Seq) else (side,))
                )
                for side in sides
            ]
            if all(kills):
                return seq(*row.stmts[:at], *row.stmts[at + 1 :])
        return None

    return rewrite(func, drop, on=Seq)


@define_pass
def turn_comparisons(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Turn a negated comparison round, where NaN compares false both ways."""

    def turn(node: Not) -> Expr | None:
        inside = node.a
        if not isinstance(inside, Compare) or (legal and inside.a.dtype.is_float):
            return None
        if not equal(inside, lt(inside.a, inside.b)):
            return None
        return le(inside.b, inside.a)

    return rewrite(func, turn, on=Not)


@define_pass
def same_extremum(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Take a minimum inside a maximum with the same operand for that operand."""

    def absorb(node: Max) -> Expr | None:
        inside = node.a
        if not isinstance(inside, Min) or (legal and node.dtype.is_float):
            return None
        return node.b if equal(inside.b, node.b) or equal(inside.a, node.b) else None

    return rewrite(func, absorb, on=Max)


FRESH_LOOPS: tuple[AnyPass, ...] = (
    hoist_loads,
    keep_element_in_register,
    strip_mine,
    split_main_and_rest,
    split_at_condition,
    forward_past_guards,
    order_stores_by_name,
    contract_memory,
    split_guards,
    collapse_nests,
    tile_nests,
    fuse_to_shorter,
    drop_store_before_guard,
    turn_comparisons,
    same_extremum,
)
