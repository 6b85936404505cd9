"""Compile the statements of a function to a program."""

from collections.abc import Callable, Mapping
from typing import Any

from irkit.core import IRKitError, ShapeError, children, walk
from irkit.ir.buffer import Buffer
from irkit.ir.build import evaluates, is_hint
from irkit.ir.dtype import DType
from irkit.ir.expr import Const, Expr, Var
from irkit.ir.interp.arguments import nested_statements
from irkit.ir.interp.assembler import GROWTH, Assembler
from irkit.ir.interp.expressions import ExpressionCompiler
from irkit.ir.interp.machine import END, Barrier, Fork, Program, Registers
from irkit.ir.interp.memory import (
    BufferRegisters,
    allocate,
    release,
    store_lanes,
    store_one,
    view,
)
from irkit.ir.interp.private_memory import PrivateMemory
from irkit.ir.interp.values import cast_function
from irkit.ir.numpy_types import numpy_dtype
from irkit.ir.stmt import (
    Allocate,
    Assert,
    Axis,
    Block,
    Evaluate,
    For,
    If,
    Let,
    Seq,
    Stmt,
    Store,
    View,
)


class FailedAssertion(IRKitError):
    """An assertion that does not hold; ``assertion`` is the statement."""

    assertion: Assert | None = None

    def picklable_state(self) -> dict[str, Any]:
        """Return the attributes to send to another process; IR is left behind."""
        return {name: value for name, value in self.__dict__.items() if name != "assertion"}


class StatementCompiler(ExpressionCompiler):
    """Compiler of statements; ``compile`` needs the guard of ``deep_recursion``."""

    def __init__(self) -> None:
        super().__init__(Assembler())
        self.events: list[Barrier | Fork] = []
        self.waiting: set[int] = set()  # Thread loops that contain a barrier.
        self.last = -1  # The register of the latest Evaluate.
        self.allocations: Mapping[int, Expr] = {}  # Conditions for sizes, by the id of buffers.
        self.ranges: dict[Var, tuple[int, int]] = {}  # Variables of loops with constant bounds.
        self.private: list[PrivateMemory] = []  # Around the current statement, if threads use it.
        self.has_threads = False
        self.axes: tuple[str, ...] = ()  # Those of the loops over threads around it.
        self.forks: dict[int, list[tuple[PrivateMemory, int, int, int]]] = {}  # By loop.

    def compile(self, body: Stmt) -> None:
        """Append the code of a statement."""
        self.find_barriers(body)
        self.statement(body)

    def program(self) -> Program:
        """End the code, and return the program."""
        self.code.finish(lambda r: END, self.code.label())
        blocks = [
            (tuple(operations), control)
            for operations, control in self.code.blocks
            if control is not None
        ]
        assert len(blocks) == len(self.code.blocks) - 1
        return Program(blocks, self.events, self.code.registers, 0)

    def find_barriers(self, body: Stmt) -> None:
        """Record the loops whose threads must run side by side."""
        held: set[int] = set()
        for stmt in nested_statements(body):
            if isinstance(stmt, For) and stmt.kind == "thread":
                self.has_threads = True
            if evaluates(stmt, "barrier") or any(id(child) in held for child in children(stmt)):
                held.add(id(stmt))
                if isinstance(stmt, For) and stmt.kind == "thread":
                    self.waiting.add(id(stmt))

    def statement(self, stmt: Stmt) -> None:
        self.begin(stmt.span)
        self.code.allowed += GROWTH
        COMPILE[type(stmt)](self, stmt)

    def seq(self, stmt: Seq) -> None:
        for inner in stmt.stmts:
            self.statement(inner)

    def store(self, stmt: Store) -> None:
        place = self.place(stmt.buffer)
        self.check_rank(place, len(stmt.indices))
        indices = [self.index(index) for index in stmt.indices]
        value = self.value(stmt.value)
        mask = None if stmt.mask is None else self.value(stmt.mask)
        lanes = max(index.dtype.lanes for index in stmt.indices) if stmt.indices else 1
        self.before_store(stmt, place, indices, value, mask, lanes)
        if lanes == 1 and mask is None:
            self.code.emit(store_one(place, indices, value, stmt.span))
        else:
            self.code.emit(store_lanes(place, indices, mask, value, lanes, stmt.span))
        owner = self._private_of(place)
        if owner is not None:
            masks = [] if mask is None else [mask]
            owner.note_store(place, indices, masks, lanes, self.axes)

    def before_load(
        self, place: BufferRegisters, indices: list[int], mask: int | None, lanes: int
    ) -> None:
        owner = self._private_of(place)
        if owner is not None:
            owner.check(place, indices, [] if mask is None else [mask], lanes)

    def _private_of(self, place: BufferRegisters) -> PrivateMemory | None:
        return next((each for each in self.private if place.memory in each.bases), None)

    def before_store(
        self,
        stmt: Store,
        place: BufferRegisters,
        indices: list[int],
        value: int,
        mask: int | None,
        lanes: int,
    ) -> None:
        """Add operations before a store, whose operands are ready: none here."""

    def loop(self, stmt: For) -> None:
        begin = self._as(stmt.begin, stmt.var.dtype)
        end = self._as(stmt.end, stmt.var.dtype)
        var = self.code.register()
        self.variables[stmt.var] = var
        match stmt:
            case For(_, Const(int() as low), Const(int() as high)):
                self.ranges[stmt.var] = (low, high)
            case _:
                pass
        run = self._loop
        if id(stmt) in self.waiting and not stmt.thread.startswith("blockIdx"):
            run = self._threads
        if stmt.kind != "thread" or stmt.thread in self.axes:
            run(stmt, var, begin, end)
            return
        saved = [(each, each.save()) for each in self.private if each.is_in(stmt)]
        self.forks[id(stmt)] = [(each, var, begin, note) for each, note in saved]
        around, self.axes = self.axes, (*self.axes, stmt.thread)
        run(stmt, var, begin, end)
        self.axes = around
        for each, note in saved:
            each.restore(note)
            self.copied(each)

    def _loop(self, stmt: For, var: int, begin: int, end: int) -> None:
        body, leave = self.code.label(), self.code.label()
        one = numpy_dtype(stmt.var.dtype).type(1)

        def enter(r: Registers) -> int:
            first = r[var] = r[begin]
            return body if first < r[end] else leave

        def again(r: Registers) -> int:
            value = r[var] + one
            if value < r[end]:
                r[var] = value
                return body
            return leave

        self.code.finish(enter, body)
        self.iteration(stmt)
        self.code.finish(again, leave)

    def _threads(self, stmt: For, var: int, begin: int, end: int) -> None:
        body, leave = self.code.label(), self.code.label()
        self._stop(Fork(var, begin, end, body, leave, stmt.span), body)
        self.iteration(stmt)
        self.code.finish(lambda r: END, leave)

    def iteration(self, stmt: For) -> None:
        """Compile the body of a loop, whose variable is set."""
        forks = self.forks.pop(id(stmt), [])
        for each, var, begin, note in forks:
            each.enter(stmt, var, begin, note)
            self.copied(each)
        self.statement(stmt.body)
        for each, *_ in forks:
            each.leave(stmt)

    def copied(self, memory: PrivateMemory) -> None:
        """Add operations after another copy of memory has become the current one: none here."""

    def _stop(self, event: Barrier | Fork, then: int) -> None:
        self.events.append(event)
        code = -1 - len(self.events)
        self.code.finish(lambda r: code, then)

    def _as(self, expr: Expr, dtype: DType) -> int:
        register = self.value(expr)
        if expr.dtype == dtype:
            return register
        return self.code.unary(cast_function(expr.dtype, dtype), register)

    def block(self, stmt: Block) -> None:
        for axis in stmt.axes:
            self.variables[axis.var] = self._as(axis.binding, axis.var.dtype)
        leave = self.code.label()
        if stmt.predicate is not None:
            self.begin(stmt.span)
            self._unless(self.value(stmt.predicate), leave)
        self.begin(stmt.span)
        for axis in stmt.axes:
            self._check_axis(axis, stmt)
        if stmt.init is not None:
            self._init(stmt, stmt.init)
        self.statement(stmt.body)
        self.code.goto(leave, leave)

    def _unless(self, cond: int, leave: int) -> None:
        inside = self.code.label()
        self.code.branch(cond, inside, leave, inside)

    def _init(self, stmt: Block, init: Stmt) -> None:
        reduce = [self.variables[axis.var] for axis in stmt.axes if axis.kind == "reduce"]
        first, after = self.code.label(), self.code.label()

        def start(r: Registers) -> int:
            for register in reduce:
                if r[register]:
                    return after
            return first

        self.code.finish(start, first)
        self.statement(init)
        self.code.goto(after, after)

    def _check_axis(self, axis: Axis, stmt: Block) -> None:
        if isinstance(axis.binding, Var) and isinstance(axis.extent, Const):
            low, high = self.ranges.get(axis.binding, (-1, 0))
            if low >= 0 and high <= axis.extent.value:
                return
        value, extent = self.variables[axis.var], self._as(axis.extent, axis.var.dtype)
        zero, name = numpy_dtype(axis.var.dtype).type(0), axis.var.name

        def check(r: Registers) -> None:
            if not (zero <= r[value] < r[extent]):
                raise IRKitError(
                    f"axis {name!r} of block {stmt.name!r} is {r[value]}, outside 0 to its "
                    f"extent {r[extent]}",
                    span=stmt.span,
                )

        self.code.emit(check)

    def if_(self, stmt: If) -> None:
        cond = self.value(stmt.cond)
        yes, leave = self.code.label(), self.code.label()
        no = leave if stmt.otherwise is None else self.code.label()
        self.code.branch(cond, yes, no, yes)
        self.statement(stmt.then)
        self.code.goto(leave, no)
        if stmt.otherwise is not None:
            self.statement(stmt.otherwise)
            self.code.goto(leave, leave)

    def let(self, stmt: Let) -> None:
        self.variables[stmt.var] = self.value(stmt.value)
        self.statement(stmt.body)

    def new_place(self, buffer: Buffer) -> BufferRegisters:
        """Allocate registers for a buffer, and compute its sizes that are not constant."""
        shape = tuple(self.index(size) for size in buffer.shape)
        if buffer.strides is None:
            strides = tuple(self.code.register() for _ in shape)
        else:
            strides = tuple(self.index(stride) for stride in buffer.strides)
        unit = bool(shape) and (
            buffer.strides is None
            or (isinstance(buffer.strides[-1], Const) and buffer.strides[-1].value == 1)
        )
        place = BufferRegisters(buffer.name, self.code.register(), shape, strides, unit)
        self.places[buffer] = place
        return place

    def allocate(self, stmt: Allocate) -> None:
        buffer = stmt.buffer
        shared = buffer.is_shared
        place = self.new_place(buffer)
        given = buffer.strides is not None
        if id(buffer) in self.allocations:
            self._check_size(stmt, self.allocations[id(buffer)])
        self.code.emit(
            allocate(place, buffer.dtype, given_strides=given, shared=shared, span=stmt.span)
        )
        self.inside_allocation(stmt, place)
        own = PrivateMemory(stmt, place, self.code, self.axes) if self._is_copied(stmt) else None
        if own is None:
            self.statement(stmt.body)
        else:
            self.code.emit(own.begin())
            self.copied(own)
            self.private.append(own)
            self.statement(stmt.body)
            self.private.pop()
            self.code.emit(own.end())
        self.code.emit(release(place, shared=shared))

    def _check_size(self, stmt: Allocate, cond: Expr) -> None:
        """Stop before an allocation whose size depends on loops and would wrap around."""
        holds = self.value(cond)

        def stop(r: Registers) -> None:
            if not r[holds]:
                raise ShapeError(
                    f"buffer {stmt.buffer.name!r} has a size that i64 does not hold",
                    span=stmt.span,
                )

        self.code.emit(stop)

    def _is_copied(self, stmt: Allocate) -> bool:
        if not (self.has_threads and stmt.buffer.is_private):
            return False
        return any(loop.kind == "thread" for loop in walk(stmt.body, For))

    def inside_allocation(self, stmt: Allocate, place: BufferRegisters) -> None:
        """Add operations after memory is allocated: none here."""

    def view(self, stmt: View) -> None:
        place = self.new_place(stmt.buffer)
        source, offset = self.place(stmt.source), self.index(stmt.offset)
        given = stmt.buffer.strides is not None
        self.code.emit(view(place, source.memory, offset, given_strides=given, span=stmt.span))
        self.inside_view(stmt, place, offset)
        owner = self._private_of(source)
        if owner is not None:
            owner.add_view(stmt, place, source, offset)
        self.statement(stmt.body)
        if owner is not None:
            owner.drop_view()

    def inside_view(self, stmt: View, place: BufferRegisters, offset: int) -> None:
        """Add operations after a view is made: none here."""

    def evaluate(self, stmt: Evaluate) -> None:
        if evaluates(stmt, "barrier"):
            after = self.code.label()
            self._stop(Barrier(after, stmt.span), after)
        elif not is_hint(stmt):
            self.last = self.value(stmt.value)

    def assert_(self, stmt: Assert) -> None:
        cond = self.value(stmt.cond)
        good, bad = self.code.label(), self.code.label()
        self.code.branch(cond, good, bad, bad)
        # The values can contain loads that are valid only if the condition does not hold.
        values = [self.value(value) for value in stmt.values]

        def stop(r: Registers) -> None:
            message = stmt.described([int(r[value]) for value in values])
            failure = FailedAssertion(f"assertion failed: {message}", span=stmt.span)
            failure.assertion = stmt
            raise failure

        self.code.emit(stop)
        self.code.goto(good, good)


COMPILE: dict[type[Stmt], Callable[[StatementCompiler, Any], None]] = {
    Seq: StatementCompiler.seq,
    Store: StatementCompiler.store,
    For: StatementCompiler.loop,
    Block: StatementCompiler.block,
    If: StatementCompiler.if_,
    Let: StatementCompiler.let,
    Allocate: StatementCompiler.allocate,
    View: StatementCompiler.view,
    Evaluate: StatementCompiler.evaluate,
    Assert: StatementCompiler.assert_,
}
