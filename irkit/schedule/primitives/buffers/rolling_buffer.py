"""The primitive rolling_buffer: keep the overlap of successive windows in a circular buffer.

Before::

    for i in serial(0, 8):
        B = alloc(f32[10])
        for ax in serial(0, 3):
            with block("B"):
                v = axis.spatial(10, i + ax)
                B[v] = A[v]
        with block("C"):
            w = axis.spatial(8, i)
            C[w] = B[w] + B[w + 2]

After::

    B = alloc(f32[4])
    for i in serial(0, 8):
        for ax in serial(0, 3):
            with block("B"):
                v = axis.spatial(10, i + ax)
                where(i == 0 or ax >= 2)
                B[v % 4] = A[v]
        with block("C"):
            w = axis.spatial(8, i)
            C[w] = B[w % 4] + B[(w + 2) % 4]
"""

import msgspec

from irkit.core import Node, ScheduleError, Span, any_node, rewrite, walk
from irkit.ir import (
    Allocate,
    Axis,
    Block,
    Buffer,
    Compare,
    For,
    Load,
    PrimFunc,
    Seq,
    Store,
    Var,
    as_int,
    const,
    eq,
    floormod,
    ge,
    is_const,
    linear,
    logical_and,
    logical_or,
    replace_stmts,
    uses_of,
)
from irkit.schedule.analysis.accesses import read_by, variables, writes_of, written_by
from irkit.schedule.analysis.domain import Points
from irkit.schedule.analysis.guards import guards_of
from irkit.schedule.analysis.ranges import ranges_at
from irkit.schedule.checks.recomputation import check_complete, check_from_scratch, check_producer
from irkit.schedule.state.lookup import allocation, find_block, path_to


class _Window(msgspec.Struct, frozen=True):
    """The elements that one iteration of a loop computes along one dimension.

    There are ``size`` of them, ``step`` further than in the iteration before; the loop variable
    ``counter`` counts them from 0.
    """

    dim: int
    size: int
    step: int
    counter: Var


def rolling_buffer(func: PrimFunc, name: str) -> PrimFunc:
    """Keep what a block computed in one iteration of the loop around it while later ones need it,
    and compute only new elements.

    The buffer becomes circular, with the size of a window rounded up to a power of two.
    Raises: ScheduleError if the block and its buffer are not under a serial loop, if windows of
    successive iterations do not overlap, or if a recomputed element cannot be proved to be the
    same.
    """
    block = find_block(func, name)
    what = f"roll the buffer of {name!r}"
    written = check_producer(func, block, what)
    if len(written) != 1:
        raise ScheduleError(
            f"cannot {what}: the block writes {len(written)} buffers, not one", at=block
        )
    place = _RollingBuffer(func, block, written[0], what)
    window = place.window()
    place.check_guards()
    place.check_inputs()
    return place.rolled(window)


class _RollingBuffer:
    """A block, its buffer, the loop around both, and the loops of the block."""

    def __init__(self, func: PrimFunc, block: Block, buffer: Buffer, what: str) -> None:
        self.func, self.block, self.buffer, self.what = func, block, buffer, what
        home = allocation(func, buffer)
        path = path_to(func, block)[:-1]
        assert home is not None
        if home not in path:
            raise self.error("its buffer is not allocated around it")
        self.home, at = home, path.index(home)
        above = [n for n, stmt in enumerate(path[:at]) if isinstance(stmt, For)]
        loop = path[above[-1]] if above else None
        if not isinstance(loop, For):
            raise self.error("it is computed once, not in each iteration of a loop")
        self.loop, self.below = loop, path[at + 1 :]
        self.inner = tuple(stmt for stmt in self.below if isinstance(stmt, For))
        around = all(isinstance(stmt, Allocate) for stmt in path[above[-1] + 1 : at])
        plain = all(isinstance(stmt, (For, Seq, Allocate)) for stmt in self.below)
        if not (around and plain):
            raise self.error(f"it does not run in every iteration of {loop.var.name!r}")
        self._check_kind()
        self.points = Points(block, self.inner, ranges_at(func))
        check_complete(self.points, what)
        if any(loop.var in walk(stmt, on=Var) for stmt in (block.init, block.body) if stmt):
            raise self.error(f"it uses loop {loop.var.name!r} other than through its axes")

    def error(self, why: str) -> ScheduleError:
        return ScheduleError(f"cannot {self.what}: {why}", at=self.block)

    def _check_kind(self) -> None:
        loop = self.loop
        if loop.kind != "serial":
            raise self.error(
                f"loop {loop.var.name!r} is {loop.kind}, so its iterations have no order"
            )
        if any_node(loop.begin, Load):
            raise self.error(f"the begin of loop {loop.var.name!r} is loaded from memory")
        if self.home.attrs or self.buffer.strides is not None:
            raise self.error(f"{self.buffer.name!r} has attributes or strides; add them afterwards")

    def window(self) -> _Window:
        """Return the window of the axis that moves with the loop.

        Raises: ScheduleError if there is not exactly one such axis, or successive windows do not
        overlap.
        """
        places = {store.indices for store in walk(self.block, on=Store)}
        moving = [axis for axis in self.block.axes if self.loop.var in variables(axis.binding)]
        if len(places) != 1 or len(moving) != 1:
            raise self.error(
                f"{len(moving)} of its axes move with {self.loop.var.name!r}, in {len(places)} "
                "dimensions; expected one axis in one dimension"
            )
        (indices,), (axis,) = places, moving
        if len(set(indices)) != len(indices) or not set(indices) <= {
            each.var for each in self.block.axes
        }:
            raise self.error("it does not store at its own axes")
        if axis.var not in indices or any(
            self.loop.var in variables(end) for each in self.inner for end in (each.begin, each.end)
        ):
            raise self.error("its loops or reduce axes change between iterations")
        return self._moving(axis, indices.index(axis.var))

    def _moving(self, axis: Axis, dim: int) -> _Window:
        form = linear(self.points.plain(axis.binding))
        own = {each.var for each in self.inner}
        step = 0 if form is None else form.coefficient(self.loop.var)
        terms = () if form is None else form.terms
        rest = [(atom, factor) for atom, factor in terms if atom is not self.loop.var]
        counters = [pair for pair in rest if pair[0] in own]
        others = [atom for atom, _ in rest if atom not in own]
        hidden = any(variables(atom) & (own | {self.loop.var}) for atom in others)
        if form is None or hidden or len(counters) != 1 or counters[0][1] != 1:
            raise self.error(
                f"{axis.var.name!r} is not a window of one loop that moves with "
                f"{self.loop.var.name!r}"
            )
        counter = next(each for each in self.inner if each.var is counters[0][0])
        size = as_int(counter.end)
        if size is None or not is_const(counter.begin, 0) or self._is_used_twice(counter, axis):
            raise self.error(f"loop {counter.var.name!r} does not count a window of constant size")
        if not 0 < step < size:
            raise self.error(f"windows of {size} elements do not overlap, as the step is {step}")
        return _Window(dim, size, step, counter.var)

    def _is_used_twice(self, counter: For, axis: Axis) -> bool:
        others = [each.binding for each in self.block.axes if each is not axis]
        others += [end for each in self.inner for end in (each.begin, each.end)]
        return any(counter.var in variables(expr) for expr in others)

    def check_guards(self) -> None:
        """Check that the predicate gives the same result for an element in every iteration."""
        all_loops = Points(self.block, (self.loop, *self.inner), self.points.ranges)
        for part in guards_of(self.block):
            sides = (part.a, part.b) if isinstance(part, Compare) else ()
            over_axes = bool(sides) and all(all_loops.by_axes(side) is not None for side in sides)
            if not over_axes or any_node(part, Load):
                raise self.error("its predicate cannot be expressed over its axes")

    def check_inputs(self) -> None:
        """Check that a recomputed element is the same, that is, that its inputs do not change."""
        memory = uses_of(self.func).memory
        changed = {memory(store.buffer) for store in walk(self.loop.body, on=Store)}
        own = {stmt.buffer for stmt in walk(self.loop.body, on=Allocate)} - {self.buffer}
        asked = read_by(self.block) - {self.buffer}
        known = set(asked)
        while asked:
            buffer = asked.pop()
            if memory(buffer) not in changed:
                continue
            block = self._only_writer(buffer)
            # A buffer allocated in each iteration contains only what that iteration stored.
            if buffer not in own or block is None or not self._is_settled(block):
                raise self.error(
                    f"its input {buffer.name!r} changes in loop {self.loop.var.name!r}"
                )
            asked |= read_by(block) - known - written_by(block)
            known |= read_by(block)

    def _only_writer(self, buffer: Buffer) -> Block | None:
        found = writes_of(self.func, buffer)
        inside = [each for each in walk(self.loop.body, on=Block) if each in found]
        return found[0] if len(found) == len(inside) == 1 else None

    def _is_settled(self, block: Block) -> bool:
        """Return True if what a block stores depends only on the element and on its inputs."""
        path = path_to(self.func, block)
        loops = {stmt.var for stmt in path if isinstance(stmt, For)}
        inner = [stmt for stmt in path[path.index(self.loop) + 1 :] if isinstance(stmt, For)]
        stmts = [stmt for stmt in (block.init, block.body) if stmt is not None]
        spatial = {axis.var for axis in block.axes if axis.kind == "spatial"}
        free = set[Var]()
        for store in walk(block, on=Store):
            if len(set(store.indices)) != len(store.indices) or not set(store.indices) <= spatial:
                return False
            free |= spatial - set(store.indices)
        used = {var for stmt in stmts for var in walk(stmt, on=Var)}
        if used & (loops | free) or len(written_by(block)) != 1:
            return False
        try:
            check_from_scratch(block, self.what)
        except ScheduleError:
            return False
        return Points(block, tuple(inner), self.points.ranges).reduces_completely()

    def rolled(self, window: _Window) -> PrimFunc:
        """Return the function with a circular buffer, in which only new elements are computed."""
        loop, old = self.loop, self.buffer
        room = 1 << (window.size - 1).bit_length()
        span = Span("schedule", "rolling_buffer", parent=self.block.span)
        dtype = old.shape[window.dim].dtype
        shape = list(old.shape)
        shape[window.dim] = const(room, dtype)
        new = old.replace(shape=tuple(shape))
        begins = eq(loop.var, loop.begin)
        is_new = logical_or(begins, ge(window.counter, window.size - window.step))
        guarded = self.block.replace(
            predicate=logical_and(*guards_of(self.block), is_new),
            reads=None,
            writes=None,
            span=span,
        )

        def move(node: Load | Store | Allocate) -> Node | None:
            if node.buffer is not old:
                return None
            if isinstance(node, Allocate):
                return node.body
            indices = list(node.indices)
            at = indices[window.dim]
            indices[window.dim] = floormod(at, const(room, at.dtype))
            return node.replace(buffer=new, indices=tuple(indices))

        part = replace_stmts(loop, {self.block: guarded})
        made = rewrite(part, move, on=(Load, Store, Allocate))
        return replace_stmts(self.func, {loop: Allocate(new, made, span=span)})
