"""Statements as Python functions of a state, which run them."""

from collections.abc import Callable
from typing import Any

from irkit.core import walk
from irkit.ir import (
    U64,
    Allocate,
    Assert,
    Block,
    Buffer,
    Call,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    convert,
    evaluates,
    is_hint,
)
from irkit.ir.analysis import is_divided
from irkit.proof.functions.execution.conflicts import UnorderedLoop
from irkit.proof.functions.execution.expressions import Expressions
from irkit.proof.functions.execution.memory import Memory, Place, reach, strides_of
from irkit.proof.functions.execution.state import SymbolicState
from irkit.proof.functions.execution.terms import NotExecuted, Value

Run = Callable[[], None]


class Statements:
    """Makes functions that run statements."""

    def __init__(self, state: SymbolicState) -> None:
        self.state = state
        self.exprs = Expressions(state)
        self._numbers: dict[int, Callable[[], Value]] = {}

    def run(self, stmt: Stmt) -> Run:
        """Return a function that runs a statement."""
        return _CASES[stmt.__class__](self, stmt)

    def bind(self, values: dict[Var, Value]) -> None:
        """Set the values of variables."""
        for var, value in values.items():
            self.state.slots[self.exprs.slot(var)] = value

    def place(
        self, buffer: Buffer, memory: Memory, shape: tuple[int, ...], strides: tuple[int, ...]
    ) -> None:
        """Set the memory of a buffer."""
        self.state.slots[self.exprs.slot(buffer)] = Place(memory, 0, shape, strides)

    def layout(self, buffer: Buffer) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the shape and the strides of a buffer.

        Raises: NotExecuted if they are not numbers.
        """
        shape = tuple(self.number(dim, f"the shape of {buffer.name}") for dim in buffer.shape)
        if min(shape, default=0) < 0:
            raise NotExecuted(f"a dimension of {buffer.name} is negative")
        if buffer.strides is None:
            return shape, strides_of(shape)
        what = f"the strides of {buffer.name}"
        return shape, tuple(self.number(stride, what) for stride in buffer.strides)

    def number(self, expr: Expr, what: str) -> int:
        """Evaluate an expression that has to be a number.

        Raises: NotExecuted.
        """
        made = self._numbers.get(id(expr))
        if made is None:
            made = self._numbers[id(expr)] = self.exprs.index(expr)
        return self._known(made(), what)

    def _known(self, value: Value, what: str) -> int:
        if isinstance(value, Expr):
            raise NotExecuted(f"{what} depends on an argument or on data")
        return value

    # One method for each class of statements.

    def sequence(self, stmt: Seq) -> Run:
        parts = [self.run(inner) for inner in stmt.stmts]

        def run() -> None:
            for part in parts:
                part()

        return run

    def store(self, stmt: Store) -> Run:
        state, slots, name = self.state, self.state.slots, stmt.buffer.name
        exprs, at = self.exprs, self.exprs.slot(stmt.buffer)
        parts = (*stmt.indices, stmt.value, *([] if stmt.mask is None else [stmt.mask]))
        cost = 1 + exprs.cost(*parts)
        lanes = max([part.dtype.lanes for part in parts])
        if lanes == 1:
            indices = [exprs.index(index) for index in stmt.indices]
            value = exprs.value(stmt.value)
            mask = None if stmt.mask is None else exprs.value(stmt.mask)

            def one() -> None:
                state.steps.take(cost)
                where = [index() for index in indices]
                made = value()
                state.store(slots[at], where, made, name, True if mask is None else mask())

            return one
        wide = [_repeated(exprs.index(index), index, lanes) for index in stmt.indices]
        values = exprs.wide(stmt.value, lanes)
        masks = None if stmt.mask is None else exprs.wide(stmt.mask, lanes)

        def vector() -> None:
            state.steps.take(cost)
            rows = list(zip(*[index() for index in wide], strict=True))
            made = values()
            conds = [True] * lanes if masks is None else masks()
            for row, lane, cond in zip(rows, made, conds, strict=True):
                state.store(slots[at], row, lane, name, cond)

        return vector

    def loop(self, stmt: For) -> Run:
        if stmt.var.dtype == U64:
            raise NotExecuted("a loop counts in u64")
        if stmt.kind == "thread" and _waits(stmt):
            raise NotExecuted("it has threads that wait for each other, or share memory")
        if dict(stmt.attrs).get("reassoc") and self.state.is_after:
            raise NotExecuted("a loop permits another order of its operations")
        state, slots, at = self.state, self.state.slots, self.exprs.slot(stmt.var)
        limits = [self.exprs.value(convert(x, stmt.var.dtype)) for x in (stmt.begin, stmt.end)]
        what = f"a limit of the loop {stmt.var.name}"
        body = self.run(stmt.body)

        def run() -> None:
            begin, end = [self._known(limit(), what) for limit in limits]
            for each in range(begin, end):
                state.steps.take(1)
                slots[at] = each
                body()

        def unordered() -> None:
            begin, end = [self._known(limit(), what) for limit in limits]
            loop = UnorderedLoop(stmt.kind, stmt.var.name, len(state.loops))
            state.loops.append(loop)
            for each in range(begin, end):
                state.steps.take(1)
                slots[at] = loop.now = each
                body()
            state.loops.pop()

        is_ordered = stmt.kind in ("serial", "unrolled")
        # Threads before a step may be in lockstep, which is the same if they never meet.
        return run if is_ordered or not (state.is_after or stmt.kind == "thread") else unordered

    def branch(self, stmt: If) -> Run:
        state, cond, then = self.state, self.exprs.value(stmt.cond), self.run(stmt.then)
        otherwise = None if stmt.otherwise is None else self.run(stmt.otherwise)
        cost = 1 + self.exprs.cost(stmt.cond)

        def run() -> None:
            state.steps.take(cost)
            test = cond()
            if test is not False:
                with state.under(test):
                    then()
            if test is not True and otherwise is not None:
                with state.under(state.terms.inverse(test)):
                    otherwise()

        return run

    def let(self, stmt: Let) -> Run:
        state, slots, at = self.state, self.state.slots, self.exprs.slot(stmt.var)
        value, body = self.exprs.value(stmt.value), self.run(stmt.body)
        cost = 1 + self.exprs.cost(stmt.value)

        def run() -> None:
            state.steps.take(cost)
            slots[at] = value()
            body()

        return run

    def allocation(self, stmt: Allocate) -> Run:
        if is_divided(stmt):
            raise NotExecuted(f"each thread has its own {stmt.buffer.name!r}")
        state, buffer, body = self.state, stmt.buffer, self.run(stmt.body)
        slots, at = state.slots, self.exprs.slot(buffer)

        def run() -> None:
            state.steps.take(1)
            shape, strides = self.layout(buffer)
            start = state.unknown.of_allocation(buffer.name, buffer.dtype)
            memory = Memory(
                buffer.name, reach(shape, strides), buffer.dtype, start, len(state.loops)
            )
            slots[at] = Place(memory, 0, shape, strides)
            body()

        return run

    def view(self, stmt: View) -> Run:
        state, slots, body = self.state, self.state.slots, self.run(stmt.body)
        at, source = self.exprs.slot(stmt.buffer), self.exprs.slot(stmt.source)
        what = f"the offset of {stmt.buffer.name}"

        def run() -> None:
            state.steps.take(1)
            shape, strides = self.layout(stmt.buffer)
            offset = self.number(stmt.offset, what)
            whole: Place = slots[source]
            room = reach(whole.shape, whole.strides)
            if not 0 <= offset <= room - reach(shape, strides):
                raise NotExecuted(f"view {stmt.buffer.name} leaves its memory")
            slots[at] = Place(whole.memory, whole.offset + offset, shape, strides)
            body()

        return run

    def assertion(self, stmt: Assert) -> Run:
        state, cond = self.state, self.exprs.value(stmt.cond)
        values = [self.exprs.value(value) for value in stmt.values]

        def run() -> None:
            state.steps.take(1 + len(values))
            test = cond()
            if test is True or state.path is False:
                return
            failed = state.terms.both(state.path, state.terms.inverse(test))
            with state.under(state.terms.inverse(test)):
                for value in values:
                    value()  # What a failure says is free, but what it reads must be in bounds.
            state.events.append(("assertion", _identity(failed)))

        return run

    def evaluation(self, stmt: Evaluate) -> Run:
        if not is_hint(stmt) and not evaluates(stmt, "barrier"):
            raise NotExecuted("it evaluates an expression for its effect")
        return lambda: None  # Threads that wait for each other are refused at their loop.

    def block(self, stmt: Block) -> Run:
        state, slots, exprs = self.state, self.state.slots, self.exprs
        axes = [
            (exprs.slot(axis.var), exprs.value(convert(axis.binding, axis.var.dtype)), axis)
            for axis in stmt.axes
        ]
        reduce = [exprs.slot(axis.var) for axis in stmt.axes if axis.kind == "reduce"]
        predicate = None if stmt.predicate is None else exprs.value(stmt.predicate)
        init = None if stmt.init is None else self.run(stmt.init)
        body = self.run(stmt.body)
        what = f"an axis of block {stmt.name!r}"

        def inside() -> None:
            for at, _, axis in axes:
                if not 0 <= slots[at] < self.number(axis.extent, what):
                    raise NotExecuted(f"{what} leaves its extent")
            if init is not None and all(slots[at] == 0 for at in reduce):
                init()
            body()

        def run() -> None:
            state.steps.take(1 + len(axes))
            for at, binding, _ in axes:
                slots[at] = self._known(binding(), what)
            test = True if predicate is None else predicate()
            if test is not False:
                with state.under(test):
                    inside()

        return run


def _identity(value: Value) -> object:
    """Return what tells a value apart: terms exist once."""
    return id(value) if isinstance(value, Expr) else (value.__class__, value)


def _repeated(inner: Callable[[], Value], expr: Expr, lanes: int) -> Callable[[], Value]:
    return inner if expr.dtype.lanes > 1 else lambda: [inner()] * lanes


def _waits(loop: For) -> bool:
    """Return True if threads wait at barriers, or if memory in them belongs to all of them."""
    for node in walk(loop.body, (Call, Allocate)):
        if isinstance(node, Call) and node.name == "barrier":
            return True
        if isinstance(node, Allocate) and node.buffer.is_shared:
            return True
    return False


_CASES: dict[type[Stmt], Callable[[Statements, Any], Run]] = {
    Seq: Statements.sequence,
    Store: Statements.store,
    For: Statements.loop,
    If: Statements.branch,
    Let: Statements.let,
    Allocate: Statements.allocation,
    View: Statements.view,
    Assert: Statements.assertion,
    Evaluate: Statements.evaluation,
    Block: Statements.block,
}
