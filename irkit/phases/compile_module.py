"""Native code from a graph function: the graph pipeline, the phases of each kernel, an object for
each kernel, and the executor."""

from collections.abc import Callable, Container, Sequence
from functools import partial
from typing import Any, Literal

import msgspec

from irkit.codegen import (
    MOST_BYTES,
    ExecutorPlan,
    ForeignKernel,
    emit_executor,
    emit_pool,
    symbol,
)
from irkit.core import IRKitError, IRModule, Target
from irkit.graph import GRAPH_LEVEL, GraphFunc
from irkit.ir import LOOP_LEVEL, PrimFunc, Work, work_of
from irkit.phases.backends.backend import Backend
from irkit.phases.backends.claimed_kernels import ClaimedKernels
from irkit.phases.default import DEFAULT
from irkit.phases.executor.fused_operators import FusedOperators
from irkit.phases.executor.kernel_calls import check_calls
from irkit.phases.executor.planner import make_plan
from irkit.phases.executor.tensor_specs import input_specs
from irkit.phases.graph import GRAPH
from irkit.phases.kernels.compiled_kernels import compile_kernels
from irkit.phases.kernels.kernel_code import KernelCode, KernelTask, LoweredKernel
from irkit.phases.kernels.model_steps import ModelSteps, lowered_functions
from irkit.phases.legalize import LEGALIZE
from irkit.phases.schedule_choice import (
    MachineChoice,
    ScheduleChoice,
    for_machine,
    machine_of,
    trace_for,
    with_auto_schedule,
)
from irkit.phases.target_phases import phases_of
from irkit.runtime import Model, PackageContents, has_parallel_loops, object_for
from irkit.transform import (
    IR,
    Apply,
    Pipeline,
    Step,
    apply_here,
    is_recording,
    recorded,
    runs_here,
)
from irkit.tune import Chosen

# Called with the name of the last step, and the numbers of kernels done and of all kernels (0 while
# unknown).
Progress = Callable[[str, int, int], None]


class CompileOptions(msgspec.Struct, frozen=True, eq=False):
    """How a model is compiled: what :func:`irkit.compile` takes besides shapes and values."""

    target: Target
    graph_pipeline: Pipeline = GRAPH
    pipeline: Pipeline = DEFAULT
    legalize: Pipeline = LEGALIZE
    verify: bool = True
    keep_trace: bool | Literal["now"] = True
    progress: Progress | None = None
    apply: Apply = apply_here
    title: str = "model"
    schedule: ScheduleChoice = "auto"
    machine: MachineChoice = "host"
    memory_limit: int = MOST_BYTES
    records: Chosen = Chosen()
    backends: tuple[Backend, ...] = ()
    tolerance: float = 0.0

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the options without ``progress``, which belongs to this process.

        Raises: IRKitError for pipelines that are not irkit's own.
        """
        own = (self.graph_pipeline, self.pipeline, self.legalize, self.apply)
        if own != (GRAPH, DEFAULT, LEGALIZE, apply_here) or self.backends:
            raise IRKitError(
                "the model cannot be pickled: it is compiled at the call, by a pipeline or "
                "backend that is not irkit's own",
                hint="Save it: a package holds what is compiled so far.",
            )
        plain = (
            "verify", "keep_trace", "title", "schedule", "machine", "memory_limit", "records",
            "tolerance",
        )  # fmt: skip
        return _restored, (self.target, {name: getattr(self, name) for name in plain})


def _restored(target: Target, plain: dict[str, Any]) -> CompileOptions:
    return CompileOptions(target, **plain)


def compile_taken(given: list[IRModule], options: CompileOptions) -> Model:
    """Compile the graph function ``main`` of the module that a list holds.

    The module is taken out, so that weights that passes replace are freed if nobody else holds
    them.
    """
    module = given.pop()
    report, target, verify = options.progress or _silent, options.target, options.verify
    # As two pipelines: work is counted between them, where a function is one operation.
    whole, apply = phases_of(target, options.pipeline.then(options.legalize)), options.apply
    last = max((phase.number for phase in options.pipeline.phases), default=-1)
    lowering, legalize = whole.stop_after(last), whole.since(last)
    chosen = machine_of(options.machine, target)
    # What was recorded is looked up by the loops as written, so kernels are scheduled one by one.
    by_kernel = bool(options.records.traces) and options.schedule == "auto"
    # The patterns of a backend are of operators as the model has them.
    graph_pipeline = for_machine(
        options.graph_pipeline,
        chosen,
        "none" if options.backends else options.schedule,
        kernels="none" if by_kernel else options.schedule,
        tolerance=options.tolerance,
    )
    for backend in options.backends:
        graph_pipeline = backend.into(graph_pipeline)
    input_specs(_main(module))  # Checked now, because compiling the kernels can take minutes.
    report("import", 0, 0)
    steps = ModelSteps(options.title)
    record: Callable[[Step], object] = steps.of_graph.append if options.keep_trace else _ignore
    operators, claimed = FusedOperators(), ClaimedKernels(options.backends, target)
    operators.note(module)
    lowered: IR = module
    graph_steps = graph_pipeline.steps(module, verify=verify, apply=apply)
    del module
    for step in recorded(graph_steps, (GRAPH_LEVEL, LOOP_LEVEL)):
        record(step)
        lowered = step.applied_to(lowered)
        assert isinstance(lowered, IRModule)
        operators.note(lowered)
        claimed.note(lowered)
        report(step.name, 0, 0)
        del step
    assert isinstance(lowered, IRModule)
    module = lowered
    del lowered
    main = _main(module)
    check_calls(module, main)
    plan, params = make_plan(module, operators.by_value)
    foreign: list[ForeignKernel] = []
    names = list(dict.fromkeys(call.kernel for call in plan.calls))
    finished = 0

    def done(name: str) -> None:
        nonlocal finished
        finished += 1
        report(name, finished, len(names))

    images: dict[str, bytes] = {}
    work: dict[str, Work] = {}
    tasks: list[KernelTask] = []
    for name in names:
        # The executor calls it by its key in the module.
        func: IR = module[name].replace(name=name)
        assert isinstance(func, PrimFunc)
        if name in claimed.names:
            if target.kind == "c":
                foreign.append(claimed.source(func))
            else:
                images[name] = claimed.image(func)
            work |= _counted(func)
            done(name)
            continue
        passes = lowering
        if by_kernel:
            trace = trace_for(func, options.records)
            passes = with_auto_schedule(lowering, chosen, fewest=0, trace=trace)
        tasks.append(KernelTask(func, passes, legalize, target, verify))
    steps.tasks = tasks
    codes = _compiled(tasks, options, steps, known := [], done)
    for task, code in zip(tasks, codes, strict=True):
        name = task.func.name
        images[name] = code.image_of(symbol(name))
        work |= {} if code.work is None else {name: code.work}
    by_name = {task.func.name: code for task, code in zip(tasks, codes, strict=True)}
    objects = [image for name in names if (image := images.get(name))]
    plan = msgspec.structs.replace(
        _with_records(plan, {name for name, code in by_name.items() if code.records}),
        work={name: work[name] for name in names if name in work},
        messages={name: code.messages for name, code in by_name.items() if code.messages},
        memory_limit=options.memory_limit,
        machine=dict(chosen.settings) if options.schedule == "auto" else {},
        imports=tuple(claimed.imports.values()),
    )
    if target.kind != "c":
        objects.append(object_for(emit_executor(plan), target))
    pool = object_for(emit_pool(target), target) if has_parallel_loops(objects) else b""
    contents = PackageContents(plan, tuple(objects), params, target, main.script(), pool)
    trace = steps.trace if options.keep_trace else None
    return Model(contents, trace, partial(lowered_functions, tasks, known), foreign)


def _compiled(
    tasks: Sequence[KernelTask],
    options: CompileOptions,
    steps: ModelSteps,
    known: list[LoweredKernel],
    done: Callable[[str], object],
) -> list[KernelCode]:
    """Compile kernels. Steps that somebody wants now, and those of passes that are not irkit's, are
    recorded; other kernels can come from the cache, or from other processes."""
    apply, target = options.apply, options.target
    now = options.keep_trace == "now" or not runs_here(apply) or is_recording()

    def lower(task: KernelTask) -> LoweredKernel:
        if options.keep_trace and (now or not task.is_own):
            return steps.lower(task, apply)
        return task.lowered(apply=apply)

    if not now and target.kind != "c":
        return compile_kernels(tasks, lower, lambda task: done(task.func.name))
    codes: list[KernelCode] = []
    for task in tasks:
        made = lower(task)
        if target.kind == "c":
            known.append(made)
        codes.append(made.code(target))
        done(task.func.name)
    return codes


def _counted(func: PrimFunc) -> dict[str, Work]:
    found = work_of(func)
    return {} if found is None else {func.name: found}


def _with_records(plan: ExecutorPlan, names: Container[str]) -> ExecutorPlan:
    """Mark the calls whose kernels take a record, which is known once they are lowered."""
    calls = [
        msgspec.structs.replace(call, records=True) if call.kernel in names else call
        for call in plan.calls
    ]
    return msgspec.structs.replace(plan, calls=tuple(calls))


def _main(module: IRModule) -> GraphFunc:
    main = module["main"]
    if not isinstance(main, GraphFunc):
        raise IRKitError(
            f"function 'main' is a {type(main).__name__}; expected a graph function",
            hint="irkit.build compiles functions over loops.",
        )
    return main


def _ignore(step: Step) -> None:
    return None


def _silent(what: str, done: int, total: int) -> None:
    return None
