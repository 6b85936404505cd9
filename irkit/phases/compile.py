"""Native code from a model: the graph pipeline, the phases of each kernel, an object for each
kernel, and the executor."""

import os
from collections.abc import Callable, Container, Mapping
from typing import TYPE_CHECKING

import msgspec
from numpy.typing import ArrayLike

from irkit.codegen import ExecutorPlan, complete_target, emit, emit_executor, record_size
from irkit.core import IRKitError, IRModule, Target, as_target
from irkit.graph import GraphFunc
from irkit.ir import PrimFunc, Work, work_of
from irkit.phases.default import DEFAULT
from irkit.phases.executor_plan import input_names, make_plan, tensor_spec
from irkit.phases.fused_operators import FusedOperators
from irkit.phases.graph import GRAPH
from irkit.phases.kernel_calls import check_calls
from irkit.phases.legalize import LEGALIZE
from irkit.runtime import Model, PackageContents, object_for
from irkit.transform import IR, Apply, Pipeline, Step, Trace, apply_here

if TYPE_CHECKING:
    from irkit.frontend.onnx import ModelLike, Shapes

# Called with the name of the last step, and the numbers of kernels done and of all kernels (0 while
# unknown).
Progress = Callable[[str, int, int], None]


def compile(
    model: "ModelLike | IRModule",
    *,
    target: Target | str = "llvm",
    shapes: "Shapes | None" = None,
    values: Mapping[str, ArrayLike] | None = None,
    graph_pipeline: Pipeline = GRAPH,
    pipeline: Pipeline = DEFAULT,
    legalize: Pipeline = LEGALIZE,
    verify: bool = True,
    keep_trace: bool = True,
    progress: Progress | None = None,
    apply: Apply = apply_here,
) -> Model:
    """Compile an ONNX model (path, bytes or ModelProto), or a module with a graph function
    ``main``.

    The module goes through ``graph_pipeline``, each kernel through ``pipeline`` and ``legalize``.
    ``shapes`` fixes symbolic dimensions of inputs, ``values`` whole inputs; ``progress`` is called
    after each step, ``apply`` runs each pass. A model for the target of another machine can only be
    saved; a model compiled without ``keep_trace`` holds no IR.
    Raises: UnsupportedModel with every operator that is missing; PassFailed; other IRKitErrors.
    """
    report = progress or _silent
    machine = complete_target(as_target(target))
    module = _imported(model, shapes, values)
    report("import", 0, 0)
    lowering = pipeline.then(legalize)
    steps: list[Step] = []
    record: Callable[[Step], object] = steps.append if keep_trace else _ignore
    operators = FusedOperators()
    operators.note(module)
    for step in for_target(graph_pipeline, machine).steps(module, verify=verify, apply=apply):
        record(step)
        lowered = step.applied_to(module)
        assert isinstance(lowered, IRModule)
        module = lowered
        operators.note(module)
        report(step.name, 0, 0)
    main = _main(module)
    check_calls(module, main)
    plan, params = make_plan(main, operators.by_value)
    objects: list[bytes] = []
    work: dict[str, Work] = {}
    recording = set[str]()
    names = list(dict.fromkeys(call.kernel for call in plan.calls))
    for done, name in enumerate(names, 1):
        # The executor calls it by its key in the module.
        func: IR = module[name].replace(name=name)
        for step in lowering.steps(func, verify=verify, apply=apply):
            record(step)
            func = step.after
        assert isinstance(func, PrimFunc)
        objects.append(object_for(emit([func], machine), machine))
        counted = work_of(func)
        work |= {} if counted is None else {name: counted}
        recording |= {name} if record_size(func) else set()
        report(name, done, len(names))
    plan = msgspec.structs.replace(_with_records(plan, recording), work=work)
    objects.append(object_for(emit_executor(plan), machine))
    contents = PackageContents(plan, tuple(objects), params, machine, main.script())
    return Model(contents, Trace.of(steps, title=_title(model)) if keep_trace else None)


def _with_records(plan: ExecutorPlan, names: Container[str]) -> ExecutorPlan:
    """Mark the calls whose kernels take a record, which is known once they are lowered."""
    calls = [
        msgspec.structs.replace(call, records=True) if call.kernel in names else call
        for call in plan.calls
    ]
    return msgspec.structs.replace(plan, calls=tuple(calls))


def for_target(graph_pipeline: Pipeline, target: Target) -> Pipeline:
    """Set the option ``vector_bytes`` of each pass that has it to that of a complete target, unless
    the pipeline sets it."""
    wide = vector_bytes(target)
    for _, p in graph_pipeline.placed:
        names = {option.name for option in p.parameters}
        if "vector_bytes" in names - set(p.options):
            graph_pipeline = graph_pipeline.replace(p.name, p.using(vector_bytes=wide))
    return graph_pipeline


def vector_bytes(target: Target) -> int:
    """Return how many bytes a vector register of a complete target holds."""
    for feature, size in (("+avx512f", 64), ("+avx2", 32)):
        if feature in target.features:
            return size
    return 16


def _imported(
    model: "ModelLike | IRModule",
    shapes: "Shapes | None",
    values: Mapping[str, ArrayLike] | None,
) -> IRModule:
    if not isinstance(model, IRModule):
        # Kernels and graphs need no ONNX, which takes 60 ms to load.
        from irkit.frontend.onnx import import_onnx

        module = import_onnx(model, shapes=shapes, values=values)
    elif shapes or values:
        raise IRKitError("shapes and values are for ONNX models; a module has its own")
    else:
        module = model
    main = _main(module)
    # Checked now, because compiling the kernels can take minutes.
    for param, name in zip(main.params, input_names(main), strict=True):
        tensor_spec(param.type, name)
    return module


def _main(module: IRModule) -> GraphFunc:
    main = module["main"]
    if not isinstance(main, GraphFunc):
        raise IRKitError(
            f"function 'main' is a {type(main).__name__}; expected a graph function",
            hint="irkit.build compiles functions over loops.",
        )
    return main


def _title(model: "ModelLike | IRModule") -> str:
    return os.path.basename(model) if isinstance(model, (str, os.PathLike)) else "model"


def _ignore(step: Step) -> None:
    return None


def _silent(what: str, done: int, total: int) -> None:
    return None
