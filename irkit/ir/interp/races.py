"""Runs that note every access, and stop at the first race.

The compiler of statements is extended, so a run that notes nothing costs nothing more.
"""

from typing import Any

from irkit.core import children
from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import evaluates
from irkit.ir.expr import Expr
from irkit.ir.function import PrimFunc
from irkit.ir.interp.access_log import (
    AccessSite,
    FoundRace,
    Iteration,
    MemoryLog,
    Place,
    Race,
    ThreadNest,
)
from irkit.ir.interp.arguments import nested_statements
from irkit.ir.interp.machine import SHARED, Registers
from irkit.ir.interp.memory import BufferRegisters, lanes_of, touched_elements
from irkit.ir.interp.private_memory import PrivateMemory
from irkit.ir.interp.run import MAX_BYTES, MAX_STEPS, InterpretedFunction
from irkit.ir.interp.statements import StatementCompiler
from irkit.ir.stmt import Allocate, For, Stmt, Store, View

UNORDERED = ("parallel", "vectorized", "thread")


class RecordingCompiler(StatementCompiler):
    """Compiler of statements that note their accesses.

    Registers hold the iteration, the nest of threads and the barriers passed; each thread has its
    own. A log, and an offset into it, stand beside the memory of each buffer.
    """

    threads = True

    def __init__(self) -> None:
        super().__init__()
        self.at_iteration = self.code.register()
        self.nest = self.code.register()
        self.passed = self.code.register(0)
        self.logs: dict[int, tuple[int, int]] = {}  # By the register of the memory.
        self.stmt: Stmt | None = None
        self.runs: dict[int, tuple[int, int]] = {}  # By the id of the loop.

    def find_barriers(self, body: Stmt) -> None:
        """Run also those nests as threads that share memory but have no barrier."""
        super().find_barriers(body)
        held: set[int] = set()
        for stmt in nested_statements(body):
            shares = isinstance(stmt, Allocate) and stmt.buffer.is_shared
            if shares or any(id(child) in held for child in children(stmt)):
                held.add(id(stmt))
                if isinstance(stmt, For) and stmt.kind == "thread":
                    self.waiting.add(id(stmt))

    def statement(self, stmt: Stmt) -> None:
        outer, self.stmt = self.stmt, stmt
        if isinstance(stmt, For) and self._has_no_order(stmt):
            self._unordered(stmt)
        else:
            super().statement(stmt)
        if evaluates(stmt, "barrier"):
            self._count_barrier()
        self.stmt = outer

    # Iterations.

    def _has_no_order(self, stmt: For) -> bool:
        if stmt.kind == "thread" and stmt.thread in self.axes:
            return False  # Each thread of the loop around it runs all of it.
        in_lockstep = not self.threads and stmt.kind == "thread"
        return stmt.kind in UNORDERED and (not in_lockstep or stmt.thread.startswith("blockIdx"))

    def _unordered(self, stmt: For) -> None:
        at, nest, passed = self.at_iteration, self.nest, self.passed
        saved, run = self.code.register(), self.code.register()
        self.runs[id(stmt)] = saved, run
        is_block = stmt.kind == "thread" and stmt.thread.startswith("blockIdx")
        is_thread = stmt.kind == "thread" and not is_block

        def enter(r: Registers) -> None:
            r[saved], r[run] = (r[at], r[nest], r[passed]), object()
            if is_block:
                r[nest], r[passed] = None, 0
            elif is_thread and r[nest] is None:
                r[nest], r[passed] = ThreadNest(), 0

        def leave(r: Registers) -> None:
            r[at], r[nest], before = r[saved]
            # The threads inside may have passed barriers, with all others of the nest.
            r[passed] = before if r[nest] is None or not is_thread else r[nest].passed

        self.code.emit(enter)
        super().statement(stmt)
        self.code.emit(leave)
        del self.runs[id(stmt)]

    def iteration(self, stmt: For) -> None:
        if id(stmt) in self.runs:
            self._begin_iteration(stmt)
        super().iteration(stmt)

    def _begin_iteration(self, stmt: For) -> None:
        at, nest, var = self.at_iteration, self.nest, self.variables[stmt.var]
        saved, run = self.runs[id(stmt)]
        joins = stmt.kind == "thread" and not stmt.thread.startswith("blockIdx")

        def begin(r: Registers) -> None:
            r[at] = Iteration(r[saved][0], stmt, r[run], int(r[var]), r[nest] if joins else None)

        self.code.emit(begin)

    def _count_barrier(self) -> None:
        nest, passed = self.nest, self.passed

        def count(r: Registers) -> None:
            if r[nest] is not None:
                r[passed] += 1
                r[nest].passed = r[passed]

        self.code.emit(count)

    # Memory.

    def new_place(self, buffer: Buffer) -> BufferRegisters:
        place = super().new_place(buffer)
        log, offset = self.code.register(), self.code.register(0)
        self.logs[place.memory] = log, offset

        def begin(r: Registers) -> None:
            r[log] = MemoryLog()

        self.code.emit(begin)
        return place

    def inside_allocation(self, stmt: Allocate, place: BufferRegisters) -> None:
        super().inside_allocation(stmt, place)
        if not stmt.buffer.is_shared:
            return
        log, at = self.logs[place.memory][0], self.at_iteration

        def share(r: Registers) -> None:
            if r[SHARED] is not None:
                # Iterations of a parallel loop inside the nest have memory of their own.
                chain = () if r[at] is None else r[at].chain
                apart = tuple([(id(i.loop), i.value) for i in chain if i.nest is None])
                r[log] = r[SHARED].setdefault((log, apart), r[log])

        self.code.emit(share)

    def inside_view(self, stmt: View, place: BufferRegisters, offset: int) -> None:
        super().inside_view(stmt, place, offset)
        log, at = self.logs[place.memory]
        source_log, source_at = self.logs[self.place(stmt.source).memory]

        def follow(r: Registers) -> None:
            r[log], r[at] = r[source_log], r[source_at] + int(r[offset])

        self.code.emit(follow)

    def copied(self, memory: PrivateMemory) -> None:
        logs = [self.logs[place][0] for place in memory.bases]

        def switch(r: Registers) -> None:
            copy = r[memory.copy]
            if copy.log is None:
                copy.log = MemoryLog() if r[memory.key] else r[logs[0]]
            for log in logs:
                r[log] = copy.log

        self.code.emit(switch)

    # Accesses.

    def operation(self, node: Expr) -> int:
        to = super().operation(node)
        if isinstance(node, Load):
            self._note_load(node)
        return to

    def _note_load(self, node: Load) -> None:
        lanes = node.dtype.lanes
        masks = [] if node.mask is None else [self.at(node.mask)]
        outer = self.active(lanes) if lanes > 1 else None
        masks += [] if outer is None else [outer]
        registers = [self.at(index) for index in node.indices]
        assert self.stmt is not None
        site = AccessSite(self.stmt, node.buffer, False)
        place = self.place(node.buffer)
        at, passed = self.at_iteration, self.passed
        log, offset = self.logs[place.memory]

        def note(r: Registers) -> None:
            here: Place = r[at], r[passed]
            for element, indices, _ in touched_elements(r, place, registers, masks, lanes):
                r[log].read(r[offset] + element, here, site, indices)

        self.code.emit(note)

    def before_store(
        self,
        stmt: Store,
        place: BufferRegisters,
        indices: list[int],
        value: int,
        mask: int | None,
        lanes: int,
    ) -> None:
        site = AccessSite(stmt, stmt.buffer, True)
        masks = [] if mask is None else [mask]
        at, passed, memory = self.at_iteration, self.passed, place.memory
        log, offset = self.logs[memory]

        def note(r: Registers) -> None:
            here: Place = r[at], r[passed]
            values, kind = lanes_of(r[value], lanes), r[memory].dtype
            # Of several lanes that write the same element, the last one wins.
            last = {each[0]: each for each in touched_elements(r, place, indices, masks, lanes)}
            for element, found, lane in last.values():
                new = values[lane].astype(kind)
                r[log].write(r[offset] + element, here, site, found, r[memory][element], new)

        self.code.emit(note)


class _LockstepCompiler(RecordingCompiler):
    threads = False


class _RecordedFunction(InterpretedFunction):
    compiler = RecordingCompiler


class _LockstepFunction(InterpretedFunction):
    compiler = _LockstepCompiler


def find_race(
    func: PrimFunc,
    *args: Any,
    max_steps: int | None = MAX_STEPS,
    max_bytes: int = MAX_BYTES,
    threads: bool = True,
) -> Race | None:
    """Run a function as ``interpret`` does, and return its first race on these arguments, if any.

    A race is an element that two iterations of a parallel or vectorized loop, or two threads with
    no barrier between, access, one of them writing. Writes of one same value are no race. After a
    race, arrays hold what was written up to then. Without ``threads``, the threads of a nest are
    in lockstep, and only loops over blocks of them can race.

    Raises: IRKitError as ``interpret`` does.
    """
    recorded = _RecordedFunction if threads else _LockstepFunction
    try:
        recorded(func)(*args, max_steps=max_steps, max_bytes=max_bytes)
    except FoundRace as found:
        return found.race
    return None
