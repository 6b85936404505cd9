"""Run small functions step by step in plain Python, and record which statement touches which
element in which iteration: the reference for analyses."""

from typing import Any, NamedTuple

from irkit.core import children
from irkit.ir import (
    Allocate,
    Binary,
    Block,
    Buffer,
    Cast,
    Const,
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
    View,
    as_int,
)

ROOM = 1 << 20


class Touch(NamedTuple):
    """An access: the memory and element, whether it writes, the statement, and the loop steps
    around it, outermost first."""

    memory: Buffer
    at: int
    writes: bool
    stmt: Stmt
    steps: tuple[tuple[For, int], ...]


class Run:
    """Record of a run: statements in order of their start, and all accesses.

    Conditions that read memory are assumed to hold; extents must be constant.
    """

    def __init__(self, func: PrimFunc) -> None:
        self.started: list[tuple[Stmt, tuple[tuple[For, int], ...]]] = []
        self.touches: list[Touch] = []
        self.steps: tuple[tuple[For, int], ...] = ()
        self.values: dict[Var, int] = {}
        self.views: dict[Buffer, tuple[Buffer, int]] = {}
        self.room = 0
        self.rooms: dict[Buffer, int] = {}
        self.run(func.body)

    def run(self, stmt: Stmt) -> None:
        self.started.append((stmt, self.steps))
        match stmt:
            case Seq(stmts):
                for inner in stmts:
                    self.run(inner)
            case For(var, begin, end, body):
                for step in range(self.value(begin, stmt), self.value(end, stmt)):
                    self.values[var] = step
                    self.steps += ((stmt, step),)
                    self.run(body)
                    self.steps = self.steps[:-1]
            case If(cond, then, otherwise):
                if self.value(cond, stmt):
                    self.run(then)
                elif otherwise is not None:
                    self.run(otherwise)
            case Let(var, value, body):
                self.values[var] = self.value(value, stmt)
                self.run(body)
            case Allocate(buffer, body):
                self.room += ROOM  # A new memory each time.
                self.rooms[buffer] = self.room
                self.run(body)
            case View(buffer, source, offset, body):
                self.views[buffer] = source, self.value(offset, stmt)
                self.run(body)
            case Store(buffer, indices, value):
                self.value(value, stmt)
                self.touch(buffer, indices, stmt, writes=True)
            case Block():
                self.block(stmt)
            case _:
                raise NotImplementedError(stmt)

    def block(self, block: Block) -> None:
        for axis in block.axes:
            self.values[axis.var] = self.value(axis.binding, block)
        if block.predicate is None or self.value(block.predicate, block):
            first = all(self.values[a.var] == 0 for a in block.axes if a.kind == "reduce")
            if block.init is not None and first:
                self.run(block.init)
            self.run(block.body)

    def touch(self, buffer: Buffer, indices: tuple[Expr, ...], stmt: Stmt, *, writes: bool) -> None:
        at = 0
        for index, dim in zip(indices, buffer.shape, strict=True):
            at = at * (as_int(dim) or 0) + self.value(index, stmt)
        while buffer in self.views:
            buffer, offset = self.views[buffer]
            at += offset
        at += self.rooms.get(buffer, 0)
        self.touches.append(Touch(buffer, at, writes, stmt, self.steps))

    def value(self, expr: Expr, stmt: Stmt) -> int:
        match expr:
            case Const(value):
                return int(value)
            case Var():
                return self.values[expr]
            case Load(buffer, indices):
                self.touch(buffer, indices, stmt, writes=False)
                return 1
            case Cast(value):
                return self.value(value, stmt)
            case Binary(a, b):
                return int(OPERATORS[expr.sign](self.value(a, stmt), self.value(b, stmt)))
            case _:
                for child in children(expr):
                    assert isinstance(child, Expr)
                    self.value(child, stmt)
                return 1


OPERATORS: dict[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "min": min,
    "max": max,
}
