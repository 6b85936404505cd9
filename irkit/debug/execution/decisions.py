"""The places at which the data of a function decides: branches, choices, ``min`` and ``max``.

A decision is known by what it looks at, without indices, so that the same one is recognised after a
pass moves it. Each can be fixed, so that it always goes one way.
"""

from collections.abc import Iterable

from irkit.core import Node, children, postorder, rewrite, walk
from irkit.debug.execution.inputs import size_vars
from irkit.ir import (
    Broadcast,
    Buffer,
    Conditional,
    Const,
    Expr,
    If,
    Let,
    Load,
    Max,
    Min,
    Not,
    PrimFunc,
    Select,
    Var,
    View,
    const,
)

Decision = str
"""The text of what a decision looks at."""
_KINDS = (If, Select, Conditional, Min, Max)
MOST_NODES = 60
"""Nodes of an expression that its text shows."""


def decisions(func: PrimFunc) -> list[Decision]:
    """Return the decisions of a function that depend on data, each once, in text order."""
    return list(_Decisions(func).found())


def extrema(func: PrimFunc) -> set[Decision]:
    """Return what the ``min`` and ``max`` of floats in a function look at."""
    known = _Decisions(func)
    found = (node for node in walk(func, (Min, Max)) if node.dtype.is_float)
    return {known.text(node, (node.a, node.b)) for node in found}


def decided(func: PrimFunc, decision: Decision, side: bool) -> PrimFunc:
    """Return a function in which a decision always goes one way: the condition holds, or the first
    operand is chosen, if ``side``."""
    known = _Decisions(func)
    places = [id(node) for node in postorder(func) if isinstance(node, _KINDS)]
    chosen = known.places_of(decision)
    numbers = iter([place in chosen for place in places])

    def decide(node: If | Select | Conditional | Min | Max) -> Node | None:
        if not next(numbers):
            return None
        match node:
            case Min(a, b) | Max(a, b):
                return a if side else b
            case If():
                return node.replace(cond=const(side, node.cond.dtype))
            case Select(_, a, b) | Conditional(_, a, b):
                return a if side else b

    return rewrite(func, decide, on=_KINDS)


class _Decisions:
    """The decisions of one function."""

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.sources = {view.buffer: view.source for view in walk(func, View)}
        sizes = set(size_vars(func))
        self.data: set[Node] = {p for p in func.params if isinstance(p, Var) and p not in sizes}
        for let in walk(func, Let):
            if self._reads((let.value,)):
                self.data.add(let.var)

    def found(self) -> dict[Decision, list[Node]]:
        made: dict[Decision, list[Node]] = {}
        for node in walk(self.func, _KINDS):
            looked_at = _operands(node)
            if self._reads(looked_at):
                made.setdefault(self.text(node, looked_at), []).append(node)
        return made

    def places_of(self, decision: Decision) -> set[int]:
        return {id(node) for node in self.found().get(decision, ())}

    def _reads(self, roots: Iterable[Expr]) -> bool:
        return any(
            isinstance(node, Load) or node in self.data
            for root in roots
            for node in walk(root, (Load, Var))
        )

    def text(self, node: Node, looked_at: tuple[Expr, ...]) -> Decision:
        """Return what a decision looks at, in words."""
        kind = type(node).__name__ if isinstance(node, (Min, Max)) else "if"
        words = [kind]
        todo: list[Node] = list(reversed(looked_at))
        while todo and len(words) < MOST_NODES:
            inner = todo.pop()
            match inner:
                case Load():
                    words.append(self._memory(inner.buffer))
                case Const():
                    words.append(repr(inner.value))
                case Var():
                    words.append(inner.name if inner in self.data else "index")
                case Broadcast() | Not():
                    todo += children(inner)  # Lanes, and the order of branches, do not matter.
                case _:
                    words.append(type(inner).__name__)
                    todo += reversed(children(inner))
        return " ".join(words)

    def _memory(self, buffer: Buffer) -> str:
        while buffer in self.sources:
            buffer = self.sources[buffer]
        return buffer.name


def _operands(node: Node) -> tuple[Expr, ...]:
    match node:
        case If(cond) | Select(cond) | Conditional(cond):
            return (cond,)
        case Min(a, b) | Max(a, b):
            return a, b
        case _:
            return ()
