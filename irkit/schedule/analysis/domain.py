"""The iteration domain of a block: at which points of its axes it runs, and whether its reductions
are complete."""

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from irkit.core import ScheduleError, substitute, walk
from irkit.ir import (
    LT,
    Axis,
    Block,
    Compare,
    Expr,
    FloorDiv,
    For,
    Interval,
    Load,
    PrimFunc,
    Store,
    Var,
    as_int,
    binary,
    const,
    ge,
    is_const,
    linear,
    lt,
    prove,
    simplify,
)
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.grid_eval import values_on_grid
from irkit.schedule.analysis.guards import guards_of
from irkit.schedule.analysis.injective import is_bijective
from irkit.schedule.analysis.ranges import inside_extents, ranges_at, stays_inside
from irkit.schedule.limits import MOST_POINTS
from irkit.schedule.state.lookup import loops_above


class Points(msgspec.Struct, frozen=True):
    """A block with the loops around it, outermost first, and the known ranges of variables."""

    block: Block
    loops: tuple[For, ...]
    ranges: Mapping[Var, Interval]

    def plain(self, expr: Expr) -> Expr:
        return simplify(expr, self.ranges)

    def alike(self, a: Expr, b: Expr) -> bool:
        """Return True if two index expressions are the same sum."""
        if a.dtype != b.dtype:
            return False
        return is_const(self.plain(a - b), 0)

    def by_axes(self, expr: Expr) -> Expr | None:
        """Rewrite an expression over loops as one over the axes of the block; None if that fails.

        For example, ``i0 * 4 + i1`` is ``v`` if ``v`` is bound to it, and a fused loop ``f`` is
        ``v * 8 + w`` if those are bound to ``f // 8`` and ``f % 8``.
        """
        moving = {loop.var for loop in self.loops}
        if not variables(expr) & moving:
            return expr
        left = list(self.block.axes)
        found: Expr | None = None
        scale: int | Expr = 1
        rest = expr
        while left:
            last = self._axis_up_to_offset(left, rest)
            if last is not None:
                part = last * scale
                return part if found is None else part + found
            step = self._remainder(left, rest)
            if step is None:
                return None
            axis, divisor = step
            part = axis.var * scale
            found = part if found is None else part + found
            scale, rest = scale * divisor, rest // divisor
            left.remove(axis)
        return None

    def _axis_up_to_offset(self, axes: Sequence[Axis], rest: Expr) -> Expr | None:
        """Find an axis whose difference from ``rest`` does not depend on the loops."""
        moving = {loop.var for loop in self.loops}
        for axis in axes:
            if axis.binding.dtype == rest.dtype and variables(axis.binding) & moving:
                gap = self.plain(axis.binding - rest)
                if not variables(gap) & moving:
                    return axis.var if is_const(gap, 0) else axis.var - gap
        return None

    def _remainder(self, axes: Sequence[Axis], rest: Expr) -> tuple[Axis, Expr] | None:
        """Find an axis that is the remainder of dividing ``rest`` by the extent of the axis."""
        for axis in axes:
            one = is_const(axis.extent, 1)  # Every remainder is 0 then.
            if not one and self.alike(axis.binding, rest % axis.extent):
                return axis, axis.extent
        return None

    def guards_by_axes(self, what: str) -> list[Expr]:
        """Rewrite the predicate over the axes, without the parts that their extents imply.

        Raises: ScheduleError if a part that is needed cannot be expressed over the axes.
        """
        if self.block.predicate is None or self.covers_all_points():
            return []
        return self._guards_over_axes(what)

    def predicate_is_implied(self) -> bool:
        """Return True if the predicate holds wherever the axes are within their extents."""
        rewritten = [self._guard_by_axes(part) for part in guards_of(self.block)]
        return all(part is not None and self._is_implied(part) for part in rewritten)

    def _guards_over_axes(self, what: str) -> list[Expr]:
        kept: list[Expr] = []
        for part in guards_of(self.block):
            rewritten = self._guard_by_axes(part)
            if rewritten is None and not self._is_droppable(part):
                raise ScheduleError(
                    f"cannot {what}: the predicate of {self.block.name!r} cannot be expressed "
                    "over its axes",
                    at=self.block,
                )
            if rewritten is not None and not self._is_implied(rewritten):
                kept.append(rewritten)
        return kept

    def _is_implied(self, guard: Expr) -> bool:
        inside = inside_extents(self.block, self.ranges)
        return prove(guard, inside, [lt(axis.var, axis.extent) for axis in self.block.axes])

    def _is_droppable(self, part: Expr) -> bool:
        """Return True if a guard only saves work: it does not restrict a reduction, and without it
        every load stays inside its buffer."""
        reducing = [axis for axis in self.block.axes if axis.kind != "spatial"]
        about = variables(part)
        if any(axis.var in about or about & variables(axis.binding) for axis in reducing):
            return False
        return stays_inside(self.block, inside_extents(self.block, self.ranges))

    def _guard_by_axes(self, part: Expr) -> Expr | None:
        moving = {loop.var for loop in self.loops}
        if not variables(part) & moving:
            return part
        if isinstance(part, Compare):
            a, b = self.by_axes(part.a), self.by_axes(part.b)
            return None if a is None or b is None else binary(type(part), a, b)
        return None

    def reduces_completely(self) -> bool:
        """Return True if every element provably is reduced over each point of the reduce axes
        exactly once, or initialised again before each repetition."""
        groups = self._groups()
        reducing = [g for g in groups if any(axis.kind != "spatial" for axis in g.axes)]
        if not all(group.is_onto(once=True) for group in reducing):
            return False
        outer = next((n for n, loop in enumerate(self.loops) if _moves(reducing, loop)), None)
        inner = () if outer is None else self.loops[outer:]
        for loop in inner:
            # An iteration repeated inside a reduction would be counted twice.
            group = next((group for group in groups if loop.var in group.used), None)
            again = group is None or not (group.is_onto(once=True) or group.is_once_in(inner))
            if again and not is_const(loop.end, 1):
                return False
        return True

    def covers_all_points(self) -> bool:
        """Return True if the block provably runs at every point of its axes."""
        return self.reduces_completely() and all(
            group.is_onto(once=False) for group in self._groups()
        )

    def covers_every_element(self, facts: Sequence[Expr] = ()) -> bool:
        """Return True if the block provably computes every element of its spatial axes, given some
        facts; a reduction over an empty range does not even initialise them."""
        reducing = [axis for axis in self.block.axes if axis.kind != "spatial"]
        starts = all(prove(ge(axis.extent, 1), self.ranges, facts) for axis in reducing)
        return starts and self.covers_all_points()

    def _groups(self) -> list["_AxisGroup"]:
        """Partition the axes and guards into groups that share no loop."""
        values = {axis.var: axis.binding for axis in self.block.axes}
        guards = [substitute(part, values) for part in guards_of(self.block)]
        moving = {loop.var for loop in self.loops}
        groups: list[_AxisGroup] = []
        for item in (*self.block.axes, *guards):
            expr = item.binding if isinstance(item, Axis) else item
            used = variables(expr) & moving
            joined = _AxisGroup(
                self,
                used,
                [item] if isinstance(item, Axis) else [],
                [] if isinstance(item, Axis) else [item],
            )
            met = [group for group in groups if group.used & used]
            for group in met:
                joined = joined.plus(group)
            groups = [*(group for group in groups if not group.used & used), joined]
        return groups


def writes_all(func: PrimFunc, block: Block, store: Store, facts: Sequence[Expr] = ()) -> bool:
    """Return True if a block provably writes every element of a buffer, given some facts, by a
    store at its own axes that does not accumulate into earlier contents."""
    own = {axis.var: axis.extent for axis in block.axes if axis.kind == "spatial"}
    points = points_of(func, block)
    indices = [at for at in store.indices if isinstance(at, Var) and at in own]
    goes_on = block.init is None and any(
        load.buffer is store.buffer for load in walk(block.body, on=Load)
    )
    return (
        not goes_on
        and store.mask is None
        and len(set(indices)) == len(indices) == len(store.indices)
        and all(
            points.alike(own[at], dim) for at, dim in zip(indices, store.buffer.shape, strict=True)
        )
        and points.covers_every_element(facts)
    )


def points_of(func: PrimFunc, block: Block) -> Points:
    """Return a block with the loops around it."""
    return Points(block, tuple(loops_above(func, block)), ranges_at(func))


def _moves(groups: Sequence["_AxisGroup"], loop: For) -> bool:
    return any(loop.var in group.used for group in groups)


class _AxisGroup(msgspec.Struct, frozen=True):
    """Axes and guards that share loops."""

    points: Points
    used: set[Var]
    axes: list[Axis]
    guards: list[Expr]

    def plus(self, other: "_AxisGroup") -> "_AxisGroup":
        axes, guards = [*other.axes, *self.axes], [*other.guards, *self.guards]
        return _AxisGroup(self.points, self.used | other.used, axes, guards)

    @property
    def loops(self) -> list[For]:
        return [loop for loop in self.points.loops if loop.var in self.used]

    def is_onto(self, *, once: bool) -> bool:
        """Return True if each point of the axes is reached by some iteration of the loops, or with
        ``once`` by exactly one."""
        if not all(is_const(loop.begin, 0) for loop in self.loops):
            return False
        return self._is_mixed_radix() or self._is_one_to_one() or self._is_onto_by_enumeration(once)

    def is_once_in(self, inner: Sequence[For]) -> bool:
        """Return True if, whatever the values of the other loops are, these loops reach each point
        at most once: their part of one axis is a mixed-radix number with gaps."""
        if len(self.axes) != 1:
            return False
        moving = [loop for loop in inner if loop.var in self.used and not is_const(loop.end, 1)]
        still = {loop.var: const(0, loop.var.dtype) for loop in inner}
        binding = self.axes[0].binding
        form = linear(self.points.plain(binding - substitute(binding, still)))
        ends = {loop.var: as_int(loop.end) for loop in moving}
        if form is None or {atom for atom, _ in form.terms} != set(ends):
            return False
        reach = 0
        for atom, factor in sorted(form.terms, key=lambda term: term[1]):
            size = ends[atom] if isinstance(atom, Var) else None
            if size is None or factor <= reach:
                return False
            reach += factor * (size - 1)
        return True

    def _is_mixed_radix(self) -> bool:
        """Check one axis that is a mixed-radix number with the loops as digits; works for symbolic
        extents."""
        if len(self.axes) != 1:
            return False
        (axis,) = self.axes
        still = {v.var: const(0, v.var.dtype) for v in self.loops if is_const(v.end, 1)}
        form = linear(self.points.plain(substitute(axis.binding, still)))
        if form is None or form.constant != 0:
            return False
        ends = {loop.var: loop.end for loop in self.loops if not is_const(loop.end, 1)}
        if {atom for atom, _ in form.terms} != set(ends):
            return False
        count, top = 1, const(1, axis.extent.dtype)
        for atom, factor in sorted(form.terms, key=lambda term: term[1]):
            size = as_int(top)
            if size is None:
                return False  # Only the first digit may have an unknown extent.
            count *= size
            if factor != count:
                return False
            assert isinstance(atom, Var)
            top = ends[atom]
        if not all(self._cuts(part, axis) for part in self.guards):
            return False
        alike = self.points.alike(top * count, axis.extent)
        return alike or (bool(self.guards) and _covers(top, count, axis.extent, self.points))

    def _cuts(self, part: Expr, axis: Axis) -> bool:
        """Return True if a guard only clips the axis at its extent."""
        if not isinstance(part, LT):
            return False
        points = self.points
        return points.alike(part.a, axis.binding) and points.alike(part.b, axis.extent)

    def _is_one_to_one(self) -> bool:
        """Return True if algebra shows that each point of the axes is reached exactly once."""
        return is_bijective(
            [axis.binding for axis in self.axes],
            [as_int(axis.extent) for axis in self.axes],
            {loop.var: as_int(loop.end) for loop in self.loops},
            self.guards,
        )

    def _is_onto_by_enumeration(self, once: bool) -> bool:
        """Enumerate all iterations of loops with constant extents."""
        sizes = [as_int(loop.end) for loop in self.loops]
        extents = [as_int(axis.extent) for axis in self.axes]
        known = [size for size in (*sizes, *extents) if size is not None]
        if len(known) != len(sizes) + len(extents):
            return False
        iterations = math.prod(known[: len(sizes)])
        wanted = math.prod(known[len(sizes) :])
        if not (0 < iterations <= MOST_POINTS and 0 < wanted <= MOST_POINTS):
            return False
        grid = {
            loop.var: values
            for loop, values in zip(
                self.loops,
                np.indices(known[: len(sizes)]).reshape(len(sizes), iterations),
                strict=True,
            )
        }
        runs = np.ones(iterations, dtype=bool)
        code = np.zeros(iterations, dtype=np.int64)
        for part in self.guards:
            found = values_on_grid(part, grid)
            if found is None:
                return False
            runs &= found.astype(bool)
        for axis, extent in zip(self.axes, known[len(sizes) :], strict=True):
            found = values_on_grid(axis.binding, grid)
            if found is None:
                return False
            place = np.broadcast_to(found, (iterations,))
            if ((place < 0) | (place >= extent))[runs].any():
                return False
            code = code * extent + place
        code = code[runs]
        return len(np.unique(code)) == wanted and (not once or len(code) == wanted)


def _covers(top: Expr, count: int, extent: Expr, points: Points) -> bool:
    """Return True if ``top * count`` is at least ``extent``."""
    if prove(binary(LT, extent - 1, top * count), points.ranges):
        return True
    if isinstance(top, FloorDiv) and as_int(top.b) == count:
        gap = as_int(points.plain(top.a - extent))
        return gap is not None and gap >= count - 1
    return False
