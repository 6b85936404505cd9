"""Where the threads of a nest must wait for each other."""

from collections.abc import Set

import msgspec

from irkit.core import Span, Visit, allowed, any_node, children, remark, visit
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
    as_int,
    seq,
    visit_below,
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
Job = tuple[Stmt, Path]


def with_barriers(func: PrimFunc, *, of: Set[Var] | None = None) -> PrimFunc:
    """Put a barrier wherever a thread may touch what another thread touched since the last one,
    and one of them writes; in all nests, or in those whose outermost variable is given."""
    nests = [nest for nest in outermost_nests(func.body) if of is None or nest.var in of]
    if not nests:
        return func
    conflicts = ThreadConflicts(func)
    before: dict[int, Span | None] = {}
    for nest in nests:
        if stands_twice(nest):
            remark(nest, "a statement stands in several places: no barriers are put between them")
            continue
        before |= _BarrierFinder(conflicts, nest).before

    def insert(stmt: Stmt) -> Visit[Stmt, Stmt]:
        made = yield from visit_below(stmt)
        if id(stmt) not in before:
            return made
        waiting = seq(Evaluate(BARRIER, span=before[id(stmt)]), made)
        return waiting if allowed("wait", made, waiting) else made

    return func.replace(body=visit(func.body, insert)) if before else func


def outermost_nests(body: Stmt) -> list[For]:
    """List the thread loops that are in no other thread loop, those over blocks apart."""
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
    """Say whether some statement stands in several places."""
    seen: set[int] = set()
    stack = [nest]
    while stack:
        stmt = stack.pop()
        if id(stmt) in seen:
            return True
        seen.add(id(stmt))
        stack.extend(c for c in children(stmt) if isinstance(c, Stmt))
    return False


class _Loop(msgspec.Struct):
    """What is known of a serial loop being visited: what is touched in it before any barrier."""

    heads: list[AccessSite]
    is_open: bool = True


class _BarrierFinder:
    """Visit a nest in the order in which it runs; ``pending`` is what was touched since the last
    barrier, ``before`` the statements in front of which a barrier must stand."""

    def __init__(self, conflicts: ThreadConflicts, nest: For) -> None:
        self.conflicts = conflicts
        self.before: dict[int, Span | None] = {}
        self.pending: list[AccessSite] = []
        self.loops: list[_Loop] = []
        self.uniform = UniformityInfo()
        visit((nest, ()), self.visit)

    def visit(self, job: Job) -> Visit[Job, None]:
        stmt, path = job
        self.uniform.enter(stmt, inside=True)
        match stmt:
            case Evaluate() if is_barrier(stmt):
                self._wait()
            case Seq():
                for inner in stmt.stmts:
                    yield inner, path
            case Let():
                self._touch(stmt, stmt.value, path)
                yield stmt.body, path
            case View():
                self._touch(stmt, stmt.offset, path)
                yield stmt.body, path
            case Allocate():
                yield stmt.body, path
            case For() if is_thread_loop(stmt):
                yield stmt.body, (*path, stmt)
            case For(kind="serial" | "unrolled") if self.uniform.holds(stmt.begin, stmt.end):
                yield from self._loop(stmt, path)
            case If() if self.uniform.holds(stmt.cond):
                yield from self._branches(stmt, path)
            case _:
                self._touch(stmt, stmt, path)

    def _touch(self, stmt: Stmt, what: Stmt | Expr, path: Path) -> None:
        """Note accesses at a statement, with a barrier before it if they need one."""
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

    def _loop(self, loop: For, path: Path) -> Visit[Job, None]:
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
        here = _Loop([])
        self.loops.append(here)
        self.pending = []
        yield loop.body, inside
        self.loops.pop()
        tail = self.pending
        carries = self._carries(loop, again, tail, here.heads)
        waits = len(outside) >= MAX_PENDING or self._any(outside, here.heads)
        if carries:  # This barrier serves the first iteration too.
            self.before[id(loop.body)] = loop.span
        elif waits:
            self.before[id(loop)] = loop.span
        passed = carries or not here.is_open
        shut = (waits and not carries) or (passed and _surely_runs(loop))
        for each, (was, heads) in zip(self.loops, before, strict=True):
            each.is_open = was and not shut
            if carries or waits:
                del each.heads[heads:]
        self.pending = tail if shut else [*outside, *tail]

    def _carries(
        self, loop: For, again: Path, tail: list[AccessSite], heads: list[AccessSite]
    ) -> bool:
        """Say whether an iteration may touch, before it waits, what the one before touched."""
        return self._any([(what, _renewed(path, loop, again)) for what, path in tail], heads)

    def _any(self, earlier: list[AccessSite], later: list[AccessSite]) -> bool:
        return any(self.conflicts.between(a, b) for a in earlier for b in later)

    def _branches(self, stmt: If, path: Path) -> Visit[Job, None]:
        self._touch(stmt, stmt.cond, path)
        before, opened = self.pending, [each.is_open for each in self.loops]
        self.pending = list(before)
        yield stmt.then, path
        then, closed = self.pending, [each.is_open for each in self.loops]
        for each, was in zip(self.loops, opened, strict=True):
            each.is_open = was
        self.pending = list(before)
        if stmt.otherwise is not None:
            yield stmt.otherwise, path
        known = {id(what) for what, _ in then}
        self.pending = then + [place for place in self.pending if id(place[0]) not in known]
        for each, was in zip(self.loops, closed, strict=True):
            each.is_open = each.is_open or was


def _renewed(path: Path, loop: For, again: Path) -> Path:
    """See a path in another iteration of a loop than the one at hand."""
    at = len(again) - 1
    return (*again, *path[at + 1 :]) if path[at : at + 1] == (loop,) else path


def _surely_runs(loop: For) -> bool:
    begin, end = as_int(loop.begin), as_int(loop.end)
    return begin is not None and end is not None and begin < end
