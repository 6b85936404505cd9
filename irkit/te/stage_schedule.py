"""The schedule of tensor expressions: one stage for each tensor, over one schedule of loops."""

from collections.abc import Sequence
from typing import cast

from irkit.core import IRModule, ScheduleError
from irkit.ir import I64, Expr, PrimFunc, Var, as_expr
from irkit.schedule import BlockRef, Check, Intrinsics, Schedule, ScheduleTrace, buffer_written
from irkit.te.axis import IterVar, Range
from irkit.te.directives import Directive, Handle, ScheduleBuild, in_legal_order, run_all
from irkit.te.lower import free_variables, lower_stages, operations_of
from irkit.te.reference import numpy_reference
from irkit.te.stage import Stage
from irkit.te.tensor import ComputeOp, Operation, PlaceholderOp, Tensor

Arg = Tensor | Var


class StageSchedule:
    """Schedule of tensors, stage by stage: ``s[C].split(...)``.

    Directives are applied to loops immediately, so one that is not legal is refused at once;
    ``func`` shows the loops so far.
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
        self._build = self._new_build(self._args, "main")

    def __getitem__(self, tensor: Tensor | Operation) -> Stage:
        op = tensor.op if isinstance(tensor, Tensor) else tensor
        if self._current(op) not in self._build.ops:
            what = "an input" if isinstance(op, PlaceholderOp) else "not a stage of this schedule"
            raise ScheduleError(f"{op.name!r} is {what}, so there is nothing to schedule")
        return Stage(self._current(op), self._add_directive)

    @property
    def stages(self) -> list[Stage]:
        """The computed stages, producers before consumers."""
        return [self[op] for op in self._build.blocks if self._current(op) is op]

    @property
    def func(self) -> PrimFunc:
        """The loops so far; the parameters are the inputs, in order of reading, and the outputs."""
        return self._build.sch.func

    @property
    def mod(self) -> IRModule:
        """The loops so far, as a module."""
        return self._build.sch.mod

    @property
    def trace(self) -> ScheduleTrace:
        """The steps on the loops so far, as data."""
        return self._build.sch.trace

    def show(self) -> None:
        """Print the loops: in colour on a terminal, as highlighted text in a notebook."""
        self._build.sch.show()

    def _repr_html_(self) -> str:
        return self._build.sch._repr_html_()  # pyright: ignore[reportPrivateUsage] -- protocol of notebooks

    def lower(self, args: Sequence[Arg], name: str = "main") -> PrimFunc:
        """Schedule the function whose parameters are ``args``, in that order.

        Raises: IRKitError if an input is missing; ScheduleError if a directive is not legal with
        these parameters, such as inlining one of them.
        """
        return self.loops(args, name).func

    def loops(self, args: Sequence[Arg], name: str = "main") -> Schedule:
        """Return the schedule of the function that :meth:`lower` returns, with its trace.

        Raises: what :meth:`lower` raises.
        """
        return run_all(self._new_build(args, name), self._directives).sch

    def cache_read(
        self, tensor: Tensor, scope: str, readers: Sequence[Tensor | Operation] | Tensor
    ) -> Tensor:
        """Make some stages read a copy of a tensor, and return the copy."""
        given = [readers] if isinstance(readers, Tensor) else list(readers)
        ops = [self._current(each.op if isinstance(each, Tensor) else each) for each in given]
        if not ops:
            raise ScheduleError(f"cache_read of {tensor.name!r} needs at least one reader")
        axes = tuple(_axis(f"{tensor.name}_{at}", dim) for at, dim in enumerate(tensor.shape))
        copy = _stage_op(f"{tensor.name}.{scope}", tensor.op, axes, tensor.index)

        def run(build: ScheduleBuild) -> None:
            first, *others = [build.block(op) for op in ops]
            made = build.sch.cache_read(first, build.buffers[tensor], scope, consumers=others)
            _bind_axes(build, copy, made)

        self._add_directive(Directive(ops[0], "stages", run))
        return copy.output(0)

    def cache_write(self, tensor: Tensor, scope: str) -> Tensor:
        """Compute a tensor in another memory scope, and return the new tensor; the old one becomes
        a copy of it."""
        old = self._current(tensor.op)
        axes = tuple(_axis(axis.name, axis.extent) for axis in old.axis)
        reduces = tuple(_axis(axis.name, axis.extent, True) for axis in old.reduce_axis)
        made = _stage_op(f"{tensor.name}.{scope}", old, axes, reduces=reduces)
        copy = _stage_op(old.name, old, old.axis)

        def run(build: ScheduleBuild) -> None:
            block = build.block(old)
            written = build.sch.cache_write(block, scope)
            _bind_axes(build, made, block)
            _bind_axes(build, copy, written)

        self._add_directive(Directive(old, "stages", run))
        self._ops[tensor.op] = copy
        return made.output(0)

    def rfactor(self, tensor: Tensor, axis: Handle, factor_axis: int = 0) -> Tensor:
        """Factor a reduction along one of its loops; return the tensor of partial results, which
        the original tensor then reduces."""
        old = self._current(tensor.op)
        size = len(old.axis)
        place = factor_axis + size + 1 if factor_axis < 0 else factor_axis
        if not 0 <= place <= size:
            raise ScheduleError(
                f"factor_axis of {tensor.name!r} must be 0 to {size}, found {factor_axis}"
            )
        extent = self._build.sch.loop(self._build.loop(axis)).end
        axes = [_axis(each.name, each.extent) for each in old.axis]
        axes.insert(place, _axis(axis.name, extent))
        left = [each for each in old.reduce_axis if each is not axis]  # The last one otherwise.
        reduces = tuple(_axis(each.name, each.extent, True) for each in left)
        made = _stage_op(f"{tensor.name}.rf", old, tuple(axes), reduces=reduces)
        final = _stage_op(old.name, old, old.axis, reduces=(_axis(axis.name, extent, True),))

        def run(build: ScheduleBuild) -> None:
            block = build.block(old)
            partial = build.sch.rfactor(build.loop(axis), place)
            _bind_axes(build, made, partial)
            _bind_axes(build, final, block)

        self._add_directive(Directive(old, "stages", run))
        self._ops[tensor.op] = final
        return made.output(0)

    def _current(self, op: Operation) -> Operation:
        """Return the current operation of a tensor's original operation."""
        return self._ops.get(op, op)

    def _add_directive(self, directive: Directive) -> None:
        """Run a directive; if it is not legal, run all directives again in another order."""
        before = self._directives
        if directive.kind in ("place", "root"):
            before = [d for d in before if d.kind != "place" or d.op is not directive.op]
        directives = before if directive.kind == "root" else [*before, directive]
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
                self._directives, self._build = directives, build
                return
        directives = in_legal_order(directives)
        try:
            build = run_all(self._new_build(self._args, "main"), directives)
        except ScheduleError as error:
            raise (first or error) from None
        self._directives, self._build = directives, build

    def _default_args(self) -> list[Arg]:
        ops = operations_of(self.outputs)
        inputs = [op.output(0) for op in ops if isinstance(op, PlaceholderOp)]
        args: list[Arg] = [*inputs, *self.outputs]
        return [*free_variables(lower_stages(args).func), *args]

    def _schedule(self, func: PrimFunc, args: Sequence[Arg]) -> Schedule:
        reference = numpy_reference(args) if self._check == "each" else None
        return Schedule(func, check=self._check, intrinsics=self._intrinsics, reference=reference)

    def _new_build(self, args: Sequence[Arg], name: str) -> ScheduleBuild:
        made = lower_stages(args, name)
        buffers = {tensor: buffer.name for tensor, buffer in made.buffers.items()}
        build = ScheduleBuild(
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
    """Make a schedule of tensors or operations and everything that they need.

    ``check="each"`` also runs the loops after every directive and compares with NumPy;
    ``intrinsics`` are those available to ``tensorize``, by default the built-in ones.
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
    """Make an operation that identifies a stage made by the schedule; the loops define what it
    computes."""
    shape = tuple(axis.extent for axis in axes)
    dtypes = like.dtypes if output is None else (like.dtypes[output],)
    return ComputeOp(
        name=name, shape=shape, dtypes=dtypes, span=like.span, axis=axes, reduce_axis=reduces
    )


def _bind_axes(build: ScheduleBuild, op: Operation, block: BlockRef) -> None:
    build.blocks[op] = block.name
    build.ops.add(op)
    build.buffers[op.output(0)] = buffer_written(build.sch.func, block.name).name
    build.bind(op)
