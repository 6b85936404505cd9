"""Native code from a model, by its way through the phases."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from numpy.typing import ArrayLike

from irkit.codegen import MOST_BYTES, complete_target
from irkit.core import IRKitError, IRModule, Target, as_target
from irkit.phases.backends.backend import Backend
from irkit.phases.compile_module import CompileOptions, Progress, compile_taken
from irkit.phases.default import DEFAULT
from irkit.phases.executor.state_names import StateNames, in_place
from irkit.phases.graph import GRAPH
from irkit.phases.legalize import LEGALIZE
from irkit.phases.model_cache import ModelRequest, compiled_or_kept
from irkit.phases.schedule_choice import (
    MachineChoice,
    RecordsChoice,
    ScheduleChoice,
    schedule_choice,
    schedules_of,
)
from irkit.runtime import Model
from irkit.transform import Apply, Pipeline, apply_here

if TYPE_CHECKING:
    from irkit.frontend.onnx import ModelLike, Shapes


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
    keep_trace: bool | Literal["now"] = True,
    progress: Progress | None = None,
    apply: Apply = apply_here,
    schedule: ScheduleChoice | None = None,
    machine: MachineChoice = "host",
    memory_limit: int = MOST_BYTES,
    state: StateNames | None = None,
    records: RecordsChoice | None = None,
    foreign_records: bool = False,
    backends: Sequence[Backend] = (),
    tolerance: float = 0.0,
) -> Model:
    """Compile an ONNX model (path, bytes or ModelProto), or a module with a graph function
    ``main``.

    A model that leaves shapes open, or whose inputs decide a shape, compiles at the call for what
    it meets, unless ``shapes`` fixes shapes and ``values`` whole inputs: see
    ``Model.specialisations``. With a name in a shape, such as ``{"x": ("batch in 1..64", 128)}``,
    the model is compiled once, for all sizes of such dimensions; a call that needs more bytes than
    ``memory_limit`` is refused. The module goes through ``graph_pipeline``, each kernel through
    ``pipeline`` and ``legalize``. ``progress`` is called after each step, ``apply`` runs each pass.
    A model for the target of another machine can only be saved, and one for the target "c" is C
    source, which ``write_sources`` writes. A model compiled without ``keep_trace`` has no trace;
    with "now" every pass runs here, one after the other, with its time; otherwise kernels may come
    from the cache or from several processes (``IRKIT_COMPILE_JOBS``), and the steps of kernels are
    taken again when the trace is asked for.
    ``state`` maps inputs to outputs that are written over them, in the memory of the caller, such
    as ``{"h": "h_next"}``, or append to them: ``{"past": ("present", axis, capacity)}``.
    ``schedule``, ``machine``, ``records`` and ``foreign_records`` are those of :func:`irkit.build`.
    ``backends`` compute the parts of the graph that they claim. ``tolerance`` is the error, as a
    part of the largest result of a convolution, up to which faster algorithms may be used that
    round more than the direct form does; with 0, only those that do not.
    Raises: UnsupportedModel with every operator that is missing; PassFailed; other IRKitErrors.
    """
    wanted = as_target(target)
    if wanted.device is not None:
        raise IRKitError(
            f"a model cannot be compiled for {wanted.kind}: expected a target of a processor",
            hint=f'irkit.build(func, target="{wanted.kind}") compiles one function.',
        )
    whole = wanted if wanted.kind == "c" else complete_target(wanted)
    options = CompileOptions(
        whole,
        graph_pipeline,
        pipeline,
        legalize,
        verify=verify,
        keep_trace=keep_trace,
        progress=progress,
        apply=apply,
        title=_title(model),
        schedule=schedule_choice(schedule, "auto"),
        machine=machine,
        memory_limit=memory_limit,
        records=schedules_of(records, whole, foreign_records),
        backends=tuple(backends),
        tolerance=tolerance,
    )
    if not isinstance(model, IRModule):
        request = ModelRequest(model, shapes or {}, values or {}, state or {}, options)
        return compiled_or_kept(request, _compiled)
    if shapes or values:
        raise IRKitError("shapes and values are for ONNX models; a module has its own")
    return compile_taken([in_place(model, state or {})], options)


def _compiled(request: ModelRequest) -> Model:
    # Kernels and graphs need no ONNX, which takes 60 ms to load.
    from irkit.frontend.onnx import import_onnx, names_dimensions, opened_model
    from irkit.phases.specialise import compile_onnx

    shapes, values, options = request.shapes, request.values, request.options
    if request.state or names_dimensions(shapes):
        module = import_onnx(request.model, shapes=shapes, values=values)
        return compile_taken([in_place(module, request.state)], options)
    compile_part = partial(compile_taken, options=options)
    with opened_model(request.model) as proto:
        return compile_onnx(proto, shapes, values, compile_part)


def _title(model: "ModelLike | IRModule") -> str:
    return os.path.basename(model) if isinstance(model, (str, os.PathLike)) else "model"
