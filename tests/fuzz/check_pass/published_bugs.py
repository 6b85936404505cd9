"""Kinds of miscompiles that other compilers have published, each as a pass that is wrong, and that
is right with ``legal=True``.

They were written before the programs that `check_pass` draws for them, and know nothing of these.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from irkit.core import any_node, equal, free_symbols, fresh, rewrite, substitute, walk
from irkit.graph import (
    Bind,
    GraphFunc,
    Match,
    Op,
    Replacement,
    TensorType,
    Value,
    apply_rules,
    attributes,
    bindings_of,
    extents_of,
    graph_rule,
    hole,
    known,
    op,
)
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
    """Give each statement of a loop a loop of its own (LLVM, loop-distribute)."""

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


x, y, k = hole("x"), hole("y"), known("k")


def of_rules(name: str, *rules: Any, rounds: bool = False) -> AnyPass:
    def run(func: GraphFunc) -> GraphFunc:
        return apply_rules(func, name, rules)

    run.__name__ = run.__qualname__ = name.replace("-", "_")
    return define_pass(changes_rounding=rounds)(run)


def _axes(m: Match, name: str) -> tuple[int, ...]:
    return attributes(m.op(name)).ints("axes")


def joined(legal: bool) -> Any:
    def build(b: Replacement, m: Match) -> Value | None:
        inner, outer = _axes(m, "inner"), _axes(m, "outer")
        axes = [inner[at] for at in outer] if legal else [outer[at] for at in inner]
        made = b.op("transpose", m["x"], axes=tuple(axes))
        return made if made.type == m.root.var.type or legal else None

    pattern = op("transpose", op("transpose", x, name="inner"), name="outer")
    return graph_rule("join", pattern, build, shared=True)


def relu_of_add(b: Replacement, m: Match) -> Value:
    return b.op("add", b.op("relu", m["x"]), b.op("relu", m["y"]))


def relu_of_maximum(b: Replacement, m: Match) -> Value:
    return b.op("maximum", b.op("relu", m["x"]), b.op("relu", m["y"]))


def reciprocal(legal: bool) -> Any:
    def build(b: Replacement, m: Match) -> Value | None:
        array = m.array("k")
        kind = m["x"].type
        if array.dtype.kind != "f" or not array.size or not isinstance(kind, TensorType):
            return None
        with np.errstate(all="ignore"):
            parts, _ = np.frexp(array)
            by = (np.asarray(1) / array).astype(array.dtype)
        if legal and not (np.all(np.abs(parts) == 0.5) and np.all(np.abs(array) < 1e4)):
            return None
        return b.op("multiply", m["x"], b.constant(by))

    return graph_rule("reciprocal", op("divide", x, k), build)


def sums(legal: bool) -> Any:
    """Join two sums; axes of the second count without those of the first."""

    def build(b: Replacement, m: Match) -> Value | None:
        inner, outer = m.op("inner"), m.op("outer")
        rank = len(extents_of(m["x"]))
        first, second = attributes(inner).ints("axes"), attributes(outer).ints("axes")
        if attributes(inner).flag("keepdims") or attributes(outer).flag("keepdims"):
            return None
        first = first or tuple(range(rank))
        left = [axis for axis in range(rank) if axis not in first]
        second = second or tuple(range(len(left)))
        other = tuple(left[axis] for axis in second) if legal else second
        axes = tuple(sorted({*first, *other}))
        if len(axes) != len(first) + len(second):
            return None
        made = b.op("max", m["x"], axes=axes, keepdims=False)
        return made if made.type == m.root.var.type else None

    return graph_rule("sums", op("max", op("max", x, name="inner"), name="outer"), build)


def slices(legal: bool) -> Any:
    """Take the first operand of a concatenation for a slice as long as it."""

    def build(b: Replacement, m: Match) -> Value | None:
        options = attributes(m.op("cut"))
        if legal and (any(options.ints("begins")) or any(n != 1 for n in options.ints("strides"))):
            return None
        if m["x"].type != m.root.var.type:
            return None
        axis = attributes(m.op("whole")).int("axis")
        if options.ints("axes") != (axis,):
            return None
        return b.op("identity", m["x"])

    return graph_rule("cut", op("slice", op("concat", x, y, name="whole"), name="cut"), build)


@define_pass(idempotent=True)
def flatten_negations(func: GraphFunc, *, most: int = 2) -> GraphFunc:
    """Drop pairs of negations, the first few: not idempotent where there are more."""
    bound, left = bindings_of(func), most

    def negated(value: Value) -> Value | None:
        bind = bound.get(value)
        step = None if bind is None else bind.step
        return step.args[0] if isinstance(step, Op) and step.name == "negative" else None

    def drop(bind: Bind) -> Bind | None:
        nonlocal left
        inside = negated(bind.var)
        source = None if inside is None else negated(inside)
        if source is None or not left:
            return None
        left -= 1
        return bind.replace(step=Op("identity", (source,)))

    return rewrite(func, drop, on=Bind)


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
WRONG: tuple[tuple[AnyPass, int], ...] = (
    *((p, 0) for p in LOOPS),
    (of_rules("compose-transposes", joined(False)), 0),
    (of_rules("relu-of-add", graph_rule("relu", op("relu", op("add", x, y)), relu_of_add)), 0),
    (of_rules("multiply-reciprocal", reciprocal(False)), 0),
    (of_rules("join-maxima", sums(False)), 0),
    (of_rules("cut-concat", slices(False)), 0),
    (flatten_negations, 0),
)
RIGHT: tuple[tuple[AnyPass, int], ...] = (
    *((p.using(legal=True), 0) for p in LOOPS),
    (of_rules("right-transposes", joined(True)), 0),
    (
        of_rules(
            "relu-of-maximum", graph_rule("relu", op("relu", op("maximum", x, y)), relu_of_maximum)
        ),
        0,
    ),
    (of_rules("right-reciprocal", reciprocal(True)), 0),
    (of_rules("right-maxima", sums(True)), 0),
    (of_rules("right-cut", slices(True)), 0),
)
