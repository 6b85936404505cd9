"""Replace the part of a buffer that a statement touches by a copy.

The copy has the shape of the buffer, so indices stay as they are; lowering makes it as small as the
part.
"""

from collections.abc import Sequence

from irkit.core import Node, ScheduleError, Span, any_node, rewrite, walk
from irkit.ir import (
    Allocate,
    Assert,
    Axis,
    Block,
    Buffer,
    Expr,
    For,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    const,
    convert,
    dependences,
    replace_stmts,
    seq,
    simplify,
)
from irkit.ir.analysis import Box, box_of, touches
from irkit.schedule.analysis.accesses import only_store
from irkit.schedule.analysis.domain import Points
from irkit.schedule.analysis.ranges import ranges_at
from irkit.schedule.checks.recomputation import check_from_scratch
from irkit.schedule.rewrite.clone import new_name
from irkit.schedule.rewrite.regenerate import regenerate
from irkit.schedule.state.lookup import find_block, find_loop, loops_to, path_to

Staged = tuple[PrimFunc, list[str]]


def loop_around_block(func: PrimFunc, var: Var, name: str) -> tuple[For, Block]:
    loop, block = find_loop(func, var), find_block(func, name)
    if loop not in path_to(func, block):
        raise ScheduleError(f"block {name!r} is not under the loop {var.name!r}", at=block)
    return loop, block


class StagedCopy:
    """A statement, and the accesses to a buffer below it that are redirected to a copy."""

    def __init__(
        self, func: PrimFunc, root: Stmt, buffer: Buffer, scope: str, primitive: str
    ) -> None:
        self.func, self.root, self.buffer = func, root, buffer
        self.primitive = primitive
        self.new = buffer.replace(name=f"{buffer.name}_{scope}", scope=scope, strides=None)
        self.above = [loop for loop in loops_to(func, root) if loop is not root]
        loads, stores = touches(root, buffer, Load), touches(root, buffer, Store)
        if loads is None or stores is None or _is_viewed(func, buffer):
            raise self.error("it is aliased by a view", root)
        if any(stmt.buffer is buffer for stmt in walk(root, on=Allocate)):
            raise self.error("it is allocated there", root)
        if any(loop.kind == "vectorized" for loop in self.above):
            raise self.error("a loop around is vectorized; vectorize afterwards", root)
        self.loads, self.stores = loads, stores

    def error(self, why: str, at: Stmt) -> ScheduleError:
        return ScheduleError(f"cannot stage {self.buffer.name!r}: {why}", at=at)

    def made(self, target: Stmt, at: Stmt) -> Staged:
        """Insert the copies and make ``target`` use them; errors point at ``at``.

        Raises: ScheduleError if there is nothing to stage, or others may see different values.
        """
        found = (*self.loads, *self.stores)
        if not found:
            raise self.error("nothing there touches it", at)
        if self.stores and any_node(self.root, Assert):
            raise self.error("an assertion there may fail before the copy is written back", at)
        box = box_of(found, ranges_at(self.func))
        span = Span("schedule", self.primitive, parent=at.span)
        moved = _redirected(target, self.buffer, self.new)
        parts, names = [replace_stmts(self.root, {target: moved})], list[str]()
        if not self.stores or not self._is_filled(box):
            names.append(new_name(self.func, f"{self.new.name}_in"))
            parts.insert(0, self._copy(names[-1], self.buffer, self.new, box, span))
        if self.stores:
            names.append(new_name(self.func, f"{self.new.name}_out"))
            parts.append(self._copy(names[-1], self.new, self.buffer, box, span))
        whole = Allocate(self.new, seq(*parts), span=span)
        made = replace_stmts(self.func, {self.root: whole})
        self._check_apart(made, at)
        return made, names

    def _copy(self, name: str, source: Buffer, to: Buffer, box: Box, span: Span) -> Stmt:
        """Return a nest that copies the part of a box that is inside the buffer."""
        axes = [Var(f"v{at}", dim.dtype) for at, dim in enumerate(to.shape)]
        block = Block(
            name,
            tuple(Axis(v, dim, v) for v, dim in zip(axes, to.shape, strict=True)),
            Store(to, tuple(axes), source[tuple(axes)]),
            span=span,
        )
        spans = {v: reach for v, reach in zip(axes, box, strict=True) if reach is not None}
        return regenerate(self.func, block, spans, (), self.above, span)

    def _is_filled(self, box: Box) -> bool:
        """Return True if every element of the box provably is written, and none is read before."""
        block = self.stores[0].block
        if block is None or any(t.block is not block for t in (*self.loads, *self.stores)):
            return False
        try:
            check_from_scratch(block, "fill")
        except ScheduleError:
            return False
        store = only_store(block)
        path = path_to(PrimFunc("part", (), self.root), block)[:-1]
        if store is None or block.predicate is not None or not _is_plain(path):
            return False
        return self._rebased(block, store, box, path)

    def _rebased(self, block: Block, store: Store, box: Box, path: Sequence[Stmt]) -> bool:
        """Return True if a block runs at every point of the box, relative to its lower corner."""
        by_var = {axis.var: axis for axis in block.axes}
        changed: dict[Node, Axis] = {}
        for at, dim, reach in zip(store.indices, self.buffer.shape, box, strict=True):
            axis = by_var.get(at) if isinstance(at, Var) else None
            if axis is None or axis.var in changed:
                return False
            low: Expr = const(0, axis.var.dtype) if reach is None else reach.low
            size = dim if reach is None else reach.high - reach.low + 1
            changed[axis.var] = axis.replace(
                extent=convert(simplify(size), axis.var.dtype),
                binding=simplify(axis.binding - convert(low, axis.var.dtype)),
            )
        axes = tuple(changed.get(axis.var, axis) for axis in block.axes)
        loops = tuple(stmt for stmt in path if isinstance(stmt, For))
        return Points(block.replace(axes=axes), loops, ranges_at(self.func)).covers_every_element()

    def _check_apart(self, made: PrimFunc, at: Stmt) -> None:
        """Check that no parallel iteration around copies what another one writes."""
        for loop in self.above:
            if loop.kind not in ("serial", "unrolled"):
                reason = dependences(made).carried(find_loop(made, loop.var))
                if reason is not None:
                    raise self.error(
                        f"iterations of the {loop.kind} loop {loop.var.name!r} would interfere: "
                        f"{reason}",
                        at,
                    )


def _is_plain(path: Sequence[Stmt]) -> bool:
    return all(isinstance(stmt, (For, Seq, Allocate)) for stmt in path)


def _is_viewed(func: PrimFunc, buffer: Buffer) -> bool:
    return any(buffer in (view.source, view.buffer) for view in walk(func, on=View))


def _redirected(root: Stmt, old: Buffer, new: Buffer) -> Stmt:
    """Redirect all accesses of a buffer to another one."""

    def move(node: Load | Store | Block) -> Node | None:
        if isinstance(node, Block):
            known = node.reads is None and node.writes is None
            return None if known else node.replace(reads=None, writes=None)
        return node.replace(buffer=new) if node.buffer is old else None

    return rewrite(root, move, on=(Load, Store, Block))
