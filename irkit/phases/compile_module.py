"""Native code from a graph function: the graph pipeline, the phases of each kernel, an object for
each kernel, and the executor."""

from collections.abc import Callable, Container
from typing import Any

import msgspec

from irkit.codegen import (
    MOST_BYTES,
    ExecutorPlan,
    assertions,
    emit,
    emit_executor,
    emit_pool,
    record_size,
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
from irkit.transform import IR, Apply, Pipeline, Step, Trace, apply_here, recorded, run_recorded
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
    keep_trace: bool = True
    progress: Progress | None = None
    apply: Apply = apply_here
    title: str = "model"
    schedule: ScheduleChoice = "auto"
    machine: MachineChoice = "host"
    memory_limit: int = MOST_BYTES
    records: Chosen = Chosen()
    backends: tuple[Backend, ...] = ()

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
        )  # fmt: skip
        return _restored, (self.target, {name: getattr(self, name) for name in plain})


def _restored(target: Target, plain: dict[str, Any]) -> CompileOptions:
    return CompileOptions(target, **plain)


def compile_module(module: IRModule, options: CompileOptions) -> Model:
    """Compile the graph function ``main`` of a module."""
    report, target, verify = options.progress or _silent, options.target, options.verify
    # As two pipelines: work is counted between them, where a function is one operation.
    whole, apply = phases_of(target, options.pipeline.then(options.legalize)), options.apply
    last = max((phase.number for phase in options.pipeline.phases), default=-1)
    lowering, legalize = whole.stop_after(last), whole.since(last)
    chosen = machine_of(options.machine, target)
    # What was recorded is looked up by the loops as written, so kernels are scheduled one by one.
    by_kernel = bool(options.records.traces) and options.schedule == "auto"
    schedule = "none" if by_kernel else options.schedule
    # The patterns of a backend are of operators as the model has them.
    layouts = "none" if options.backends else options.schedule
    graph_pipeline = for_machine(options.graph_pipeline, chosen, schedule, layouts=layouts)
    for backend in options.backends:
        graph_pipeline = backend.into(graph_pipeline)
    input_specs(_main(module))  # Checked now, because compiling the kernels can take minutes.
    report("import", 0, 0)
    steps: list[Step] = []
    record: Callable[[Step], object] = steps.append if options.keep_trace else _ignore
    operators, claimed = FusedOperators(), ClaimedKernels(options.backends, target)
    operators.note(module)
    graph_steps = graph_pipeline.steps(module, verify=verify, apply=apply)
    for step in recorded(graph_steps, (GRAPH_LEVEL, LOOP_LEVEL)):
        record(step)
        lowered = step.applied_to(module)
        assert isinstance(lowered, IRModule)
        module = lowered
        operators.note(module)
        claimed.note(module)
        report(step.name, 0, 0)
    main = _main(module)
    check_calls(module, main)
    plan, params = make_plan(module, operators.by_value)
    if target.kind == "c" and options.backends:
        raise IRKitError(
            "C source has no kernels of backends",
            hint="Compile it without backends, or for native code.",
        )
    objects: list[bytes] = []
    functions: list[PrimFunc] = []
    work: dict[str, Work] = {}
    recording = set[str]()
    messages: dict[str, tuple[str, ...]] = {}
    names = list(dict.fromkeys(call.kernel for call in plan.calls))
    for done, name in enumerate(names, 1):
        # The executor calls it by its key in the module.
        func: IR = module[name].replace(name=name)
        assert isinstance(func, PrimFunc)
        image = claimed.image(func)
        if image is not None:
            objects.append(image)
            work |= _counted(func)
            report(name, done, len(names))
            continue
        passes = lowering
        if by_kernel:
            trace = trace_for(func, options.records)
            passes = with_auto_schedule(lowering, chosen, fewest=0, trace=trace)
        counted = func
        for part in (passes, legalize):
            counted = func
            if verify and not options.keep_trace:
                func = run_recorded(part, func, PrimFunc, (LOOP_LEVEL,), apply=apply)
            else:
                start = 0 if part is passes else len(passes.names)
                made = part.steps(func, verify=verify, start=start, apply=apply)
                for step in recorded(made, (LOOP_LEVEL,)):
                    record(step)
                    func = step.after
        assert isinstance(func, PrimFunc)
        assert isinstance(counted, PrimFunc)
        functions.append(func)
        if target.kind != "c":
            objects.append(object_for(emit([func], target), target))
        work |= _counted(counted)
        recording |= {name} if record_size(func) else set()
        stops = tuple(each.message for each in assertions(func))
        messages |= {name: stops} if stops else {}
        report(name, done, len(names))
    plan = msgspec.structs.replace(
        _with_records(plan, recording),
        work=work,
        messages=messages,
        memory_limit=options.memory_limit,
        machine=dict(chosen.settings) if options.schedule == "auto" else {},
        imports=tuple(claimed.imports.values()),
    )
    if target.kind != "c":
        objects.append(object_for(emit_executor(plan), target))
    pool = object_for(emit_pool(target), target) if has_parallel_loops(objects) else b""
    contents = PackageContents(plan, tuple(objects), params, target, main.script(), pool)
    trace = Trace.of(steps, title=options.title) if options.keep_trace else None
    return Model(contents, trace, functions)


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
