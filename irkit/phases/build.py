"""Native code from functions over loops."""

from collections.abc import Mapping
from typing import overload

import msgspec

from irkit.core import Function, IRKitError, IRModule, Target, as_target
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.phases.bounds_checks import with_bounds_checks
from irkit.phases.default import DEFAULT
from irkit.phases.legalize import LEGALIZE
from irkit.phases.lower import Args, scheduled
from irkit.phases.schedule_choice import (
    MachineChoice,
    RecordsChoice,
    ScheduleChoice,
    machine_of,
    schedule_choice,
    schedules_of,
    trace_for,
    with_auto_schedule,
)
from irkit.phases.target_phases import phases_of
from irkit.runtime import Kernel, Module, build_device_kernels, compile_functions
from irkit.te import StageSchedule
from irkit.transform import Pipeline, run_recorded
from irkit.tune import Chosen


@overload
def build(
    ir: PrimFunc,
    args: None = ...,
    target: Target | str = ...,
    name: str | None = ...,
    *,
    pipeline: Pipeline = ...,
    legalize: Pipeline = ...,
    check_bounds: bool = ...,
    schedule: ScheduleChoice | None = ...,
    machine: MachineChoice = ...,
    records: RecordsChoice | None = ...,
    foreign_records: bool = ...,
) -> Kernel: ...
@overload
def build(
    ir: IRModule | Mapping[str, IRModule] | Mapping[Target, IRModule],
    args: None = ...,
    target: Target | str = ...,
    name: str | None = ...,
    *,
    pipeline: Pipeline = ...,
    legalize: Pipeline = ...,
    check_bounds: bool = ...,
    schedule: ScheduleChoice | None = ...,
    machine: MachineChoice = ...,
    records: RecordsChoice | None = ...,
    foreign_records: bool = ...,
) -> Module: ...
@overload
def build(
    ir: StageSchedule,
    args: Args,
    target: Target | str = ...,
    name: str | None = ...,
    *,
    pipeline: Pipeline = ...,
    legalize: Pipeline = ...,
    check_bounds: bool = ...,
    schedule: ScheduleChoice | None = ...,
    machine: MachineChoice = ...,
    records: RecordsChoice | None = ...,
    foreign_records: bool = ...,
) -> Kernel: ...
def build(
    ir: PrimFunc | StageSchedule | IRModule | Mapping[str, IRModule] | Mapping[Target, IRModule],
    args: Args | None = None,
    target: Target | str = "llvm",
    name: str | None = None,
    *,
    pipeline: Pipeline = DEFAULT,
    legalize: Pipeline = LEGALIZE,
    check_bounds: bool = False,
    schedule: ScheduleChoice | None = None,
    machine: MachineChoice = "host",
    records: RecordsChoice | None = None,
    foreign_records: bool = False,
) -> Kernel | Module:
    """Lower a function and compile it to a kernel, or a module to kernels by name.

    A schedule of tensors gives a kernel whose parameters are ``args``, as in :func:`irkit.lower`.
    A mapping has a module for each target, keyed by the target or its name; the key ``cpu`` stands
    for ``target``. ``name`` renames a single function; ``legalize`` runs after the phases. With
    ``check_bounds``, a call that reads or writes outside a buffer raises an IRKitError that names
    buffer, indices, shape and line; such code is slower.

    A function that ``te.create_prim_func`` made and that nobody has scheduled gets the automatic
    schedule, unless ``schedule`` (or, without it, the environment's ``IRKIT_SCHEDULE``) is "none".
    Floats may then be added in an order that depends on the ``machine``: "host" is that of the
    target, "generic" the same everywhere. ``records`` is a file of ``irkit tune``: what won there
    on a machine like the target's is used instead, with ``foreign_records`` also what won
    elsewhere.
    Raises: IRKitError if there is nothing to compile, or if a function is not over loops.
    """
    pipelines = _Pipelines(
        (with_bounds_checks(pipeline) if check_bounds else pipeline).then(legalize),
        schedule_choice(schedule, "auto"),
        machine,
        check_bounds,
        records,
        foreign_records,
    )
    if isinstance(ir, StageSchedule):
        ir, args = scheduled(ir, args, name), None
    if args is not None:
        raise IRKitError(
            "only a schedule of tensors needs the parameters of its function",
            hint='Pass a target by name: build(func, target="llvm").',
        )
    if isinstance(ir, PrimFunc):
        func = ir if name is None else ir.replace(name=name)
        return _compiled({func.name: func}, as_target(target), pipelines)[func.name]
    if isinstance(ir, IRModule):
        return _compiled(_named(ir.functions, name), as_target(target), pipelines)
    kernels: dict[str, Kernel] = {}
    for key, module in ir.items():
        chosen = as_target(target) if key == "cpu" else as_target(key)
        made = _compiled(_named(module.functions, name), chosen, pipelines)
        for kernel in made:
            if kernel in kernels:
                raise IRKitError(f"function {kernel!r} is there for more than one target")
            kernels[kernel] = made[kernel]
    return Module(kernels)


def _named(functions: Mapping[str, Function], name: str | None) -> Mapping[str, Function]:
    if name is None:
        return functions
    if len(functions) != 1:
        raise IRKitError(
            f"cannot name {len(functions)} functions {name!r}",
            hint="Name each of them before the build.",
        )
    only = next(iter(functions.values()))
    return {name: only.replace(name=name)}


class _Pipelines(msgspec.Struct, frozen=True):
    """How functions are lowered; the schedule depends on the target."""

    pipeline: Pipeline
    schedule: ScheduleChoice
    machine: MachineChoice
    check_bounds: bool
    records: RecordsChoice | None = None
    foreign: bool = False

    def of(self, target: Target, func: Function, chosen: Chosen) -> Pipeline:
        """Return the pipeline of a function for a target."""
        passes = phases_of(target, self.pipeline)
        # The automatic schedule is for processors.
        if target.device is not None or self.schedule == "none":
            return passes
        machine, trace = machine_of(self.machine, target), trace_for(func, chosen)
        bounds = self.check_bounds
        return with_auto_schedule(passes, machine, check_bounds=bounds, trace=trace)


def _compiled(functions: Mapping[str, Function], target: Target, pipelines: _Pipelines) -> Module:
    is_device = target.device is not None
    chosen = Chosen() if is_device else schedules_of(pipelines.records, target, pipelines.foreign)
    loops: dict[str, PrimFunc] = {}
    for name, func in functions.items():
        if not isinstance(func, PrimFunc):
            raise IRKitError(
                f"function {name!r} is a {type(func).__name__}; expected a function over loops",
                hint="Use irkit.compile for a model, or lower its graph first.",
                span=getattr(func, "span", None),
            )
        pipeline = pipelines.of(target, func, chosen)
        loops[name] = run_recorded(pipeline, func, PrimFunc, (LOOP_LEVEL,))
    if not loops:
        raise IRKitError("there is no function to build")
    return build_device_kernels(loops, target) if is_device else compile_functions(loops, target)
