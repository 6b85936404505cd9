"""Kinds of miscompiles that other compilers have published, each as a pass that is wrong, and that
is right with ``legal=True``.

They were written before the programs that `check_pass` draws for them, and know nothing of these.
"""

from collections.abc import Callable

from irkit.core import any_node, equal, free_symbols, fresh, rewrite, substitute, walk
from irkit.ir import (
    And,
    Assert,
    Block,
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
    Or,
    PrimFunc,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
    as_int,
    const,
    dependences,
    lt,
    maximum,
    minimum,
    seq,
)
from irkit.transform import AnyPass, define_pass


def perfect(loop: For) -> For | None:
    """Return the loop directly inside a serial one, if their bounds do not depend on each other."""
    inner = loop.body
    if loop.kind != "serial" or not isinstance(inner, For) or inner.kind != "serial":
        return None
    bounds = {*free_symbols(inner.begin), *free_symbols(inner.end)}
    return None if loop.var in bounds or any_node(inner.body, (Block, Assert)) else inner


def first_changed(func: PrimFunc, change: Callable[[For], Stmt | None]) -> PrimFunc:
    """Apply a change to the first loop that it fits."""
    for loop in walk(func, For):
        made = change(loop)
        if made is not None:
            return put(func, loop, made)
    return func


def put(func: PrimFunc, loop: For, made: Stmt) -> PrimFunc:
    """Put a statement in the place of a loop."""

    def rule(each: For) -> Stmt | None:
        return made if each is loop else None

    return rewrite(func, rule, on=For)


@define_pass
def interchange_nests(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Interchange perfect nests; dependences (<, >) forbid it (LLVM and GCC, loop-interchange)."""
    deps = dependences(func)

    def swap(outer: For) -> Stmt | None:
        inner = perfect(outer)
        if inner is None:
            return None
        if legal and (deps.carried(outer) is not None or deps.carried(inner) is not None):
            return None
        return inner.replace(body=outer.replace(body=inner.body))

    return first_changed(func, swap)


@define_pass
def fuse_neighbours(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Fuse neighbouring loops; the second may read what later iterations of the first write."""

    def fused(first: Stmt, second: Stmt) -> For | None:
        if not (isinstance(first, For) and isinstance(second, For)):
            return None
        if first.kind != "serial" or second.kind != "serial" or any_node(seq(first, second), Block):
            return None
        if not (equal(first.begin, second.begin) and equal(first.end, second.end)):
            return None
        body = substitute(second.body, {second.var: first.var})
        if legal:
            wrote = {store.buffer for store in walk(first, Store)}
            used = {each.buffer for each in walk(first, Load)} | wrote
            other = {store.buffer for store in walk(second, Store)}
            if used & other or wrote & {each.buffer for each in walk(second, Load)}:
                return None
        return first.replace(body=seq(first.body, body))

    def join(row: Seq) -> Stmt | None:
        for at in range(len(row.stmts) - 1):
            made = fused(row.stmts[at], row.stmts[at + 1])
            if made is not None:
                return seq(*row.stmts[:at], made, *row.stmts[at + 2 :])
        return None

    return rewrite(func, join, on=Seq)


@define_pass
def distribute_loops(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Make a loop of its own for each statement of a loop (LLVM, loop-distribute)."""

    def split(loop: For) -> Stmt | None:
        body = loop.body
        if loop.kind != "serial" or not isinstance(body, Seq) or any_node(body, Block):
            return None
        if legal:
            wrote = [{store.buffer for store in walk(each, Store)} for each in body.stmts]
            used = [{load.buffer for load in walk(each, Load)} for each in body.stmts]
            for at in range(len(wrote)):
                for to in range(len(wrote)):
                    if at != to and wrote[at] & (wrote[to] | used[to]):
                        return None
        return seq(*(fresh(loop.replace(body=each)) for each in body.stmts))

    return first_changed(func, split)


@define_pass
def reverse_loops(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Run loops from last to first, so that they count down to 0."""
    deps = dependences(func)

    def turn(loop: For) -> Stmt | None:
        begin, end = as_int(loop.begin), as_int(loop.end)
        if loop.kind != "serial" or begin is None or end is None or end - begin < 2:
            return None
        if any_node(loop.body, (Block, Assert)) or (legal and deps.carried(loop) is not None):
            return None
        last = const(begin + end - 1, loop.var.dtype)
        return loop.replace(body=substitute(loop.body, {loop.var: last - loop.var}))

    return first_changed(func, turn)


@define_pass
def unroll_and_jam(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Unroll an outer loop by two, and jam the copies into the inner loop."""
    deps = dependences(func)

    def jam(outer: For) -> Stmt | None:
        inner = perfect(outer)
        count = as_int(outer.end)
        if inner is None or count is None or as_int(outer.begin) != 0 or count % 2 or not count:
            return None
        if any_node(inner.body, For) or (legal and deps.carried(outer) is not None):
            return None
        half = Var(outer.var.name, outer.var.dtype)
        copies = [substitute(fresh(inner.body), {outer.var: half * 2 + by}) for by in range(2)]
        body = inner.replace(body=seq(*copies))
        return For(half, outer.begin, const(count // 2, outer.end.dtype), body)

    return first_changed(func, jam)


@define_pass
def peel_first(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Run the first iteration before the loop; a loop that never runs has none (loop rotation)."""

    def peel(loop: For) -> Stmt | None:
        if loop.kind != "serial" or as_int(loop.begin) == 1 or any_node(loop.body, (Block, For)):
            return None
        if isinstance(loop.begin, Const) and isinstance(loop.end, Const):
            return None  # Full unrolling is for these.
        first: Stmt = substitute(fresh(loop.body), {loop.var: loop.begin})
        if legal:
            first = If(lt(loop.begin, loop.end), first)
        return seq(first, loop.replace(begin=loop.begin + 1))

    return first_changed(func, peel)


@define_pass
def select_to_minimum(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Make min and max of selects (LLVM and GCC: wrong for NaN)."""

    def change(node: Select) -> Expr | None:
        match node:
            case Select(cond, a, b) if not (legal and a.dtype.is_float):
                if equal(cond, lt(a, b)) and not equal(a, b):
                    return minimum(a, b)
                if equal(cond, lt(b, a)) and not equal(a, b):
                    return maximum(a, b)
            case _:
                pass
        return None

    return rewrite(func, change, on=Select)


@define_pass
def swap_extrema(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Make a select of each min and max, where NaN was propagated."""

    def change(node: Min | Max) -> Expr | None:
        if legal and node.dtype.is_float:
            return None
        cond = lt(node.a, node.b) if isinstance(node, Min) else lt(node.b, node.a)
        return Select(cond, node.a, node.b, node.dtype)

    return rewrite(func, change)


def at_once(row: Seq, at: int) -> tuple[Store, Store] | None:
    first, second = row.stmts[at], row.stmts[at + 1]
    if isinstance(first, Store) and isinstance(second, Store):
        plain = first.mask is None and second.mask is None and first.value.dtype.lanes == 1
        return (first, second) if plain and second.value.dtype.lanes == 1 else None
    return None


@define_pass
def forward_stores(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Read what was just stored from where it came; its parts may have been overwritten (GVN)."""

    def forward(row: Seq) -> Stmt | None:
        for at in range(len(row.stmts) - 1):
            pair = at_once(row, at)
            if pair is None:
                continue
            first, second = pair
            read = {load.buffer for load in walk(Evaluate(first.value), Load)}
            if legal and first.buffer in read:
                continue

            def known_value(load: Load, first: Store = first) -> Expr | None:
                same = load.buffer is first.buffer
                return (
                    first.value if same and all(map(equal, load.indices, first.indices)) else None
                )

            made = rewrite(Evaluate(second.value), known_value, on=Load).value
            if made is not second.value:
                changed = second.replace(value=made)
                return seq(*row.stmts[: at + 1], changed, *row.stmts[at + 2 :])
        return None

    return rewrite(func, forward, on=Seq)


@define_pass
def unswitch_loops(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Test a condition before a loop, though the loop writes what it reads."""

    def move(loop: For) -> Stmt | None:
        body = loop.body
        if loop.kind != "serial" or not isinstance(body, If) or loop.var in free_symbols(body.cond):
            return None
        if any_node(body, Block):
            return None
        wrote = {store.buffer for store in walk(loop, Store)}
        read = {load.buffer for load in walk(Evaluate(body.cond), Load)}
        if legal and read:
            return None  # A loop that never runs reads nothing.
        if not wrote:
            return None
        other = body.otherwise
        return If(
            body.cond,
            loop.replace(body=body.then),
            None if other is None else fresh(loop.replace(body=other)),
        )

    return first_changed(func, move)


@define_pass
def join_guards(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Join neighbouring statements under equal conditions; the first may change the second's."""

    def join(row: Seq) -> Stmt | None:
        for at in range(len(row.stmts) - 1):
            first, second = row.stmts[at], row.stmts[at + 1]
            if not (isinstance(first, If) and isinstance(second, If)):
                continue
            if not equal(first.cond, second.cond) or first.otherwise or second.otherwise:
                continue
            if legal and any_node(Evaluate(second.cond), Load):
                continue
            made = first.replace(then=seq(first.then, second.then))
            return seq(*row.stmts[:at], made, *row.stmts[at + 2 :])
        return None

    return rewrite(func, join, on=Seq)


@define_pass
def keep_totals(func: PrimFunc, *, legal: bool = False) -> PrimFunc:
    """Hoist what a loop reads again and again, though it stores there too (LICM, promotion)."""

    def hoist(loop: For) -> Stmt | None:
        if loop.kind != "serial" or any_node(loop.body, (Block, For, If)):
            return None
        begin, end = as_int(loop.begin), as_int(loop.end)
        if begin is None or end is None or end <= begin:
            return None
        wrote = {store.buffer for store in walk(loop, Store)}
        names = set(free_symbols(loop.body)) - {loop.var}
        for load in walk(loop, Load):
            inside = set(free_symbols(Evaluate(load))) - names
            if inside or load.mask is not None or (legal and load.buffer in wrote):
                continue
            if any_node(Evaluate(load), Select):
                continue
            if not legal and load.buffer in wrote:
                stored = [s for s in walk(loop, Store) if s.buffer is load.buffer]
                if any(all(map(equal, s.indices, load.indices)) for s in stored):
                    continue  # It sees this much.
            name = Var("kept", load.dtype)
            seen = load

            def named(each: Load, seen: Load = seen, name: Var = name) -> Expr | None:
                return name if equal(each, seen) else None

            if any_node(loop.body, (Assert,)) or _guards(loop.body, seen):
                continue
            return Let(name, load, rewrite(loop, named, on=Load))
        return None

    return first_changed(func, hoist)


def _guards(body: Stmt, load: Load) -> bool:
    """Return True if a load may stand where it is not always evaluated."""
    return any(
        equal(inside, load)
        for each in walk(body, (And, Conditional, Or))
        for inside in walk(each, Load)
    )


LOOPS: tuple[AnyPass, ...] = (
    interchange_nests,
    fuse_neighbours,
    distribute_loops,
    reverse_loops,
    unroll_and_jam,
    peel_first,
    select_to_minimum,
    swap_extrema,
    forward_stores,
    unswitch_loops,
    join_guards,
    keep_totals,
)
