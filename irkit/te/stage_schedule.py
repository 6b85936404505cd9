"""The schedule of tensor expressions: a stage for each tensor, over one schedule of loops."""

from collections.abc import Sequence
from typing import cast

from irkit.core import IRModule, ScheduleError
from irkit.ir import I64, Expr, PrimFunc, Var, as_expr
from irkit.schedule import BlockRef, Check, Intrinsics, Schedule, ScheduleTrace, buffer_written
from irkit.te.axis import IterVar, Range
from irkit.te.directives import Build, Directive, Handle, reordered, run_all
from irkit.te.lower import free_variables, lowered, operations_of
from irkit.te.reference import numpy_reference
from irkit.te.stage import Stage
from irkit.te.tensor import ComputeOp, Operation, PlaceholderOp, Tensor

Arg = Tensor | Var


class StageSchedule:
    """Schedule tensors stage by stage: ``s[C].split(...)``.

    What is said runs at once on loops, so what is not legal is refused where it is said; ``func``
    shows the loops so far.
    """

    def __init__(
        self,
        outputs: Sequence[Tensor],
        check: Check = "verify",
        intrinsics: Intrinsics | None = None,
    ) -> None:
        self._intrinsics = intrinsics
        self.outputs = tuple(dict.fromkeys(outputs))
        self._check: Check = check
        self._directives: list[Directive] = []
        self._ops: dict[Operation, Operation] = {}
        self._args = self._default_args()
        self._build = self._fresh(self._args, "main")

    def __getitem__(self, tensor: Tensor | Operation) -> Stage:
        op = tensor.op if isinstance(tensor, Tensor) else tensor
        if self._now(op) not in self._build.ops:
            what = "an input" if isinstance(op, PlaceholderOp) else "no stage of this schedule"
            raise ScheduleError(f"{op.name!r} is {what}, so there is nothing to schedule")
        return Stage(self._now(op), self._say)

    @property
    def stages(self) -> list[Stage]:
        """The stages that are computed, those that are read first."""
        return [self[op] for op in self._build.blocks if self._now(op) is op]

    @property
    def func(self) -> PrimFunc:
        """The loops so far; its parameters are the inputs, in order of reading, and the outputs."""
        return self._build.sch.func

    @property
    def mod(self) -> IRModule:
        """The loops so far, as a module."""
        return self._build.sch.mod

    @property
    def trace(self) -> ScheduleTrace:
        """What was done to the loops, as data."""
        return self._build.sch.trace

    def show(self) -> None:
        """Print the loops: in colour on a terminal, as highlighted text in a notebook."""
        self._build.sch.show()

    def _repr_html_(self) -> str:
        return self._build.sch._repr_html_()  # pyright: ignore[reportPrivateUsage] -- the protocol of notebooks

    def normalize(self) -> "StageSchedule":
        """Let all loops start at 0, as they do already."""
        return self

    def lower(self, args: Sequence[Arg], name: str = "main") -> PrimFunc:
        """Schedule the function whose parameters are ``args``, in that order.

        Raises: IRKitError if an input is missing; ScheduleError if what was said is not legal for
        these parameters, such as to inline one.
        """
        return run_all(self._fresh(args, name), self._directives).sch.func

    def cache_read(
        self, tensor: Tensor, scope: str, readers: Sequence[Tensor | Operation] | Tensor
    ) -> Tensor:
        """Let some stages read a copy of a tensor, and return the copy."""
        given = [readers] if isinstance(readers, Tensor) else list(readers)
        ops = [self._now(each.op if isinstance(each, Tensor) else each) for each in given]
        if not ops:
            raise ScheduleError(f"cache_read of {tensor.name!r} needs at least one reader")
        axes = tuple(_axis(f"{tensor.name}_{at}", dim) for at, dim in enumerate(tensor.shape))
        copy = _stage_op(f"{tensor.name}.{scope}", tensor.op, axes, tensor.index)

        def run(build: Build) -> None:
            first, *others = [build.block(op) for op in ops]
            made = build.sch.cache_read(first, build.buffers[tensor], scope, consumers=others)
            _stand_for(build, copy, made)

        self._say(Directive(ops[0], "stages", run))
        return copy.output(0)

    def cache_write(self, tensor: Tensor, scope: str) -> Tensor:
        """Compute a tensor in another memory, and return it there; the old one becomes a copy."""
        old = self._now(tensor.op)
        axes = tuple(_axis(axis.name, axis.extent) for axis in old.axis)
        reduces = tuple(_axis(axis.name, axis.extent, True) for axis in old.reduce_axis)
        made = _stage_op(f"{tensor.name}.{scope}", old, axes, reduces=reduces)
        copy = _stage_op(old.name, old, old.axis)

        def run(build: Build) -> None:
            block = build.block(old)
            written = build.sch.cache_write(block, scope)
            _stand_for(build, made, block)
            _stand_for(build, copy, written)

        self._say(Directive(old, "stages", run))
        self._ops[tensor.op] = copy
        return made.output(0)

    def rfactor(self, tensor: Tensor, axis: Handle, factor_axis: int = 0) -> Tensor:
        """Split a reduction along one of its loops: return what each of its iterations gathers, of
        which the tensor is then the reduction."""
        old = self._now(tensor.op)
        size = len(old.axis)
        place = factor_axis + size + 1 if factor_axis < 0 else factor_axis
        if not 0 <= place <= size:
            raise ScheduleError(f"the new axis of {tensor.name!r} can stand at 0 to {size}")
        extent = self._build.sch.loop(self._build.loop(axis)).end
        axes = [_axis(each.name, each.extent) for each in old.axis]
        axes.insert(place, _axis(axis.name, extent))
        left = [each for each in old.reduce_axis if each is not axis]  # It is one of the others.
        reduces = tuple(_axis(each.name, each.extent, True) for each in left)
        made = _stage_op(f"{tensor.name}.rf", old, tuple(axes), reduces=reduces)
        final = _stage_op(old.name, old, old.axis, reduces=(_axis(axis.name, extent, True),))

        def run(build: Build) -> None:
            block = build.block(old)
            partial = build.sch.rfactor(build.loop(axis), place)
            _stand_for(build, made, partial)
            _stand_for(build, final, block)

        self._say(Directive(old, "stages", run))
        self._ops[tensor.op] = final
        return made.output(0)

    def _now(self, op: Operation) -> Operation:
        """Give what an operation of the user has become."""
        return self._ops.get(op, op)

    def _say(self, directive: Directive) -> None:
        """Run a directive, in another order than it was said if that is what it takes."""
        before = self._directives
        if directive.kind in ("place", "root"):
            before = [d for d in before if d.kind != "place" or d.op is not directive.op]
        said = before if directive.kind == "root" else [*before, directive]
        first: ScheduleError | None = None
        loops_first = directive.beside is not None and any(
            each.op is directive.op and each.kind == "loops" for each in before
        )
        if not loops_first and len(before) == len(self._directives):
            try:
                build = self._build.copy()
                directive.run(build)
            except ScheduleError as error:
                first = error
            else:
                self._directives, self._build = said, build
                return
        said = reordered(said)
        try:
            build = run_all(self._fresh(self._args, "main"), said)
        except ScheduleError as error:
            raise (first or error) from None
        self._directives, self._build = said, build

    def _default_args(self) -> list[Arg]:
        ops = operations_of(self.outputs)
        inputs = [op.output(0) for op in ops if isinstance(op, PlaceholderOp)]
        args: list[Arg] = [*inputs, *self.outputs]
        return [*free_variables(lowered(args).func), *args]

    def _schedule(self, func: PrimFunc, args: Sequence[Arg]) -> Schedule:
        reference = numpy_reference(args) if self._check == "each" else None
        return Schedule(func, check=self._check, intrinsics=self._intrinsics, reference=reference)

    def _fresh(self, args: Sequence[Arg], name: str) -> Build:
        made = lowered(args, name)
        buffers = {tensor: buffer.name for tensor, buffer in made.buffers.items()}
        build = Build(
            self._schedule(made.func, args),
            dict(made.blocks),
            buffers,
        )
        for op in made.blocks:
            build.bind(op)
        return build


def create_schedule(
    outputs: Tensor | Operation | Sequence[Tensor | Operation],
    *,
    check: Check = "verify",
    intrinsics: Intrinsics | None = None,
) -> StageSchedule:
    """Make a schedule of some tensors, or operations, and all that they need.

    ``check="each"`` also runs the loops after everything that is said, and compares with NumPy;
    ``intrinsics`` are those that ``tensorize`` knows, if not the ones of the toolkit.
    """
    given = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    tensors: list[Tensor] = []
    for each in cast(list[Tensor | Operation], given):
        if not isinstance(each, (Tensor, Operation)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ScheduleError(f"a schedule is made of tensors, found {type(each).__name__}")
        tensors.extend([each] if isinstance(each, Tensor) else each.outputs)
    inputs = [tensor.name for tensor in tensors if isinstance(tensor.op, PlaceholderOp)]
    if inputs or not tensors:
        what = f"{inputs[0]!r} is an input" if inputs else "no tensor is given"
        raise ScheduleError(f"{what}, so there is nothing to schedule")
    return StageSchedule(tensors, check, intrinsics)


def _axis(name: str, extent: Expr, reduces: bool = False) -> IterVar:
    return IterVar(name, I64, dom=Range(as_expr(0, I64), extent), is_reduce=reduces)


def _stage_op(
    name: str,
    like: Operation,
    axes: tuple[IterVar, ...],
    output: int | None = None,
    reduces: tuple[IterVar, ...] = (),
) -> Operation:
    """Make an operation to know a stage by that the schedule made; what it computes stands in the
    loops."""
    shape = tuple(axis.extent for axis in axes)
    dtypes = like.dtypes if output is None else (like.dtypes[output],)
    return ComputeOp(
        name=name, shape=shape, dtypes=dtypes, span=like.span, axis=axes, reduce_axis=reduces
    )


def _stand_for(build: Build, op: Operation, block: BlockRef) -> None:
    build.blocks[op] = block.name
    build.ops.add(op)
    build.buffers[op.output(0)] = buffer_written(build.sch.func, block.name).name
    build.bind(op)
