"""Memory of one thread that is allocated around the loops over threads: a copy for each thread.

A thread is known by its number on each axis, so two loops of one axis have the same threads. What a
loop over some of the axes stores, the threads of all others have. A new thread has a copy of what
was stored before, outside the loops and in loops over some of its axes; what is stored there later,
each thread that there is stores too. What one thread stored, no other one has: to read it is an
error.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRKitError, Span, children, symbols_used, walk
from irkit.ir.buffer import Buffer
from irkit.ir.interp.assembler import Assembler
from irkit.ir.interp.machine import RUN, MemoryLimit, Operation, Registers, RunLimits
from irkit.ir.interp.memory import BufferRegisters, touched_elements, view
from irkit.ir.stmt import Allocate, For, Let, Stmt, View

Key = frozenset[tuple[str, int]]
"""A thread by its number on each axis."""


class UnwrittenElement(IRKitError):
    """Raised when a thread reads what only another thread has written."""


class ThreadCopy(msgspec.Struct):
    """Memory of a thread, or of the statements outside. ``written`` has the number of the last
    store to each element there, 0 for none; ``lost`` are those that threads inside have written
    since. ``log`` is for runs that note accesses.
    """

    memory: Any
    written: Any
    lost: Any
    log: Any = None


class _SlicedView(msgspec.Struct, frozen=True):
    """A view outside the loops over threads, which each thread has of its own copy."""

    place: BufferRegisters
    source: BufferRegisters
    offset: int
    given_strides: bool
    span: Span | None


class PrivateMemory:
    """A private buffer with its copies while a program is compiled.

    ``axes`` are those of the loops inside the allocation that use it. Registers: ``key`` is the
    current thread, ``copy`` its memory, ``around`` the copies of the statements around its loop,
    ``copies`` those that threads keep from one loop to the next, ``touched`` which elements anybody
    has written, ``count`` how many stores there were.
    """

    def __init__(
        self, stmt: Allocate, place: BufferRegisters, code: Assembler, around: tuple[str, ...]
    ) -> None:
        self.name, self.scope = stmt.buffer.name, stmt.buffer.scope
        self.place, self.code = place, code
        self.bases: dict[int, int] = {place.memory: code.register(0)}
        self.views: list[_SlicedView] = []
        self.key, self.copy, self.around = code.register(), code.register(), code.register()
        self.copies, self.touched, self.count = code.register(), code.register(), code.register()
        self.symbols: set[Buffer] = {stmt.buffer}
        for node in walk(stmt.body, View):
            if node.source in self.symbols:
                self.symbols.add(node.buffer)
        loops = [each for each in walk(stmt.body, For) if each.kind == "thread"]
        self.axes = {each.thread for each in loops if self.is_in(each)}.difference(around)
        self.has_partial_nests = len(set(_nests(stmt.body))) > 1
        self.only = _only_loop(stmt.body, self.symbols)

    def is_in(self, stmt: Stmt) -> bool:
        """Return True if a statement uses the memory."""
        return not self.symbols.isdisjoint(symbols_used(stmt))

    def begin(self) -> Operation:
        """Return the operation after the allocation."""
        memory = self.place.memory

        def first(r: Registers) -> None:
            r[self.key], r[self.around], r[self.copies] = frozenset(), (), {}
            nothing, r[self.count] = np.zeros(len(r[memory]), bool), 0
            r[self.copy] = ThreadCopy(r[memory], nothing.astype(np.int64), nothing)
            r[self.touched] = nothing.copy()

        return first

    def end(self) -> Operation:
        """Return the operation before the memory is released."""

        def last(r: Registers) -> None:
            r[RUN].bytes_left += sum(each.memory.nbytes for each in r[self.copies].values())

        return last

    # Loops over threads.

    def save(self) -> int:
        """Emit what notes the current copy, and return the register of the note."""
        saved = self.code.register()

        def note(r: Registers) -> None:
            r[saved] = r[self.key], r[self.copy], r[self.around]

        self.code.emit(note)
        return saved

    def enter(self, loop: For, var: int, begin: int, saved: int) -> None:
        """Emit the begin of an iteration of a loop over threads."""
        axis, keeps, partial = loop.thread, loop is not self.only, self.has_partial_nests

        def start(r: Registers) -> None:
            key, copy, around = r[saved]
            r[self.key] = mine = key | {(axis, int(r[var]) - int(r[begin]))}
            copies = r[self.copies]
            wider = _wider(copies, mine, copy) if partial else []
            r[self.around] = (*around, copy, *wider)
            own = copies.get(mine) if keeps else None
            if own is None:
                self._take(r, copy.memory.nbytes, loop.span)
                own = _begun(copy, wider)
                if keeps:
                    copies[mine] = own
            if partial:
                _lose(own, mine, copies)
            self._use(r, own)

        self.code.emit(start)
        self._look()

    def leave(self, loop: For) -> None:
        """Emit the end of an iteration."""
        if loop is self.only:

            def give(r: Registers) -> None:
                r[RUN].bytes_left += r[self.copy].memory.nbytes

            self.code.emit(give)

    def restore(self, saved: int) -> None:
        """Emit what follows a loop over threads."""

        def back(r: Registers) -> None:
            r[self.key], copy, r[self.around] = r[saved]
            self._use(r, copy)

        self.code.emit(back)
        self._look()

    def _use(self, r: Registers, copy: ThreadCopy) -> None:
        r[self.copy], r[self.place.memory] = copy, copy.memory

    def _take(self, r: Registers, size: int, span: Span | None) -> None:
        run: RunLimits = r[RUN]
        run.bytes_left -= size
        if run.bytes_left < 0:
            raise MemoryLimit(
                f"buffer {self.name!r} needs {size} bytes for each thread, more than are left of "
                f"{run.max_bytes}",
                hint="Give interpret a larger max_bytes.",
                span=span,
            )

    def _look(self) -> None:
        for each in self.views:
            self.code.emit(
                view(
                    each.place,
                    each.source.memory,
                    each.offset,
                    given_strides=each.given_strides,
                    span=each.span,
                )
            )

    # Accesses.

    def add_view(
        self, stmt: View, place: BufferRegisters, source: BufferRegisters, offset: int
    ) -> None:
        """Note a view of the memory; it lasts until ``drop_view``."""
        base, below = self.code.register(), self.bases[source.memory]
        self.bases[place.memory] = base
        given = stmt.buffer.strides is not None
        self.views.append(_SlicedView(place, source, offset, given, stmt.span))

        def sum_up(r: Registers) -> None:
            r[base] = r[below] + int(r[offset])

        self.code.emit(sum_up)

    def drop_view(self) -> None:
        """Forget the innermost view."""
        self.views.pop()

    def check(
        self, place: BufferRegisters, indices: list[int], masks: list[int], lanes: int
    ) -> None:
        """Emit the check before a load: a thread reads no element that only another one wrote."""
        base, span = self.bases[place.memory], self.code.span

        def check(r: Registers) -> None:
            copy: ThreadCopy = r[self.copy]
            for element, at, _ in touched_elements(r, place, indices, masks, lanes):
                number = r[base] + element
                known = copy.written[number] and not copy.lost[number]
                if r[self.touched][number] and not known:
                    raise UnwrittenElement(
                        f"{_who(r[self.key])} reads {place.name}{list(at)}, which only another "
                        f"thread has written: memory in scope {self.scope!r} is one a thread",
                        hint='Threads pass values to each other in scope "shared".',
                        span=span,
                    )

        self.code.emit(check)

    def note_store(
        self,
        place: BufferRegisters,
        indices: list[int],
        masks: list[int],
        lanes: int,
        axes: tuple[str, ...],
    ) -> None:
        """Emit what follows a store inside loops over the threads of some axes."""
        base = self.bases[place.memory]
        innermost = self.axes.issubset(axes)

        def note(r: Registers) -> None:
            for element, _, _ in touched_elements(r, place, indices, masks, lanes):
                at = r[base] + element
                copy: ThreadCopy = r[self.copy]
                r[self.count] += 1
                copy.written[at], copy.lost[at] = r[self.count], False
                r[self.touched][at] = True
                for outer in r[self.around]:
                    outer.lost[at] = True
                if not innermost:
                    self._pass_on(r, at)

        self.code.emit(note)

    def _pass_on(self, r: Registers, at: int) -> None:
        """Store an element also in the copies of the threads inside."""
        key, copy = r[self.key], r[self.copy]
        for other, inner in r[self.copies].items():
            if key < other:
                inner.memory[at] = copy.memory[at]
                inner.written[at], inner.lost[at] = copy.written[at], False


def _wider(copies: dict[Key, ThreadCopy], mine: Key, copy: ThreadCopy) -> list[ThreadCopy]:
    """Return the copies of loops over some axes of a thread that are not around it."""
    parts = (frozenset(some) for n in range(1, len(mine)) for some in combinations(mine, n))
    wider = (copies[part] for part in parts if part in copies)
    return [other for other in wider if other is not copy]


def _begun(copy: ThreadCopy, wider: list[ThreadCopy]) -> ThreadCopy:
    """Return the copy of a new thread: of each element, what was stored last around it, or in
    loops over some of its axes."""
    memory, written = copy.memory.copy(), copy.written.copy()
    for other in wider:
        later = other.written > written
        memory[later], written[later] = other.memory[later], other.written[later]
    return ThreadCopy(memory, written, np.zeros_like(copy.lost))


def _lose(own: ThreadCopy, mine: Key, copies: dict[Key, ThreadCopy]) -> None:
    """Note what loops over other axes have stored since: it differs between the threads that a
    loop over some axes stands for."""
    axes = dict(mine)
    for key, other in copies.items():
        if not key <= mine and all(axes.get(axis, number) == number for axis, number in key):
            own.lost |= other.written > own.written


def _nests(body: Stmt) -> Iterator[frozenset[str]]:
    """Yield the axes of each innermost loop over threads, with those around it."""
    todo = [(body, frozenset[str]())]
    while todo:
        stmt, axes = todo.pop()
        if isinstance(stmt, For) and stmt.kind == "thread":
            axes |= {stmt.thread}
            if all(inner.kind != "thread" for inner in walk(stmt.body, For)):
                yield axes
                continue
        todo += [(child, axes) for child in children(stmt) if isinstance(child, Stmt)]


def _who(key: Key) -> str:
    if not key:
        return "a statement outside the threads"
    return "thread " + ", ".join(f"{axis} = {number}" for axis, number in sorted(key))


def _only_loop(stmt: Stmt, symbols: set[Buffer]) -> For | None:
    """Return the loop over threads that alone uses some buffers and runs once, if there is one."""
    while True:
        if isinstance(stmt, For):
            return stmt if stmt.kind == "thread" else None
        used = [
            each
            for each in children(stmt)
            if isinstance(each, Stmt) and not symbols.isdisjoint(symbols_used(each))
        ]
        if len(used) != 1 or isinstance(stmt, (View, Let)):
            return None
        stmt = used[0]
