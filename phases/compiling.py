"""From a model to native code: the graph pipeline, the phases of each kernel, one object a kernel,
and the executor."""

from collections.abc import Callable, Mapping

from numpy.typing import ArrayLike

from irkit.codegen import complete, emit, emit_executor
from irkit.core import IRModule, Target, as_target
from irkit.frontend.onnx import ModelLike, Shapes, import_onnx
from irkit.graph import GraphFunc
from irkit.ir import PrimFunc
from irkit.phases.default import DEFAULT
from irkit.phases.graph import GRAPH
from irkit.phases.plan import make_plan
from irkit.runtime import Contents, Model, object_for
from irkit.transform import Pipeline, Step, Trace

# Called with what was just done, how many units are done, and how many there are (0 while unknown).
Progress = Callable[[str, int, int], None]


def compile(
    model: "ModelLike | IRModule",
    *,
    target: Target | str = "llvm",
    shapes: Shapes | None = None,
    values: Mapping[str, ArrayLike] | None = None,
    graph_pipeline: Pipeline = GRAPH,
    pipeline: Pipeline = DEFAULT,
    verify: bool = True,
    progress: Progress | None = None,
) -> Model:
    """Compile an ONNX model (path, bytes or ModelProto), or a module with a graph function
    ``main``.

    ``shapes`` fixes symbolic dimensions of inputs, ``values`` fixes whole inputs; ``progress`` is
    called as work proceeds.
    Raises: UnsupportedModel with every operator that is missing; PassFailed naming the pass; other
    IRKitErrors with a place.
    """
    tell = progress or _silent
    machine = complete(as_target(target))
    tell("import", 0, 0)
    module = (
        model if isinstance(model, IRModule) else import_onnx(model, shapes=shapes, values=values)
    )
    steps: list[Step] = []
    for step in graph_pipeline.steps(module, verify=verify):
        steps.append(step)
        lowered = step.applied_to(module)
        assert isinstance(lowered, IRModule)
        module = lowered
        tell(step.name, 0, 0)
    main = module["main"]
    assert isinstance(main, GraphFunc)
    kernels = {name: func for name, func in module.functions.items() if isinstance(func, PrimFunc)}
    objects: list[bytes] = []
    for done, (name, func) in enumerate(kernels.items()):
        tell(name, done, len(kernels))
        lowered = func
        for step in pipeline.steps(func, verify=verify, start=len(steps)):
            steps.append(step)
            assert isinstance(step.after, PrimFunc)
            lowered = step.after
        objects.append(object_for(emit([lowered], machine), machine))
    plan, params = make_plan(main)
    symbols = list(dict.fromkeys(call.kernel for call in plan.calls))
    objects.append(object_for(emit_executor(plan, symbols), machine))
    tell("done", len(kernels), len(kernels))
    contents = Contents(plan, tuple(objects), params, machine, main.script())
    return Model(contents, Trace.of(steps, title="model"))


def _silent(what: str, done: int, total: int) -> None:
    return None
