"""The laws of ``docs/rules.md`` that a program can check, and programs to check them on."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from irkit.core import Node, Recorder, children, postorder, recording, rewrite, same, walk
from irkit.ir import Call, Evaluate, Expr, Load, PrimFunc, Seq, Stmt, interpret, parse

BOUND = 8
"""Rounds over a whole program after which rules must have come to an end."""

LAWS = {
    "ends": "applied again and again, the rules come to an end",
    "worse": "what a rule makes has no more statements, and else no more expressions",
    "undone": "no rule makes again what another one replaced",
    "work": "a rule writes no load and no call more often than it found it",
    "type": "an expression keeps its type",
    "span": "a statement keeps its span, and a rule takes none from elsewhere",
    "meaning": "the interpreter gives the same bits before and after",
}
Change = Callable[[PrimFunc], PrimFunc]


def broken_laws(change: Change, func: PrimFunc) -> set[str]:
    """Return the laws that the applications of a change to a program break."""
    with recording(Recorder(keep=True)) as recorder:
        after, ends = _repeated(change, func)
    broken = set[str]() if ends else {"ends"}
    for each in recorder.applications:
        broken |= _broken_by(each.before, each.after)
        if _comes_back(change, func, each.before, each.after):
            broken.add("undone")
    if any(stmt.span is None for stmt in walk(after, Stmt) if not isinstance(stmt, Seq)):
        broken.add("span")
    if _outcome(func) != _outcome(after):
        broken.add("meaning")
    return broken


def _repeated(change: Change, func: PrimFunc) -> tuple[PrimFunc, bool]:
    for _ in range(BOUND):
        after = change(func)
        if after is func:
            return func, True
        func = after
    return func, False


def _broken_by(before: Node, after: Node) -> set[str]:
    broken = set[str]()
    if _size(after, Stmt, Expr) > _size(before, Stmt, Expr):
        broken.add("worse")
    if _size(after, (Load, Call)) > _size(before, (Load, Call)):
        broken.add("work")
    if isinstance(before, Expr) and getattr(after, "dtype", None) != before.dtype:
        broken.add("type")
    known = {id(stmt.span) for stmt in walk(before, Stmt)}
    if any(stmt.span and id(stmt.span) not in known for stmt in walk(after, Stmt)):
        broken.add("span")
    return broken


def _size(root: Node, *kinds: type[Node] | tuple[type[Node], ...]) -> tuple[int, ...]:
    """Count nodes of each kind, those that are shared as often as they are written."""
    sizes: dict[int, tuple[int, ...]] = {}
    for node in postorder(root):
        below = [sizes[id(child)] for child in children(node)]
        own = [isinstance(node, kind) for kind in kinds]
        sizes[id(node)] = tuple(map(sum, zip(own, *below, strict=True)))
    return sizes[id(root)]


def _comes_back(change: Change, func: PrimFunc, before: Node, after: Node) -> bool:
    """Return True if the rules, applied to what they made, make what was there before."""
    if not isinstance(before, Expr) or not isinstance(after, Expr):
        return False
    found, template = after, next(iter(walk(func, Stmt)))
    for _ in range(BOUND):
        with recording(Recorder(keep=True)) as recorder:
            change(func.replace(body=_holding(template, found)))
        made = [each.after for each in recorder.applications if same(each.before, found)]
        if not made:
            return False
        assert isinstance(made[0], Expr)
        found = made[0]
        if same(found, before):
            return True
    return False


def _holding(template: Stmt, expr: Expr) -> Stmt:
    return Evaluate(expr, span=template.span)


def _outcome(func: PrimFunc) -> object:
    """Return the bits of the results, or the class of the error."""
    arrays = _arrays()
    try:
        interpret(func, *arrays)
    except Exception as error:
        return type(error)
    return [array.tobytes() for array in arrays]


def _arrays() -> list[Any]:
    """Return arguments with the values on which wrong rules differ from right ones."""
    floats = np.array([np.nan, -0.0, np.inf, 1.5, 0.0, -np.inf, 3e38, -2.0], np.float32)
    low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    integers = np.array([0, high, low, -1, 7, high, -7, 64], np.int32)
    return [floats, np.ones(8, np.float32), integers, np.ones(8, np.int32)]


def rewriting(rules: Callable[..., Node | None]) -> Change:
    """Return the change that a set of rules makes to a function."""
    return lambda func: rewrite(func, rules)


def drawn_programs(count: int = 100) -> list[PrimFunc]:
    """Draw programs, the same ones each time, that give most rules something to do."""
    return [_Draw(seed).program() for seed in range(count)]


class _Draw:
    def __init__(self, seed: int) -> None:
        self.picks = random.Random(seed)
        self.names = 0

    def program(self) -> PrimFunc:
        head = "def f(A: f32[8], C: f32[8], D: i32[8], E: i32[8]):"
        lines = [line for _ in range(4) for line in self.statement(2, [])]
        return parse("\n".join([head, *(f"    {line}" for line in lines)]) + "\n", file="f.irs")

    def statement(self, depth: int, loops: list[str]) -> list[str]:
        kind = self.picks.randrange(9 if depth else 5)
        if kind == 0:
            at = self.index(loops)
            return [f"C[{at}] = C[{at}]"]
        if kind == 1:
            return [f"E[{self.index(loops)}] = {self.integer(self.picks.choice([1, 2]), loops)}"]
        if kind in (2, 3):
            value = (
                self.float(self.picks.choice([1, 2]), loops)
                if kind == 2
                else f"cast({self.integer(1, loops)}, f32)"
            )
            return [f"C[{self.index(loops)}] = {value}"]
        if kind == 4:
            return [self.picks.choice(["pass", "assert True", f"evaluate({self.float(1, loops)})"])]
        if kind in (5, 6):
            var = self.name("i")
            body = self.block(depth, [*loops, var])
            return [f"for {var} in serial(0, {self.picks.choice([0, 1, 8])}):", *body]
        if kind == 7:
            name = self.name("k")
            return [f"{name}: i32 = {self.integer(1, loops)}", *self.statement(depth - 1, loops)]
        test = f"{self.integer(1, loops)} < {self.integer(1, loops)}"
        both = ["else:", *self.block(depth, loops)] if self.picks.randrange(2) else []
        return [f"if {test}:", *self.block(depth, loops), *both]

    def block(self, depth: int, loops: list[str]) -> list[str]:
        empty = self.picks.randrange(3) == 0
        lines = ["pass"] if empty else self.statement(depth - 1, loops)
        return [f"    {line}" for line in lines]

    def name(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def index(self, loops: list[str]) -> str:
        return self.picks.choice([*loops[-1:], str(self.picks.randrange(8))])

    def float(self, depth: int, loops: list[str]) -> str:
        if not depth:
            return self.picks.choice([f"A[{self.index(loops)}]", "f32(0.0)", "f32(1.5)"])
        a, b = self.float(depth - 1, loops), self.float(depth - 1, loops)
        sign = self.picks.choice("+-*")
        return self.picks.choice(
            [f"({a} {sign} {b})", f"(-{a})", f"({a} - {a})", f"({a} + f32(0.0))"]
        )

    def integer(self, depth: int, loops: list[str]) -> str:
        if not depth:
            return self.picks.choice([f"D[{self.index(loops)}]", "i32(0)", "i32(1)", "i32(2)"])
        a, b = self.integer(depth - 1, loops), self.integer(depth - 1, loops)
        wide = f"cast({a}, i64)"
        return self.picks.choice(
            [
                f"({a} {self.picks.choice(['+', '-', '*', '//', '%'])} {b})",
                f"({a} // {a})",
                f"(({a} + i32(0)) * i32(2))",
                f"cast({wide}, i32)",
                f"cast(cast({wide}, i8), i32)",
                f"select({a} < ({a} + i32(1)), {a}, {b})",
            ]
        )
