"""Small changes to a function at the places that a step changed, for a check to notice."""

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

import msgspec

from irkit.core import Node, children, rewrite, walk, with_fields
from irkit.ir import (
    GE,
    GT,
    LE,
    LT,
    Add,
    And,
    Binary,
    Const,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    For,
    If,
    Let,
    Load,
    Max,
    Min,
    Mul,
    Or,
    PrimFunc,
    Select,
    Seq,
    Stmt,
    Store,
    Sub,
    binary,
    const,
    listing,
    logical_not,
    script,
    seq,
)

_OTHERS: dict[type[Expr], type[Binary]] = {
    **{Add: Sub, Sub: Add, Mul: Add, Div: Mul, FloorDiv: FloorMod, FloorMod: FloorDiv},
    **{Min: Max, Max: Min, LT: LE, LE: LT, GT: GE, GE: GT, And: Or, Or: And},
}
"""The operator in place of each."""


class Mutant(msgspec.Struct, frozen=True, eq=False):
    """A function with one small change: in the line of its statement, and what it says there."""

    func: PrimFunc
    line: int
    change: str

    def __str__(self) -> str:
        return f"line {self.line} {self.change}"


Change = tuple[Stmt, Stmt, str]
"""A statement, the one in its place, and the change in words."""


def mutants(before: PrimFunc, after: PrimFunc) -> Iterator[Mutant]:
    """Yield changes to the result of a step where it differs from what it was; bounds and stores,
    operators, constants and indices take turns."""
    known = {id(node) for node in walk(before)}
    loops = {(id(loop.var), id(loop.begin), id(loop.end)) for loop in walk(before, For)}
    lines = listing(after).starts

    def is_new(stmt: Stmt) -> bool:
        if id(stmt) in known:
            return False
        match stmt:  # Of one whose body alone changed, nothing else did.
            case For():
                return (id(stmt.var), id(stmt.begin), id(stmt.end)) not in loops
            case If():
                return id(stmt.cond) not in known
            case Let():
                return id(stmt.value) not in known
            case _:
                return True

    changed = [stmt for stmt in walk(after, Stmt) if is_new(stmt)]
    kinds = [
        chain.from_iterable(map(kind, changed)) for kind in (_bounds, _dropped, _swapped, _values)
    ]
    for turn in zip_longest(*kinds):
        for change in turn:
            if change is not None:
                old, new, said = change
                yield Mutant(_put(after, old, new), lines.get(id(old), 1), said)


def _put(func: PrimFunc, old: Stmt, new: Stmt) -> PrimFunc:
    def rule(stmt: Stmt) -> Stmt | None:
        return new if stmt is old else None

    return rewrite(func, rule, on=type(old))


def _bounds(stmt: Stmt) -> Iterator[Change]:
    if isinstance(stmt, For) and stmt.kind != "thread":
        yield stmt, stmt.replace(end=stmt.end - 1), f"`{_text(stmt.end)} - 1`"
        yield stmt, stmt.replace(begin=stmt.begin + 1), f"`{_text(stmt.begin)} + 1`"


def _dropped(stmt: Stmt) -> Iterator[Change]:
    if isinstance(stmt, Store):
        yield stmt, seq(), "dropped"
    if isinstance(stmt, If):
        yield stmt, stmt.replace(cond=logical_not(stmt.cond)), "the condition negated"


def _swapped(stmt: Stmt) -> Iterator[Change]:
    if not isinstance(stmt, Seq):
        return
    for at in range(len(stmt.stmts) - 1):
        first, second = stmt.stmts[at : at + 2]
        row = (*stmt.stmts[:at], second, first, *stmt.stmts[at + 2 :])
        yield stmt, stmt.replace(stmts=row), f"statements {at + 1} and {at + 2} swapped"


def _values(stmt: Stmt) -> Iterator[Change]:
    """Change an operator, a constant, or an index of what a statement computes."""
    parts: Sequence[Expr] = ()
    match stmt:
        case Store():
            parts = (stmt.value, *stmt.indices)
            for at, index in enumerate(stmt.indices):
                if index.dtype.lanes == 1:
                    moved = (*stmt.indices[:at], index + 1, *stmt.indices[at + 1 :])
                    yield stmt, stmt.replace(indices=moved), f"`{_text(index)} + 1`"
        case If():
            parts = (stmt.cond,)
        case Let():
            parts = (stmt.value,)
        case _:
            pass
    for part in parts:
        for old, new, said in _changes(part):
            yield stmt, _with(stmt, part, _replaced(part, old, new)), said


def _with(stmt: Stmt, part: Expr, made: Expr) -> Stmt:
    found = with_fields(stmt, {id(part): made})
    assert isinstance(found, Stmt)
    return found


def _changes(part: Expr) -> Iterator[tuple[Expr, Expr, str]]:
    for node in walk(part, Expr):
        other = _OTHERS.get(type(node))
        match node:
            case Binary() if other is not None:
                made = binary(other, node.a, node.b)
                yield node, made, f"`{_text(node)}` to `{_text(made)}`"
            case Select():
                made = node.replace(then=node.otherwise, otherwise=node.then)
                yield node, made, f"`{_text(node)}` to `{_text(made)}`"
            case Const() if node.dtype.lanes == 1 and not node.dtype.is_bool:
                made = const(node.value + 1, node.dtype) if _fits(node) else node
                if made is not node:
                    yield node, made, f"`{_text(node)}` to `{_text(made)}`"
            case Load() if node.indices and node.indices[-1].dtype.lanes == 1:
                made = node.replace(indices=(*node.indices[:-1], node.indices[-1] + 1))
                yield node, made, f"`{_text(node)}` to `{_text(made)}`"
            case _:
                pass


def _fits(node: Const) -> bool:
    if node.dtype.is_float:
        return node.value + 1 != node.value
    return int(node.value) < node.dtype.high


def _replaced(part: Expr, old: Expr, new: Expr) -> Expr:
    if part is old:
        return new
    below = [child for child in children(part) if isinstance(child, Expr)]
    changed: dict[int, Node] = {id(child): _replaced(child, old, new) for child in below}
    if all(changed[id(child)] is child for child in below):
        return part
    found = with_fields(part, changed)
    assert isinstance(found, Expr)
    return found


def _text(node: Expr) -> str:
    return script(node).strip()
