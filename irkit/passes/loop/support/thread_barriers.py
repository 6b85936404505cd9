"""Barriers between the accesses of different threads."""

from collections.abc import Set

import msgspec

from irkit.core import Span, allowed, any_node, children, deep_recursion, remark
from irkit.ir import (
    Allocate,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Var,
    View,
    map_below,
    seq,
    trip_count,
)
from irkit.ir.threads import (
    BARRIER,
    Path,
    ThreadConflicts,
    UniformityInfo,
    is_barrier,
    is_thread_loop,
)

MAX_PENDING = 128
AccessSite = tuple[Stmt | Expr, Path]


def with_barriers(func: PrimFunc, *, of: Set[Var] | None = None) -> PrimFunc:
    """Insert a barrier wherever a thread can access an element that another one has accessed since
    the last barrier, and one of the two writes; in all nests, or in those of some outermost
    variables."""
    nests = [nest for nest in outermost_nests(func.body) if of is None or nest.var in of]
    if not nests:
        return func
    conflicts = ThreadConflicts(func)
    before: dict[int, Span | None] = {}

    def insert(stmt: Stmt) -> Stmt:
        made = map_below(stmt, insert)
        if id(stmt) not in before:
            return made
        waiting = seq(Evaluate(BARRIER, span=before[id(stmt)]), made)
        return waiting if allowed("wait", made, waiting) else made

    with deep_recursion:
        for nest in nests:
            if stands_twice(nest):
                why = "a statement is shared between several places: no barriers are inserted"
                remark(nest, why)
                continue
            finder = _BarrierFinder(conflicts)
            finder.visit(nest, ())
            before |= finder.before
        return func.replace(body=insert(func.body)) if before else func


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

    heads: list[AccessSite]
    is_open: bool = True


class _BarrierFinder:
    """Visits a nest in order of execution; ``pending`` holds the accesses since the last barrier,
    ``before`` the statements that need a barrier in front of them."""

    def __init__(self, conflicts: ThreadConflicts) -> None:
        self.conflicts = conflicts
        self.before: dict[int, Span | None] = {}
        self.pending: list[AccessSite] = []
        self.loops: list[_LoopState] = []
        self.uniform = UniformityInfo()

    def visit(self, stmt: Stmt, path: Path) -> None:
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
        if len(self.pending) >= MAX_PENDING or self._any(self.pending, [here]):
            self.before[id(stmt)] = stmt.span
            self._wait()
        self.pending.append(here)
        for loop in self.loops:
            if loop.is_open:
                loop.heads.append(here)

    def _wait(self) -> None:
        self.pending = []
        for loop in self.loops:
            loop.is_open = False

    def _loop(self, loop: For, path: Path) -> None:
        for bound in (loop.begin, loop.end):
            self._touch(loop, bound, path)
        inside = (*path, loop)
        again = (*path, loop.replace(span=None, attrs=(*loop.attrs, ("again", True))))
        if not any_node(loop.body, Evaluate, is_barrier) and not self.conflicts.between(
            (loop.body, inside), (loop.body, again)
        ):
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
        waits = len(outside) >= MAX_PENDING or self._any(outside, here.heads)
        if carries:  # It separates the first iteration from accesses before the loop too.
            self.before[id(loop.body)] = loop.span
        elif waits:
            self.before[id(loop)] = loop.span
        passed = carries or not here.is_open
        shut = (waits and not carries) or (passed and bool(trip_count(loop)))
        for each, (was, heads) in zip(self.loops, before, strict=True):
            each.is_open = was and not shut
            if carries or waits:
                del each.heads[heads:]
        self.pending = tail if shut else [*outside, *tail]

    def _carries(
        self, loop: For, again: Path, tail: list[AccessSite], heads: list[AccessSite]
    ) -> bool:
        """Return True if an iteration can access, before a barrier, what the one before
        accessed."""
        return self._any([(what, _renewed(path, loop, again)) for what, path in tail], heads)

    def _any(self, earlier: list[AccessSite], later: list[AccessSite]) -> bool:
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
