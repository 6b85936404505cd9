"""Wrong passes of many kinds, for `check_pass`: each is nearly right."""

import random
import sys
from collections.abc import Callable

import numpy as np

from irkit.core import Node, Rules, any_node, equal, fresh, rewrite, substitute, walk
from irkit.ir import (
    ANY_FLOAT,
    ANY_INTEGER,
    Add,
    Allocate,
    Block,
    Call,
    Cast,
    Compare,
    Const,
    Div,
    Expr,
    FloorMod,
    For,
    If,
    Let,
    Load,
    Max,
    Mul,
    Not,
    PrimFunc,
    Select,
    Seq,
    Store,
    Sub,
    Var,
    as_int,
    const,
    hole,
    le,
    lt,
    maximum,
    minimum,
    peephole,
    select,
    seq,
)
from irkit.transform import AnyPass, define_pass

x, y, z = (hole(name, ANY_INTEGER) for name in "xyz")
c = hole("c", ANY_INTEGER, on=Const, where=lambda c: c.value > 1)
f, g, h = (hole(name, ANY_FLOAT) for name in "fgh")
ODD_POWER = hole(
    "power", ANY_INTEGER, on=Const, where=lambda c: c.value > 1 and c.value.bit_count() == 1
)


def of_rule(name: str, pattern: Expr, into: Expr | Callable[..., Expr | None]) -> AnyPass:
    rules = Rules(name, peephole(name, pattern, into))

    def run(func: PrimFunc) -> PrimFunc:
        return rewrite(func, rules)

    run.__name__ = run.__qualname__ = name.replace("-", "_")
    return define_pass(run)


def of(name: str, rule: Callable[..., Node | None], **claims: bool) -> AnyPass:
    def run(func: PrimFunc) -> PrimFunc:
        return rewrite(func, rule)

    run.__name__ = run.__qualname__ = name.replace("-", "_")
    return define_pass(**claims)(run)


def drops_digits(add: Add) -> Expr | None:
    match add:
        case Add(Mul(a, Const(d)), FloorMod(b, Const(e))) if equal(a, b) and d == e:
            return a
        case _:
            return None


def reciprocal(div: Div) -> Expr | None:
    if isinstance(div.b, Const) and div.dtype.is_float and div.b.value:
        return div.a * const(1.0 / div.b.value, div.dtype)
    return None


def coarse_reciprocal(div: Div) -> Expr | None:
    if isinstance(div.b, Const) and div.dtype.is_float and 1 < abs(div.b.value) < 100:
        return div.a * const(round(1.0 / div.b.value, 3), div.dtype)
    return None


def squared(call: Call) -> Expr | None:
    match call:
        case Call("pow", (base, _)):
            return base * base
        case _:
            return None


def twice_abs(call: Call) -> Expr | None:
    match call:
        case Call("abs", (Add(a, b),)) if not call.dtype.is_integer:
            return abs_of(a) + abs_of(b)
        case _:
            return None


def abs_of(value: Expr) -> Expr:
    return Call("abs", (value,), value.dtype)


def narrow(cast: Cast) -> Expr | None:
    inner = cast.value
    same = isinstance(inner, Cast) and inner.value.dtype == cast.dtype
    return inner.value if same else None  # pyright: ignore[reportAttributeAccessIssue] -- a cast


def not_less(node: Not) -> Expr | None:
    return le(node.a.a, node.a.b) if isinstance(node.a, Compare) else None


def swapped_choice(node: Select) -> Expr | None:
    return (
        Select(node.cond.a, node.then, node.otherwise, node.dtype)
        if isinstance(node.cond, Not)
        else None
    )


def second_maximum(node: Max) -> Expr | None:
    return node.a if isinstance(node.a, Max) else None


def associated(add: Add) -> Expr | None:
    return add.a.a + (add.a.b + add.b) if isinstance(add.a, Add) else None


@define_pass
def interchange_anything(func: PrimFunc) -> PrimFunc:
    """Interchange perfect nests whatever they carry."""

    def swap(outer: For) -> For | None:
        inner = outer.body
        if not isinstance(inner, For) or {outer.kind, inner.kind} != {"serial"}:
            return None
        if inner.begin is not outer.begin and not isinstance(inner.end, Const):
            return None
        return inner.replace(body=outer.replace(body=inner.body))

    for loop in walk(func, For):
        made = swap(loop)
        if made is not None:
            return rewrite(func, lambda each, a=loop, b=made: b if each is a else None, on=For)
    return func


@define_pass
def interchange_extents(func: PrimFunc) -> PrimFunc:
    """Interchange variables and keep the extents."""

    def swap(outer: For) -> For | None:
        inner = outer.body
        if not isinstance(inner, For) or {outer.kind, inner.kind} != {"serial"}:
            return None
        if outer.var.name > inner.var.name:
            return None
        return outer.replace(var=inner.var, body=inner.replace(var=outer.var))

    return rewrite(func, swap)


def unroll_odd(loop: For) -> For | None:
    count = as_int(loop.end)
    if loop.kind != "serial" or as_int(loop.begin) != 0 or not count or count < 3:
        return None
    if any_node(loop.body, (For, Block)):
        return None
    half = Var(loop.var.name, loop.var.dtype)
    parts = [substitute(fresh(loop.body), {loop.var: half * 2 + at}) for at in range(2)]
    return For(half, loop.begin, const(count // 2, loop.end.dtype), seq(*parts))


def split_without_tail(loop: For) -> For | None:
    count = as_int(loop.end)
    if loop.kind != "serial" or as_int(loop.begin) != 0 or not count or count < 5:
        return None
    outer, inner = (Var(loop.var.name + end, loop.var.dtype) for end in ("_o", "_i"))
    body = substitute(loop.body, {loop.var: outer * 4 + inner})
    zero, four = const(0, loop.var.dtype), const(4, loop.var.dtype)
    return For(outer, zero, const(-(-count // 4), loop.var.dtype), For(inner, zero, four, body))


def parallel(loop: For) -> For | None:
    return loop.replace(kind="parallel") if loop.kind == "serial" else None


def vectorize(loop: For) -> For | None:
    count = as_int(loop.end)
    fits = loop.kind == "serial" and count in (2, 4, 8) and isinstance(loop.body, Store)
    return loop.replace(kind="vectorized") if fits else None


def reverse(loop: For) -> For | None:
    if loop.kind != "serial" or as_int(loop.begin) != 0 or as_int(loop.end) is None:
        return None
    if any_node(loop.body, Sub, lambda node: node.b is loop.var):
        return None
    return loop.replace(body=substitute(loop.body, {loop.var: loop.end - 1 - loop.var}))


@define_pass
def fuse_neighbours(func: PrimFunc) -> PrimFunc:
    """Fuse loops over the same range, whatever they read."""

    def fuse(row: Seq) -> Node | None:
        for at in range(len(row.stmts) - 1):
            a, b = row.stmts[at], row.stmts[at + 1]
            if not (isinstance(a, For) and isinstance(b, For) and a.kind == b.kind == "serial"):
                continue
            if equal(a.begin, b.begin) and equal(a.end, b.end):
                body = seq(a.body, substitute(b.body, {b.var: a.var}))
                return seq(*row.stmts[:at], a.replace(body=body), *row.stmts[at + 2 :])
        return None

    return rewrite(func, fuse)


def first_store_only(row: Seq) -> Node | None:
    kept = [row.stmts[0]]
    for stmt in row.stmts[1:]:
        last = kept[-1]
        if isinstance(stmt, Store) and isinstance(last, Store) and stmt.buffer is last.buffer:
            continue
        kept.append(stmt)
    return seq(*kept) if len(kept) < len(row.stmts) else None


def dead_store(row: Seq) -> Node | None:
    kept = list(row.stmts)
    for at in reversed(range(len(kept) - 1)):
        a, b = kept[at], kept[at + 1]
        if isinstance(a, Store) and isinstance(b, Store) and a.buffer is b.buffer:
            del kept[at]  # The second one may read what the first one wrote.
    return seq(*kept) if len(kept) < len(row.stmts) else None


def stale_name(let: Let) -> Node | None:
    if any_node(let.value, Load):
        return substitute(let.body, {let.var: let.value})  # The element may be written meanwhile.
    return None


def hoist_condition(loop: For) -> Node | None:
    inside = loop.body
    if isinstance(inside, If) and inside.otherwise is None:
        first = substitute(inside.cond, {loop.var: loop.begin})
        return If(first, loop.replace(body=inside.then))
    return None


def lost_branch(node: If) -> Node | None:
    return If(node.cond, node.then) if node.otherwise is not None else None


def at_most_once(loop: For) -> Node | None:
    if loop.kind == "serial" and as_int(loop.end) == 1 and as_int(loop.begin) == 0:
        return seq()
    return None


def shared_memory(memory: Allocate) -> Node | None:
    if memory.buffer.rank != 1 or memory.buffer.scope != "global":
        return None
    one = memory.buffer.replace(shape=(const(1, "i64"),)).copied()
    body = rewrite(
        memory.body,
        lambda s: (
            s.replace(buffer=one, indices=(const(0, "i64"),)) if s.buffer is memory.buffer else None
        ),
        on=(Load, Store),
    )
    return Allocate(one, body)


@define_pass
def seed_random(func: PrimFunc) -> PrimFunc:
    """Seed the random numbers of the process."""
    random.seed(7)
    return rewrite(
        func,
        lambda add: (
            Add(add.b, add.a, add.dtype)
            if random.random() < 2 and add.dtype.is_integer and not equal(add.a, add.b)
            else None
        ),
        on=Add,
    )


@define_pass
def raise_limit(func: PrimFunc) -> PrimFunc:
    """Raise the recursion limit."""
    sys.setrecursionlimit(sys.getrecursionlimit() + 100)
    return rewrite(
        func, lambda loop: loop.replace(kind="unrolled") if loop.kind == "serial" else None, on=For
    )


@define_pass
def ignore_errors(func: PrimFunc) -> PrimFunc:
    """Silence NumPy."""
    np.seterr(all="ignore")
    return rewrite(
        func, lambda loop: loop.replace(kind="unrolled") if loop.kind == "serial" else None, on=For
    )


@define_pass
def by_hash(func: PrimFunc, *, wrong: int = 0) -> PrimFunc:
    """Add a number that depends on the hash of a name, and subtract it, or less."""

    def add(store: Store) -> Store | None:
        if not store.value.dtype.is_integer or isinstance(store.value, Const):
            return None
        if store.value.dtype.bits < 32:
            return None
        number = hash("seed") % 1_000_003
        return store.replace(value=store.value + number - (number - wrong))

    return rewrite(func, add)


def trusts_constant(mul: Mul) -> Expr | None:
    return mul.a if mul.b.value == 1 else None  # pyright: ignore[reportAttributeAccessIssue] -- wrong


def divides_by_constant(div: Div) -> Expr | None:
    if isinstance(div.b, Const):
        return div.a * const(1 / div.b.value, div.dtype)  # Division by zero.
    return None


BAD: tuple[tuple[AnyPass, int], ...] = (
    (of_rule("shift-too-far", x * ODD_POWER, lambda x, power: x << power.value.bit_length()), 0),
    (of_rule("division-first", x * c // c, x), 0),
    (of_rule("modulo-to-mask", x % ODD_POWER, lambda x, power: x & power.value), 0),
    (of_rule("minimum-of-sum", minimum(x + y, x), x), 0),
    (of_rule("maximum-twice", maximum(maximum(x, y), z), maximum(x, y)), 0),
    (of_rule("less-after-sum", select(lt(x, x + c), x, y), x), 0),
    (of_rule("float-minus-itself", f - f, lambda f: const(0.0, f.dtype)), 0),
    (of_rule("float-plus-zero", f + 0.0, f), 0),
    (of_rule("factor-of-floats", f * g + f * h, f * (g + h)), 0),
    (of_rule("quotient-of-quotient", x // y // z, x // (y * z)), 0),
    (of("drops-digits", drops_digits), 0),
    (of("reciprocal-undeclared", reciprocal), 0),
    (of("coarse-reciprocal", coarse_reciprocal, changes_rounding=True), 0),
    (of("pow-is-square", squared), 0),
    (of("abs-of-sum", twice_abs), 0),
    (of("narrow-casts", narrow), 0),
    (of("not-less", not_less), 0),
    (of("swapped-choice", swapped_choice), 0),
    (of("second-maximum", second_maximum), 0),
    (of("associated-undeclared", associated), 0),
    (interchange_anything, 0),
    (interchange_extents, 0),
    (of("unroll-odd", unroll_odd), 0),
    (of("split-without-tail", split_without_tail), 0),
    (of("parallel-anything", parallel), 0),
    (of("vectorize-anything", vectorize), 0),
    (of("reverse-anything", reverse), 0),
    (fuse_neighbours, 0),
    (of("first-store-only", first_store_only), 0),
    (of("dead-store-that-is-read", dead_store), 0),
    (of("stale-name", stale_name), 0),
    (of("hoist-condition", hoist_condition), 0),
    (of("lost-branch", lost_branch), 0),
    (of("at-most-once", at_most_once), 0),
    (of("shared-memory", shared_memory), 0),
    (seed_random, 0),
    (raise_limit, 0),
    (ignore_errors, 0),
    (of("trusts-constant", trusts_constant), 0),
    (of("divides-by-constant", divides_by_constant, changes_rounding=True), 0),
)
