"""Reduce in several threads: each reduces a part, and the first thread combines the parts.

Before::

    def f(A: i32[4, 32], C: i32[4]):
        for i in serial(0, 4):
            for t in thread(0, 8, "threadIdx.x"):
                for k in serial(0, 4):
                    with block("C"):
                        vi = axis.spatial(4, i)
                        vk = axis.reduce(32, t * 4 + k)
                        with init():
                            C[vi] = i32(0)
                        C[vi] = C[vi] + A[vi, vk]

After::

    def f(A: i32[4, 32], C: i32[4]):
        C_parts = alloc(i32[8, 4], scope="shared")
        for i in serial(0, 4):
            for t in thread(0, 8, "threadIdx.x"):
                with block("C_start"):
                    vi = axis.spatial(4, i)
                    t_1 = axis.spatial(8, t)
                    C_parts[t_1, vi] = i32(0)
                for k in serial(0, 4):
                    with block("C_part"):
                        vi_1 = axis.spatial(4, i)
                        vk = axis.reduce(32, t * 4 + k)
                        t_2 = axis.spatial(8, t)
                        C_parts[t_2, vi_1] = C_parts[t_2, vi_1] + A[vi_1, vk]
                evaluate(barrier())
                for t_3 in serial(0, 8):
                    with block("C"):
                        vi_2 = axis.spatial(4, i)
                        t_4 = axis.reduce(8, t_3)
                        where(t == 0)
                        with init():
                            C[vi_2] = i32(0)
                        C[vi_2] = C[vi_2] + C_parts[t_4, vi_2]

Binding a reduction to threads permits another order of additions. The threads of a reduction that
cannot be split would meet in the element that they reduce into: their loops become serial. That is,
one that is not one store of a sum, product, minimum or maximum, or that is initialised elsewhere.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from irkit.core import (
    Node,
    binders,
    fresh,
    remark,
    rewrite,
    substitute,
    symbols_bound,
    symbols_used,
    uses,
    walk,
)
from irkit.ir import (
    Add,
    Allocate,
    Axis,
    AxisKind,
    Block,
    Buffer,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    Max,
    Min,
    Mul,
    PrimFunc,
    Stmt,
    Store,
    Var,
    conjuncts,
    const,
    convert,
    dependences,
    eq,
    is_const,
    logical_and,
    nested,
    replace_stmts,
    seq,
    trip_count,
    uses_of,
)
from irkit.ir.analysis import Accumulation, EnclosingStmts, accumulation_of, enclosing
from irkit.ir.arith import simplify
from irkit.ir.threads import BARRIER, extent_of, is_barrier, is_thread_loop
from irkit.transform import define_pass


@define_pass(idempotent=True, atomic=True, changes_rounding=True)
def lower_cross_thread_reduction(func: PrimFunc) -> PrimFunc:
    """Split each reduction whose axis is bound to threads into a part for each thread, a barrier,
    and a reduction of the parts; where that cannot be done, make the loops of its threads serial.
    """
    found, in_turns = _reductions(func)
    while (
        in_turns
    ):  # A serial loop around the threads of another reduction keeps that from a split.
        func = rewrite(func, _serial(in_turns), on=For)
        found, in_turns = _reductions(func)
    made: dict[Stmt, Stmt] = {}
    parts: list[Buffer] = []
    for each in found:
        if each.top not in made:
            made[each.top] = each.lowered()
            parts.append(each.parts)
    if not made:
        return func
    body = replace_stmts(func.body, made)
    for buffer in reversed(parts):
        body = Allocate(buffer, body, span=buffer.span)
    return func.replace(body=body)


def _reductions(func: PrimFunc) -> tuple[list["_Reduction"], set[Var]]:
    """Return the reductions that can be split, and the loops over the threads of others."""
    places = enclosing(func)
    reductions: list[_Reduction] = []
    in_turns: set[Var] = set()
    for block in walk(func.body, Block):
        threads = _reducing_threads(block, places)
        if not threads:
            continue
        found = _Reduction.of(func, block, threads, places.path(block))
        if isinstance(found, str):
            loops = _meeting_loops(func, block, places)
            in_turns.update(loop.var for loop in loops)
            if loops:
                remark(block, f"threads reduce one after the other: {found}")
        else:
            reductions.append(found)
    return reductions, in_turns


def _meeting_loops(func: PrimFunc, block: Block, places: EnclosingStmts) -> list[For]:
    """Return the loops of a block whose threads meet only in what reductions over them store."""
    reduced = _reduced(block)
    loops = [each for each in places.loops(block) if each.var in reduced and is_thread_loop(each)]
    return [loop for loop in loops if _meet_in_reductions(func, loop)]


def _meet_in_reductions(func: PrimFunc, loop: For) -> bool:
    blocks = [block for block in walk(loop.body, Block) if loop.var in _reduced(block)]
    memory, met = uses_of(func).memory, dependences(func).met(loop)
    stored = {memory(store.buffer) for block in blocks for store in walk(block, Store)}
    waits = any(is_barrier(stmt) for stmt in walk(loop.body, Evaluate))
    return bool(met) and stored.issuperset(met) and not waits


def _serial(in_turns: set[Var]) -> Callable[[For], For | None]:
    def serial(loop: For) -> For | None:
        return loop.replace(kind="serial", thread="") if loop.var in in_turns else None

    return serial


def _variables(expr: Expr, block: Block) -> set[Node]:
    """Return the loop variables that an expression over the axes of a block depends on."""
    axes = {axis.var: axis.binding for axis in block.axes}
    return symbols_used(substitute(expr, axes))


def _reduced(block: Block) -> set[Node]:
    axes = [axis.binding for axis in block.axes if axis.kind == "reduce"]
    return set[Node]().union(*(symbols_used(binding) for binding in axes))


def _reducing_threads(block: Block, places: EnclosingStmts) -> list[For]:
    reduced = _reduced(block)
    return [loop for loop in places.loops(block) if loop.var in reduced and _joins(loop)]


def _joins(loop: For) -> bool:
    """Return True if the iterations of a loop can reduce together; virtual threads are one
    thread."""
    return is_thread_loop(loop) and loop.thread.startswith("threadIdx")


def _combined(func: PrimFunc, block: Block) -> Accumulation | str:
    """Return the body of a block as ``C = combine(C, value)``."""
    body, init = block.body, block.init
    if init is None:
        return "it is initialised elsewhere"
    if not isinstance(body, Store) or not isinstance(init, Store) or body.mask is not None:
        return "it is not one store"
    if init.buffer is not body.buffer or body.value.dtype.lanes > 1:
        return "it is not one store"
    if not isinstance(body.value, (Add, Mul, Min, Max)):
        return "it is not a sum, product, minimum or maximum"
    found = accumulation_of(func, block)
    return "it does not combine with the element that it stores to" if found is None else found


class _Reduction(NamedTuple):
    """One reduction: ``own`` are its loops inside the threads, ``guards`` its conditions on spatial
    axes."""

    block: Block
    found: Accumulation
    threads: list[For]
    own: list[For]
    guards: list[Expr]
    parts: Buffer
    again: bool  # It is in a loop inside the threads.

    @property
    def top(self) -> Stmt:
        return self.own[0] if self.own else self.block

    @staticmethod
    def of(
        func: PrimFunc, block: Block, threads: list[For], path: tuple[Stmt, ...]
    ) -> "_Reduction | str":
        """Return a reduction, or a text why it cannot be lowered."""
        found = _combined(func, block)
        if isinstance(found, str):
            return found
        store = found.store
        own = list[For]()
        for stmt in reversed(path):
            if not isinstance(stmt, For) or stmt in threads:
                break
            own.insert(0, stmt)
        outermost = path.index(threads[0])
        above = path[outermost : len(path) - len(own)]
        why = _around_threads(path[:outermost], block) or _obstacle(block, store, own, above)
        if why:
            return why
        reducing = _reduced(block)
        guards = [] if block.predicate is None else conjuncts(block.predicate)
        guards = [guard for guard in guards if not _variables(guard, block) & reducing]
        target = store.buffer
        shape = (*(extent_of(loop) for loop in threads), *target.shape)
        parts = Buffer(f"{target.name}_parts", shape, target.dtype, "shared", span=block.span)
        again = any(isinstance(stmt, For) and stmt not in threads for stmt in above)
        return _Reduction(block, found, threads, own, guards, parts, again)

    def lowered(self) -> Stmt:
        """Return the start, the parts, the barrier and the combination."""
        wait = Evaluate(BARRIER, span=self.block.span)
        after = [wait] if self.again else []
        return seq(self._start(), self._part(), wait, self._finish(), *after)

    def _start(self) -> Stmt:
        """Return the block in which each thread begins its part."""
        axes = self._axes([loop.var - loop.begin for loop in self.threads], "spatial")
        store = Store(self.parts, self._at(axes), self.found.identity)
        block = self._block("_start", (*self._spatial(), *axes), store, self.guards)
        return fresh(nested(self._spatial_loops(), block))

    def _part(self) -> Stmt:
        """Return the block in which each thread reduces its part."""
        axes = self._axes([loop.var - loop.begin for loop in self.threads], "spatial")
        at = self._at(axes)
        store = Store(self.parts, at, self.found.joined(self.parts[at], self.found.gathered))
        guards = [] if self.block.predicate is None else [self.block.predicate]
        return nested(self.own, self._block("_part", (*self.block.axes, *axes), store, guards))

    def _finish(self) -> Stmt:
        """Return the block in which the first thread combines the parts."""
        loops = [
            For(loop.var.copy(), zero, extent, seq(), span=self.block.span)
            for loop in self.threads
            for extent in [convert(extent_of(loop), loop.var.dtype)]
            for zero in [const(0, loop.var.dtype)]
        ]
        axes = self._axes([loop.var for loop in loops], "reduce")
        target = self.found.store.buffer[self.found.store.indices]
        combined = self.found.joined(target, self.parts[self._at(axes)])
        store = self.found.store.replace(value=combined)
        first = [eq(loop.var, loop.begin) for loop in self.threads]
        block = self._block("", (*self._spatial(), *axes), store, [*first, *self.guards])
        block = block.replace(init=self.block.init)
        return fresh(nested([*self._spatial_loops(), *loops], block))

    def _spatial_loops(self) -> list[For]:
        reduced = _reduced(self.block)
        return [loop for loop in self.own if loop.var not in reduced]

    def _axes(self, numbers: list[Expr], kind: AxisKind) -> tuple[Axis, ...]:
        return tuple(
            Axis(loop.var.copy(), extent_of(loop), simplify(number), kind)
            for loop, number in zip(self.threads, numbers, strict=True)
        )

    def _spatial(self) -> tuple[Axis, ...]:
        return tuple(axis for axis in self.block.axes if axis.kind == "spatial")

    def _at(self, axes: tuple[Axis, ...]) -> tuple[Expr, ...]:
        return (*(axis.var for axis in axes), *self.found.store.indices)

    def _block(self, name: str, axes: tuple[Axis, ...], store: Store, guards: list[Expr]) -> Block:
        return self.block.replace(
            name=f"{self.block.name}{name}",
            axes=axes,
            body=store.replace(span=self.block.body.span),
            init=None,
            predicate=logical_and(*guards) if guards else None,
            reads=None,
            writes=None,
        )


def _around_threads(around: Sequence[Stmt], block: Block) -> str:
    """Return why the position of its threads keeps a reduction from being split; "" if not."""
    reducing = _reduced(block)
    loops = [stmt for stmt in around if isinstance(stmt, For)]
    if any(loop.var in reducing for loop in loops):  # Each launch would start it again.
        return "a loop that it reduces over is around its threads"
    if any(loop.kind == "vectorized" for loop in loops):
        return "it is in a vectorized loop"
    nest = next((at for at, stmt in enumerate(around) if is_thread_loop(stmt)), len(around))
    return _passing(around[nest:])


def _obstacle(reduction: Block, store: Store, own: Sequence[For], above: Sequence[Stmt]) -> str:
    """Return why a reduction cannot be split, "" if it can; ``above`` are the statements from the
    outermost of its threads inwards, ``own`` the loops after them."""
    reducing = _reduced(reduction)
    threads = [loop for loop in above if isinstance(loop, For) and loop.var in reducing]
    if any(not _joins(loop) for loop in threads):
        return "a loop that it reduces over is around its threads"
    spatial = [axis.binding for axis in reduction.axes if axis.kind != "reduce"]
    used = reducing.union(*(symbols_used(binding) for binding in spatial))
    if any(loop.var not in used for loop in own):  # Each part would be added as often.
        return "a loop inside its threads runs it again"
    if any(axis.kind == "opaque" for axis in reduction.axes):
        return "it has an axis of its own kind"
    if any(symbols_used(binding) & reducing for binding in spatial):
        return "its spatial axes depend on the threads that reduce"
    if any(_variables(index, reduction) & reducing for index in store.indices):
        return "the indices of its store depend on the threads that reduce"
    outer = above[0]
    inside = {id(node) for node in walk(reduction)}
    if store.buffer in symbols_bound(outer) or any(
        store.buffer in uses(node) and id(node) not in inside for node in walk(outer)
    ):
        return f"{store.buffer.name!r} is used by its threads elsewhere too"
    return _passing(above) or _running(reduction, [*threads, *own], reducing, spatial)


def _passing(above: Sequence[Stmt]) -> str:
    """Return why some threads may not reach the reduction; "" if all do."""
    bound: set[Node] = set()
    for stmt in above:
        if isinstance(stmt, (If, Block)):
            return "it is in a condition or block inside its threads"
        if isinstance(stmt, For):
            if (symbols_used(stmt.begin) | symbols_used(stmt.end)) & bound:
                return "it is in a loop that is not the same for all threads"
            if stmt.kind in ("parallel", "vectorized"):
                return f"it is in a {stmt.kind} loop inside its threads"
        if isinstance(stmt, Let) or is_thread_loop(stmt):
            bound.update(binders(stmt))
    return ""


def _running(
    reduction: Block, loops: Sequence[For], reducing: set[Node], spatial: Sequence[Expr]
) -> str:
    """Return why a reduction can be empty, so that its start would never run; "" if not."""
    axes = {axis.var: axis.binding for axis in reduction.axes}
    first = {loop.var: loop.begin for loop in loops}
    for loop in loops:
        if loop.var in reducing and not trip_count(loop):
            return f"loop {loop.var.name!r} may never run"
    kept = set[Node]().union(*(symbols_used(binding) for binding in spatial))
    for guard in [] if reduction.predicate is None else conjuncts(reduction.predicate):
        names = _variables(guard, reduction)
        if not names & reducing:
            continue
        if names & kept:
            return "a condition depends on both spatial and reduce axes"
        if not is_const(simplify(substitute(substitute(guard, axes), first)), 1):
            return "its first step may be left out"
    return ""
