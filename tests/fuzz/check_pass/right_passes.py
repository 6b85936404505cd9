"""Right passes over loops and memory, as users write them, and a list of all."""

from irkit.core import Node, any_node, equal, free_symbols, fresh, rewrite, substitute, walk
from irkit.ir import (
    Allocate,
    Block,
    Const,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    Load,
    Not,
    PrimFunc,
    Select,
    Seq,
    Store,
    Var,
    View,
    as_int,
    const,
    dependences,
    seq,
)
from irkit.transform import AnyPass, define_pass
from tests.fuzz.check_pass import right_rules


def perfect(loop: For) -> For | None:
    inner = loop.body
    if loop.kind != "serial" or not isinstance(inner, For) or inner.kind != "serial":
        return None
    fixed = all(as_int(each) is not None for each in (inner.begin, inner.end))
    return inner if fixed and as_int(loop.end) is not None else None


@define_pass
def interchange(func: PrimFunc) -> PrimFunc:
    """Interchange a perfect nest of two loops, neither of which carries anything."""
    known = dependences(func)

    def swap(outer: For) -> For | None:
        inner = perfect(outer)
        if inner is None or any_node(inner.body, (Block, For)):
            return None
        if known.carried(outer) is not None or known.carried(inner) is not None:
            return None
        return inner.replace(body=outer.replace(body=inner.body))

    for loop in walk(func, For):
        made = swap(loop)
        if made is not None:
            return substituted(func, loop, made)
    return func


def substituted(func: PrimFunc, loop: For, made: For) -> PrimFunc:
    """Put a loop in the place of another."""
    return rewrite(func, lambda each: made if each is loop else None, on=For)


@define_pass
def unroll_by_two(func: PrimFunc) -> PrimFunc:
    """Unroll serial loops over an even constant number of iterations by two."""

    def unroll(loop: For) -> For | None:
        count = as_int(loop.end)
        if loop.kind != "serial" or as_int(loop.begin) != 0 or count is None or count % 2:
            return None
        if count < 4 or any_node(loop.body, (For, Block)):
            return None
        half = Var(loop.var.name, loop.var.dtype)
        first = substitute(fresh(loop.body), {loop.var: half * 2})
        second = substitute(fresh(loop.body), {loop.var: half * 2 + 1})
        return For(half, loop.begin, const(count // 2, loop.end.dtype), seq(first, second))

    return rewrite(func, unroll)


@define_pass
def fully_unroll(func: PrimFunc) -> PrimFunc:
    """Replace short serial loops by their iterations."""

    def unroll(loop: For) -> Node | None:
        begin, end = as_int(loop.begin), as_int(loop.end)
        if loop.kind != "serial" or begin is None or end is None or not 0 <= end - begin <= 3:
            return None
        if any_node(loop.body, For, lambda each: each.kind != "serial"):
            return None
        numbers = [const(n, loop.var.dtype) for n in range(begin, end)]
        return seq(*(substitute(fresh(loop.body), {loop.var: each}) for each in numbers))

    return rewrite(func, unroll)


@define_pass
def mark_parallel(func: PrimFunc) -> PrimFunc:
    """Mark outermost serial loops that carry nothing as parallel."""
    known = dependences(func)

    def mark(loop: For) -> For | None:
        inside = any_node(loop.body, For, lambda each: each.kind in ("parallel", "thread"))
        free = loop.kind == "serial" and not inside and known.carried(loop) is None
        return loop.replace(kind="parallel") if free else None

    body = func.body
    made = mark(body) if isinstance(body, For) else None
    return func.replace(body=made) if made is not None else func


@define_pass
def serialize(func: PrimFunc) -> PrimFunc:
    """Run parallel loops in order."""

    def serial(loop: For) -> For | None:
        return loop.replace(kind="serial") if loop.kind == "parallel" else None

    return rewrite(func, serial)


@define_pass
def unmark_unrolled(func: PrimFunc) -> PrimFunc:
    """Keep long loops from being unrolled."""

    def keep(loop: For) -> For | None:
        end = as_int(loop.end)
        long = end is not None and end > 4
        return loop.replace(kind="serial") if loop.kind == "unrolled" and long else None

    return rewrite(func, keep)


@define_pass
def drop_dead_stores(func: PrimFunc) -> PrimFunc:
    """Drop a store that the next statement overwrites without reading the buffer."""

    def drop(row: Seq) -> Node | None:
        kept = list(row.stmts)
        for at in reversed(range(len(kept) - 1)):
            first, second = kept[at], kept[at + 1]
            if not (isinstance(first, Store) and isinstance(second, Store)):
                continue
            same = first.buffer is second.buffer and first.mask is None and second.mask is None
            same = same and all(map(equal, first.indices, second.indices))
            if same and not any_node(seq(Evaluate(second.value)), Load):
                del kept[at]
        return None if len(kept) == len(row.stmts) else seq(*kept)

    return rewrite(func, drop)


@define_pass
def share_loads(func: PrimFunc) -> PrimFunc:
    """Load once what one store reads twice: common subexpressions."""

    def share(store: Store) -> Node | None:
        if store.mask is not None or store.value.dtype.lanes > 1:
            return None
        sides = [getattr(store.value, side, None) for side in "ab"]
        first, second = sides
        if not (isinstance(first, Load) and isinstance(second, Load) and equal(first, second)):
            return None
        once = Var("once", first.dtype)
        return Let(once, first, store.replace(value=store.value.replace(a=once, b=once)))

    return rewrite(func, share)


@define_pass
def drop_empty_loops(func: PrimFunc) -> PrimFunc:
    """Drop loops that run once, and loops that never run."""

    def drop(loop: For) -> Node | None:
        begin, end = as_int(loop.begin), as_int(loop.end)
        if begin is None or end is None or loop.kind == "thread":
            return None
        if end <= begin:
            return seq()
        return substitute(loop.body, {loop.var: loop.begin}) if end - begin == 1 else None

    return rewrite(func, drop)


@define_pass
def inline_lets(func: PrimFunc) -> PrimFunc:
    """Put variables and constants in the place of names for them: copy propagation."""

    def inline(let: Let) -> Node | None:
        if isinstance(let.value, (Var, Const)):
            return substitute(let.body, {let.var: let.value})
        return None

    return rewrite(func, inline)


@define_pass
def drop_unused_memory(func: PrimFunc) -> PrimFunc:
    """Drop memory that nothing reads, with the stores into it."""

    def drop(memory: Allocate) -> Node | None:
        reads = any_node(memory.body, Load, lambda load: load.buffer is memory.buffer)
        views = any_node(memory.body, View, lambda view: view.source is memory.buffer)
        if reads or views or any_node(memory.body, Block):
            return None
        left = rewrite(
            memory.body, lambda s: seq() if s.buffer is memory.buffer else None, on=Store
        )
        return left if memory.buffer not in free_symbols(left) else None

    return rewrite(func, drop)


@define_pass
def take_known_branches(func: PrimFunc) -> PrimFunc:
    """Take the branch that a constant or a negation decides."""

    def take(node: If) -> Node | None:
        if isinstance(node.cond, Const):
            return node.then if node.cond.value else node.otherwise or seq()
        if isinstance(node.cond, Not) and node.otherwise is not None:
            return If(node.cond.a, node.otherwise, node.then)
        return None

    return rewrite(func, take)


@define_pass
def turn_selects(func: PrimFunc) -> PrimFunc:
    """Compare the other way round in a choice between integers."""

    def turn(node: Select) -> Expr | None:
        if isinstance(node.cond, Not):
            return Select(node.cond.a, node.otherwise, node.then, node.dtype)
        return None

    return rewrite(func, turn)


@define_pass
def split_loops(func: PrimFunc) -> PrimFunc:
    """Split serial loops of 8 or 16 iterations into two."""

    def split(loop: For) -> For | None:
        count = as_int(loop.end)
        if loop.kind != "serial" or as_int(loop.begin) != 0 or count not in (8, 16):
            return None
        outer, inner = (Var(loop.var.name + end, loop.var.dtype) for end in ("_o", "_i"))
        body = substitute(loop.body, {loop.var: outer * 4 + inner})
        zero, four = const(0, loop.var.dtype), const(4, loop.var.dtype)
        return For(outer, zero, const(count // 4, loop.var.dtype), For(inner, zero, four, body))

    return rewrite(func, split)


RIGHT: tuple[tuple[AnyPass, int], ...] = (
    (right_rules.use_shifts, 0),
    (right_rules.use_identities, 0),
    (right_rules.turn_comparisons, 1),
    (right_rules.factor_out, 2),
    (right_rules.double_by_adding, 0),
    (right_rules.use_reciprocals, 1),
    (right_rules.exact_reciprocals, 2),
    (right_rules.reassociate, 0),
    (right_rules.squares, 0),
    (right_rules.drop_casts, 1),
    (right_rules.push_not, 1),
    (right_rules.div_mod_to_whole, 2),
    (interchange, 0),
    (interchange, 1),
    (unroll_by_two, 0),
    (fully_unroll, 1),
    (mark_parallel, 0),
    (serialize, 1),
    (unmark_unrolled, 1),
    (drop_dead_stores, 0),
    (share_loads, 0),
    (drop_empty_loops, 1),
    (inline_lets, 0),
    (drop_unused_memory, 0),
    (take_known_branches, 0),
    (turn_selects, 0),
    (split_loops, 0),
)
