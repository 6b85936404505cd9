"""Make each kernel one launch: one loop for each thread axis, around everything bound to it.

Before::

    def f(A: f32[2, 8], C: f32[2, 8]):
        for b in thread(0, 2, "blockIdx.x"):
            S = alloc(f32[8], scope="shared")
            for i in thread(0, 8, "threadIdx.x"):
                S[i] = A[b, i]
            S[0] = f32(0.0)
            for j in thread(0, 8, "threadIdx.x"):
                C[b, j] = S[7 - j]

After::

    def f(A: f32[2, 8], C: f32[2, 8]):
        for b in thread(0, 2, "blockIdx.x"):
            S = alloc(f32[8], scope="shared")
            for i in thread(0, 8, "threadIdx.x"):
                S[i] = A[b, i]
                evaluate(barrier())
                if i == 0:
                    S[0] = f32(0.0)
                evaluate(barrier())
                C[b, i] = S[7 - i]

What stands beside the loops is run by the first thread, but for stores in memory of each thread.
A loop inside another loop of its axis is divided among the threads if each of them would do the
same; otherwise every thread runs all of it. Barriers separate accesses of different threads to the
same element.
"""

from collections.abc import Callable, Iterable, Set

from irkit.core import (
    IRKitError,
    Node,
    any_node,
    children,
    deep_recursion,
    equal,
    remark,
    substitute,
    symbols_bound,
    symbols_used,
    walk,
)
from irkit.ir import (
    Allocate,
    Buffer,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    View,
    as_int,
    eq,
    is_const,
    is_empty,
    logical_and,
    map_below,
    nested,
    no_blocks,
    replace_stmts,
)
from irkit.ir.analysis import memory_owners, uses_of
from irkit.ir.arith import simplify
from irkit.ir.threads import (
    UniformityInfo,
    extent_of,
    holding,
    is_barrier,
    is_block_loop,
    is_thread_loop,
    stands_twice,
)
from irkit.passes.loop.support.thread_barriers import meet_inside, with_barriers
from irkit.transform import define_pass


@define_pass(idempotent=True, needs=(no_blocks,), atomic=True)
def unify_thread_bindings(func: PrimFunc) -> PrimFunc:
    """Put one loop for each thread axis around each block of threads, and remove the loops bound to
    the axis."""
    regions = {id(region): region for region in _regions(func.body)}
    memory, private = uses_of(func), memory_owners(func).private
    launched: set[Var] = set()

    def unified(stmt: Stmt) -> Stmt:
        if id(stmt) not in regions:
            return map_below(stmt, unified)
        inner, around = stmt, list[Allocate | View | Let]()
        while isinstance(inner, (Allocate, View, Let)):
            around.append(inner)
            inner = inner.body
        launch = _Launch(inner, memory.memory, private)
        made = launch.made()
        if made is inner:
            return stmt
        whole = nested(around, made)
        if launch.is_conditional and meet_inside(replace_stmts(func, {stmt: whole}), whole):
            why = "virtual threads may not agree on a condition around a barrier that it needs"
            remark(inner, f"left as several launches: {why}")
            return stmt
        launched.update(loop.var for loop in launch.axes.values())
        return whole

    with deep_recursion:
        made = func.replace(body=unified(func.body))
    return with_barriers(made, of=launched) if launched else func


def _regions(body: Stmt) -> list[Stmt]:
    """Return the statements that are launched together: those in an innermost loop over blocks, or
    a thread loop outside any. Raises: IRKitError if an axis has several extents in one kernel."""
    found: list[Stmt] = []
    blocks = holding(body, is_block_loop)
    stack: list[tuple[Stmt, bool]] = [(body, False)]
    while stack:
        stmt, within = stack.pop()
        if isinstance(stmt, For) and stmt.kind == "thread" and not within:
            _check_extents(stmt)
            within = True
        if is_block_loop(stmt) and not any(id(c) in blocks for c in children(stmt)):
            assert isinstance(stmt, For)
            found.append(stmt.body)
        elif is_thread_loop(stmt) and id(stmt) not in blocks:
            found.append(stmt)
        else:
            stack.extend((c, within) for c in reversed(children(stmt)) if isinstance(c, Stmt))
    return found


def _check_extents(kernel: For) -> None:
    known: dict[str, For] = {}
    for loop in walk(kernel, For):
        if loop.kind != "thread" or loop.thread.startswith("vthread"):
            continue
        first = known.setdefault(loop.thread, loop)
        one, other = extent_of(first), extent_of(loop)
        if not equal(one, other) and not equal(simplify(one - other), simplify(one - one)):
            raise IRKitError(
                f"loops {first.var.name!r} and {loop.var.name!r} of one kernel are bound to "
                f"{loop.thread}, with extents {_shown(one)} and {_shown(other)}; all loops of an "
                "axis must have the same extent",
                hint="Split one of them, or bind it to another axis.",
                span=loop.span,
            )


def _shown(extent: Expr) -> str:
    known = as_int(extent)
    return "that are not known" if known is None else str(known)


def _is_virtual(stmt: Node) -> bool:
    return isinstance(stmt, For) and stmt.thread.startswith("vthread")


def _is_bound(stmt: Node) -> bool:
    return is_thread_loop(stmt) and not _is_virtual(stmt)


class _CannotLaunch(Exception):
    """A region stays as it is, for this reason."""


class _Launch:
    """Puts the loops of one region around all of it.

    The visit tracks which axes are bound around a statement, and whether threads can have diverged.
    ``is_conditional`` becomes True if a loop bound to an axis is where virtual threads may have.
    """

    def __init__(
        self, region: Stmt, memory: Callable[[Buffer], Buffer], private: Set[Buffer]
    ) -> None:
        self.region = region
        self.memory, self.private = memory, private
        self.loops = [loop for loop in walk(region, For) if _is_bound(loop)]
        self.axes: dict[str, For] = {}
        for loop in self.loops:
            self.axes.setdefault(loop.thread, loop)
        self.split = holding(region, lambda stmt: _is_bound(stmt) or is_barrier(stmt))
        self.values: dict[Node, Node] = {}
        self.uniform = {axis: UniformityInfo() for axis in self.axes}
        for node in walk(region, (Load, Store)):
            if self._is_private(node.buffer):
                for uniform in self.uniform.values():
                    uniform.add(node.buffer)
        self.virtual = UniformityInfo()
        self.in_virtual = {
            id(stmt)
            for loop in walk(region, For)
            if _is_virtual(loop)
            for stmt in walk(loop.body, on=Stmt)
        }
        self.is_conditional = False

    def made(self) -> Stmt:
        """Return the launch; the same region if it is one already, or cannot become one."""
        if not self.axes or self._is_one():
            return self.region
        try:
            self._check()
            made = self.visit(self.region, frozenset(), parted=False)
        except _CannotLaunch as why:
            remark(self.region, f"left as several launches: {why}")
            return self.region
        made = substitute(made, self.values)
        # x is the innermost.
        return nested([self.axes[axis] for axis in sorted(self.axes, reverse=True)], made)

    def _is_one(self) -> bool:
        """Return True if each axis has one loop, with nothing beside it down to the innermost."""
        stmt, seen = self.region, list[str]()
        while id(stmt) in self.split and isinstance(stmt, (For, Allocate, View, Let)):
            if isinstance(stmt, For):
                if not _is_bound(stmt):
                    break
                seen.append(stmt.thread)
            stmt = stmt.body
        return len(set(seen)) == len(seen) == len(self.loops)

    def _check(self) -> None:
        if stands_twice(self.region):
            raise _CannotLaunch("a statement is shared between several places")
        for node in walk(self.region, (Load, Store)):
            if node.buffer.scope == "warp":
                name = node.buffer.name
                raise _CannotLaunch(f"{name!r} is memory of a warp, whose lanes join again")
        bound = {*symbols_bound(self.region)}
        for loop in self.axes.values():
            if (symbols_used(loop.begin) | symbols_used(loop.end)) & bound:
                raise _CannotLaunch(f"the extent of {loop.var.name!r} is known only inside")

    def visit(self, stmt: Stmt, bound: frozenset[str], *, parted: bool) -> Stmt:
        if id(stmt) not in self.split:
            return self._once(stmt, bound)
        if not _is_bound(stmt):
            self.virtual.enter(stmt, inside=id(stmt) in self.in_virtual)
        match stmt:
            case For() if _is_bound(stmt):
                return self._bound(stmt, bound, parted=parted)
            case For():
                self.is_conditional |= not self.virtual.holds(stmt.begin, stmt.end)
                parted = parted or self._parts(bound, stmt.begin, stmt.end, var=stmt.var)
                kind = stmt.kind if stmt.kind in ("unrolled", "thread") else "serial"
                stmt = stmt.replace(kind=kind)
            case If():
                self.is_conditional |= not self.virtual.holds(stmt.cond)
                parted = parted or self._parts(bound, stmt.cond)
            case Let() | View() | Allocate():
                for axis in bound:
                    self.uniform[axis].enter(stmt, inside=True)
                if isinstance(stmt, Allocate):
                    stmt = self._common(stmt, bound)
            case _:
                pass
        return map_below(stmt, lambda inner: self.visit(inner, bound, parted=parted))

    def _parts(self, bound: Iterable[str], *exprs: Expr, var: Var | None = None) -> bool:
        """Return True if expressions can differ between threads, and so threads diverge."""
        found = False
        for axis in bound:
            if not self.uniform[axis].holds(*exprs):
                found = True
                if var is not None:
                    self.uniform[axis].add(var)
        return found

    def _bound(self, loop: For, bound: frozenset[str], *, parted: bool) -> Stmt:
        axis, launch = loop.thread, self.axes[loop.thread]
        if axis not in bound and parted:
            raise _CannotLaunch(f"{loop.var.name!r} runs where threads of another axis may differ")
        why = self._not_shared_out(loop, parted=parted) if axis in bound else ""
        if why:
            remark(loop, f"every thread runs all of it: {why}")
            body = self.visit(loop.body, bound, parted=parted)
            return loop.replace(body=body, kind="serial", thread="")
        self.uniform[axis].add(loop.var)
        if loop is not launch:
            shift = simplify(loop.begin - launch.begin)
            self.values[loop.var] = launch.var if is_const(shift, 0) else launch.var + shift
        return self.visit(loop.body, bound | {axis}, parted=parted)

    def _not_shared_out(self, loop: For, *, parted: bool) -> str:
        """Return why threads cannot do one iteration each; "" if they can."""
        if parted or any_node(loop.body, Evaluate, is_barrier):
            return "threads may not reach it together"
        uniform = self.uniform[loop.thread]
        for symbol in symbols_used(loop.body):
            if isinstance(symbol, (Var, Buffer)) and uniform.differs(symbol):
                return f"{symbol.name!r} differs between threads"
        stored = {self.memory(store.buffer) for store in walk(loop.body, Store)}
        read = {self.memory(load.buffer) for load in walk(loop.body, Load)}
        return "it reads what it writes" if stored & read else ""

    def _common(self, stmt: Allocate, bound: frozenset[str]) -> Allocate:
        """Keep one buffer for the threads that shared it."""
        buffer = stmt.buffer
        if buffer.is_shared or buffer.is_private or len(bound) == len(self.axes):
            return stmt
        if bound:
            raise _CannotLaunch(f"{buffer.name!r} is shared by some axes and not by others")
        if id(stmt) in self.in_virtual:
            raise _CannotLaunch(f"{buffer.name!r} is shared by threads and not by virtual threads")
        shared = self.values[buffer] = buffer.replace(scope="shared")
        return stmt.replace(buffer=shared)

    def _once(self, stmt: Stmt, bound: frozenset[str]) -> Stmt:
        """Return a statement not bound to an axis so that only one thread along it runs it, but
        every thread what it does to memory of its own."""
        missing = [self.axes[axis] for axis in sorted(self.axes) if axis not in bound]
        if not missing or is_empty(stmt):
            return stmt
        first = logical_and(*(eq(loop.var, loop.begin) for loop in missing))

        def once(part: Stmt) -> Stmt:
            if not any(self._is_private(store.buffer) for store in walk(part, Store)):
                return If(first, part, span=part.span)
            return part if isinstance(part, Store) else map_below(part, once)

        return once(stmt)

    def _is_private(self, buffer: Buffer) -> bool:
        return self.memory(buffer) in self.private
