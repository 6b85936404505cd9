"""One stage of a schedule: its axes, and the directives on its loops, place and memory."""

from collections.abc import Callable, Sequence
from typing import Union

from irkit.core import ScheduleError
from irkit.ir import ExprLike, index
from irkit.schedule import Condition, IndexMap
from irkit.te.axis import IterVar
from irkit.te.directives import Directive, Handle, Kind, ScheduleBuild, StageLoop
from irkit.te.tensor import Operation, Tensor
from irkit.te.thread import ThreadAxis

Apply = Callable[[Directive], None]


class Stage:
    """One stage of a schedule, ``s[C]``: the loops that compute a tensor.

    Directives take an axis of the operation, or a loop that a directive such as :meth:`split`
    returned. A directive that is not legal raises ScheduleError and changes nothing.
    """

    def __init__(self, op: Operation, apply: Apply) -> None:
        self.op = op
        self._apply = apply

    def __repr__(self) -> str:
        return f"Stage({self.op.name})"

    @property
    def axis(self) -> tuple[IterVar, ...]:
        """The axes of the tensor."""
        return self.op.axis

    @property
    def reduce_axis(self) -> tuple[IterVar, ...]:
        """The axes that are reduced over."""
        return self.op.reduce_axis

    def split(
        self, parent: Handle, factor: ExprLike | None = None, nparts: ExprLike | None = None
    ) -> tuple[StageLoop, StageLoop]:
        """Split a loop in two: ``factor`` is the extent of the inner loop, ``nparts`` of the
        outer."""
        if (factor is None) == (nparts is None):
            raise ScheduleError("split takes either factor or nparts")
        outer, inner = _part(parent, "outer"), _part(parent, "inner")

        def run(build: ScheduleBuild) -> None:
            inside = None if factor is None else index(factor)
            outside = None if nparts is None else index(nparts)
            refs = build.sch.split(build.loop(parent), [outside, inside])
            build.loops[outer], build.loops[inner] = refs

        self._add_directive("loops", run)
        return outer, inner

    def fuse(self, *axes: Handle) -> StageLoop:
        """Fuse nested loops, given outermost first."""
        fused = StageLoop(".".join(str(getattr(axis, "name", axis)) for axis in axes) + ".fused")

        def run(build: ScheduleBuild) -> None:
            build.loops[fused] = build.sch.fuse(*(build.loop(axis) for axis in axes))

        self._add_directive("loops", run)
        return fused

    def reorder(self, *axes: Handle) -> None:
        """Permute loops into the given order, outermost first."""
        self._add_directive("loops", lambda b: b.sch.reorder(*(b.loop(axis) for axis in axes)))

    def tile(
        self, x: Handle, y: Handle, x_factor: ExprLike, y_factor: ExprLike
    ) -> tuple[StageLoop, StageLoop, StageLoop, StageLoop]:
        """Split two loops, and move both outer parts around both inner ones."""
        xo, yo = _part(x, "outer"), _part(y, "outer")
        xi, yi = _part(x, "inner"), _part(y, "inner")

        def run(build: ScheduleBuild) -> None:
            made = build.sch.tile(build.loop(x), build.loop(y), index(x_factor), index(y_factor))
            build.loops.update(zip((xo, yo, xi, yi), made, strict=True))

        self._add_directive("loops", run)
        return xo, yo, xi, yi

    def parallel(self, axis: Handle) -> None:
        """Run the iterations of a loop in parallel."""
        self._add_directive("loops", lambda b: b.sch.parallel(b.loop(axis)))

    def vectorize(self, axis: Handle) -> None:
        """Turn the iterations of a loop into vector lanes."""
        self._add_directive("loops", lambda b: b.sch.vectorize(b.loop(axis)))

    def unroll(self, axis: Handle) -> None:
        """Unroll a loop into copies of its body."""
        self._add_directive("loops", lambda b: b.sch.unroll(b.loop(axis)))

    def bind(self, axis: Handle, thread: Union[ThreadAxis, str]) -> None:
        """Bind a loop to a thread axis."""
        name = thread.name if isinstance(thread, ThreadAxis) else thread
        self._add_directive("loops", lambda b: b.sch.bind(b.loop(axis), name))

    def env_threads(self, threads: Sequence[ThreadAxis] | ThreadAxis) -> None:
        """Launch threads around the whole stage."""
        given = [threads] if isinstance(threads, ThreadAxis) else list(threads)
        axes = [(each.name, each.known_extent()) for each in given]
        self._add_directive("loops", lambda b: b.sch.env_threads(b.block(self.op), axes))

    def pragma(self, axis: Handle, key: str, value: int | bool = True) -> None:
        """Add a hint to a loop."""
        self._add_directive("loops", lambda b: b.sch.pragma(b.loop(axis), key, value))

    def compute_at(self, parent: "Stage", axis: Handle) -> None:
        """Compute this stage inside a loop of a stage that reads it, as far as it is read there."""

        def run(build: ScheduleBuild) -> None:
            loop = build.loop(axis)
            build.sch.compute_at(build.block(self.op), loop)
            build.bind_below(self.op, loop)

        self._add_directive("place", run, parent.op)

    def compute_inline(self) -> None:
        """Compute the elements of this stage where they are read."""

        def run(build: ScheduleBuild) -> None:
            build.sch.compute_inline(build.block(self.op))
            del build.blocks[self.op]

        self._add_directive("place", run)

    def compute_root(self) -> None:
        """Compute this stage before all stages that read it, which is the default."""
        self._add_directive("root", lambda _: None)

    def set_scope(self, scope: str) -> None:
        """Store this stage in a memory scope such as ``local``."""
        self._add_directive("loops", lambda b: b.sch.set_scope(b.block(self.op), scope))

    def set_store_predicate(self, predicate: Condition) -> None:
        """Store only where a condition on the axes holds."""
        self._add_directive(
            "loops", lambda b: b.sch.set_store_predicate(b.block(self.op), predicate)
        )

    def transform_layout(self, index_map: IndexMap) -> None:
        """Change the layout of this stage."""
        self._add_directive("loops", lambda b: b.sch.transform_layout(b.block(self.op), index_map))

    def tensorize(self, axis: Handle, intrin: str) -> None:
        """Replace a loop by a tensor intrinsic."""
        self._add_directive("loops", lambda b: b.sch.tensorize(b.loop(axis), intrin))

    def storage_align(self, axis: IterVar, factor: int, offset: int) -> None:
        """Make the stride along an axis ``offset`` more than a multiple of ``factor`` elements."""
        at = self._dimension(axis)
        self._add_directive(
            "loops", lambda b: b.sch.storage_align(b.block(self.op), 0, at, factor, offset)
        )

    def double_buffer(self) -> None:
        """Double the buffer of this stage, so that one half is filled while the other is read."""
        self._add_directive("loops", lambda b: b.sch.double_buffer(b.block(self.op)))

    def prefetch(self, tensor: Tensor, axis: Handle, offset: int) -> None:
        """Prefetch, in each iteration of a loop, what is read ``offset`` iterations later."""

        def run(build: ScheduleBuild) -> None:
            buffer = build.buffers[tensor]
            build.sch.prefetch(build.block(self.op), buffer, build.loop(axis), offset)

        self._add_directive("loops", run)

    def rolling_buffer(self) -> None:
        """Store this stage in a circular buffer, so that later iterations reuse it."""
        self._add_directive("loops", lambda b: b.sch.rolling_buffer(b.block(self.op)))

    def _dimension(self, axis: IterVar) -> int:
        for at, each in enumerate(self.op.axis):
            if each is axis:
                return at
        raise ScheduleError(f"{axis.name!r} is not an axis of stage {self.op.name!r}")

    def _add_directive(
        self, kind: Kind, run: Callable[[ScheduleBuild], object], beside: Operation | None = None
    ) -> None:
        self._apply(Directive(self.op, kind, run, beside))


def _part(parent: Handle, what: str) -> StageLoop:
    return StageLoop(f"{getattr(parent, 'name', parent)}.{what}")
