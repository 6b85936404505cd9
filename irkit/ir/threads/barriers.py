"""Where the threads of a nest need a barrier: before an access of what another thread has touched
since the last one, one of the two writing."""

import msgspec

from irkit.core import Span, any_node, children, walk
from irkit.ir.buffer import Load
from irkit.ir.build import is_thread_loop, trip_count
from irkit.ir.expr import Expr
from irkit.ir.stmt import Allocate, Evaluate, For, If, Let, Seq, Stmt, View
from irkit.ir.threads.conflicts import AccessPlace, Path, ThreadConflicts
from irkit.ir.threads.nest import UniformityInfo, is_barrier

MAX_PENDING = 128


def outermost_nests(body: Stmt) -> list[For]:
    """Return the outermost thread loops, not counting those over blocks."""
    found: list[For] = []
    stack = [body]
    while stack:
        stmt = stack.pop()
        if isinstance(stmt, For) and is_thread_loop(stmt):
            found.append(stmt)
        else:
            stack.extend(c for c in reversed(children(stmt)) if isinstance(c, Stmt))
    return found


def stands_twice(nest: Stmt) -> bool:
    """Return True if a statement is shared between several places."""
    seen: set[int] = set()
    stack = [nest]
    while stack:
        stmt = stack.pop()
        if id(stmt) in seen:
            return True
        seen.add(id(stmt))
        stack.extend(c for c in children(stmt) if isinstance(c, Stmt))
    return False


class _LoopState(msgspec.Struct):
    """State of a serial loop in the visit: the accesses in it before the first barrier."""

    heads: list[AccessPlace]
    is_open: bool = True


class BarrierFinder:
    """Visits a nest in order of execution.

    ``before`` holds the statements that need a barrier in front of them, by id; ``places`` all
    places of accesses. ``pending`` holds those since the last barrier.
    """

    def __init__(self, conflicts: ThreadConflicts) -> None:
        self.conflicts = conflicts
        self.before: dict[int, Span | None] = {}
        self.pending: list[AccessPlace] = []
        self.places: list[AccessPlace] = []
        self.loops: list[_LoopState] = []
        self.uniform = UniformityInfo()

    def visit(self, stmt: Stmt, path: Path) -> None:
        """Visit a statement, in the loops of a path; it needs the guard of ``deep_recursion``."""
        self.uniform.enter(stmt, inside=True)
        match stmt:
            case Evaluate() if is_barrier(stmt):
                self._wait()
            case Seq():
                for inner in stmt.stmts:
                    self.visit(inner, path)
            case Let():
                self._touch(stmt, stmt.value, path)
                self.visit(stmt.body, path)
            case View():
                self._touch(stmt, stmt.offset, path)
                self.visit(stmt.body, path)
            case Allocate():
                self.visit(stmt.body, path)
            case For() if is_thread_loop(stmt):
                self.visit(stmt.body, (*path, stmt))
            case For(kind="serial" | "unrolled") if self.uniform.holds(stmt.begin, stmt.end):
                self._loop(stmt, path)
            case If() if self.uniform.holds(stmt.cond):
                self._branches(stmt, path)
            case _:
                self._touch(stmt, stmt, path)

    def _touch(self, stmt: Stmt, what: Stmt | Expr, path: Path) -> None:
        """Record accesses of a statement, with a barrier before it if they need one."""
        if isinstance(what, Expr) and not any_node(what, Load):
            return
        here = what, path
        self.places.append(here)
        if len(self.pending) >= MAX_PENDING or self._any(self.pending, [here]):
            self.before[id(stmt)] = stmt.span
            self._wait()
        self.pending.append(here)
        for loop in self.loops:
            if loop.is_open:
                loop.heads.append(here)

    def meet_inside(self) -> bool:
        """Return True if threads may meet inside one of the places, where none of them can wait."""
        return any(
            self.conflicts.between(inner, inner)
            for place in self.places
            for inner in _nests_inside(place)
        )

    def _wait(self) -> None:
        self.pending = []
        for loop in self.loops:
            loop.is_open = False

    def _loop(self, loop: For, path: Path) -> None:
        for bound in (loop.begin, loop.end):
            self._touch(loop, bound, path)
        inside = (*path, loop)
        again = (*path, loop.replace(span=None, attrs=(*loop.attrs, ("again", True))))
        waits = any_node(loop.body, Evaluate, is_barrier) or any_node(
            loop.body, For, is_thread_loop
        )
        if not waits and not self.conflicts.between((loop.body, inside), (loop.body, again)):
            self._touch(loop, loop.body, inside)
            return
        outside, before = self.pending, [(each.is_open, len(each.heads)) for each in self.loops]
        here = _LoopState([])
        self.loops.append(here)
        self.pending = []
        self.visit(loop.body, inside)
        self.loops.pop()
        tail = self.pending
        carries = self._carries(loop, again, tail, here.heads)
        late = len(outside) >= MAX_PENDING or self._any(outside, here.heads)
        if carries:  # It separates the first iteration from accesses before the loop too.
            self.before[id(loop.body)] = loop.span
        elif late:
            self.before[id(loop)] = loop.span
        passed = carries or not here.is_open
        shut = (late and not carries) or (passed and bool(trip_count(loop)))
        for each, (was, heads) in zip(self.loops, before, strict=True):
            each.is_open = was and not shut
            if carries or late:
                del each.heads[heads:]
        self.pending = tail if shut else [*outside, *tail]

    def _carries(
        self, loop: For, again: Path, tail: list[AccessPlace], heads: list[AccessPlace]
    ) -> bool:
        """Return True if an iteration can access, before a barrier, what the one before
        accessed."""
        return self._any([(what, _renewed(path, loop, again)) for what, path in tail], heads)

    def _any(self, earlier: list[AccessPlace], later: list[AccessPlace]) -> bool:
        return any(self.conflicts.between(a, b) for a in earlier for b in later)

    def _branches(self, stmt: If, path: Path) -> None:
        self._touch(stmt, stmt.cond, path)
        before, opened = self.pending, [each.is_open for each in self.loops]
        self.pending = list(before)
        self.visit(stmt.then, path)
        then, closed = self.pending, [each.is_open for each in self.loops]
        for each, was in zip(self.loops, opened, strict=True):
            each.is_open = was
        self.pending = list(before)
        if stmt.otherwise is not None:
            self.visit(stmt.otherwise, path)
        known = {id(what) for what, _ in then}
        self.pending = then + [place for place in self.pending if id(place[0]) not in known]
        for each, was in zip(self.loops, closed, strict=True):
            each.is_open = each.is_open or was


def _renewed(path: Path, loop: For, again: Path) -> Path:
    """Return a path in another iteration of a loop than the current one."""
    at = len(again) - 1
    return (*again, *path[at + 1 :]) if path[at : at + 1] == (loop,) else path


def _nests_inside(place: AccessPlace) -> list[AccessPlace]:
    """Return a place, and the bodies of the thread loops inside it."""
    what, path = place
    inner = [loop for loop in walk(what, For) if is_thread_loop(loop)]
    return [place, *((loop.body, (*path, loop)) for loop in inner)]
