"""Record the traces of a model, of IR text or of a script; this runs in a child."""

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from irkit.core import IRKitError, IRModule, as_target
from irkit.frontend.onnx import Shapes
from irkit.graph import GraphFunc, parse_module
from irkit.inspector_web.record.dump_recording import record_dump
from irkit.inspector_web.record.own_onnx import import_own_onnx
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.record.script import run_script
from irkit.inspector_web.record.step_recorder import (
    StepRecorder,
    TraceRecording,
    record_steps,
    save_traces,
)
from irkit.inspector_web.record.untrusted_onnx import import_untrusted_onnx
from irkit.inspector_web.runs.run import Source
from irkit.ir import PrimFunc
from irkit.phases import (
    DEFAULT,
    GRAPH,
    LEGALIZE,
    for_machine,
    machine_of,
    phases_of,
    schedule_choice,
    with_auto_schedule,
)
from irkit.transform import PassFailed, Pipeline

NOTHING: Mapping[str, Any] = {}
FileKind = Literal["model", "text", "script", "dump"]
FILE_KINDS: dict[str, FileKind] = {".onnx": "model", ".irs": "text", ".py": "script"}
_TRACE_SUFFIX, _TRACE_BEGINS = ".trace", b"irkit-trace "


def file_kind(path: str) -> FileKind | None:
    """Return how a file is opened: by its suffix, or as a dump of another compiler; None for a
    trace."""
    suffix = os.path.splitext(path)[1].lower()
    if os.path.isdir(path):
        return "dump"
    if suffix in FILE_KINDS or suffix == _TRACE_SUFFIX:
        return FILE_KINDS.get(suffix)
    with open(path, "rb") as opened:
        return None if opened.read(len(_TRACE_BEGINS)) == _TRACE_BEGINS else "dump"


def warm_up() -> None:
    """Do nothing: to call this, the child has imported all that it needs."""


def record(
    kind: FileKind,
    file: str,
    folder: str,
    *,
    own: bool = True,
    shapes: Shapes = NOTHING,
    values: Mapping[str, Any] = NOTHING,
    converters: tuple[str, ...] = (),
) -> TraceRecording:
    """Record the traces of a file in a folder.

    ``IRKIT_SCHEDULE`` in the environment decides about schedules. A script runs only if the file is
    the user's ``own``. A pass that fails is part of the recording. Raises: IRKitError if there is
    nothing to show.
    """
    if kind == "dump":
        return record_dump(file, folder)
    again = f"irkit inspect {shlex.quote(os.path.relpath(file))}" if own else ""
    recorder = StepRecorder(Path(folder), again)
    source = Source(kind, file, own, shapes, values, converters)
    message = ""
    try:
        with record_steps(recorder):
            if kind == "script" and own:
                run_script(file)
            else:
                lower_all(read_module(source))
    except PassFailed:
        pass  # Its group holds the failure.
    except IRKitError as error:
        if not recorder.groups:
            raise
        message = str(error)
    if not recorder.groups and not message:
        raise IRKitError(
            f"{os.path.basename(file)}: no pass ran",
            hint="A script must call irkit.lower, build, compile or a pipeline.",
        )
    return TraceRecording(tuple(save_traces(recorder, file)), _files(file, recorder), message)


def read_module(source: Source) -> IRModule:
    """Read a model or IR text."""
    file = source.path
    report_progress("reading the file")
    if source.kind == "model":
        if not source.own:
            return import_untrusted_onnx(file)
        return import_own_onnx(source)
    data = Path(file).read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise IRKitError(f"{file} is not text: {error}", hint="IR text is UTF-8.") from None
    return parse_module(text, file=os.path.basename(file))


def _lowering(func: PrimFunc) -> Pipeline:
    pipeline = phases_of(as_target("llvm"), DEFAULT.then(LEGALIZE))
    if schedule_choice(None, "none") == "none":
        return pipeline
    return with_auto_schedule(pipeline, machine_of("host", as_target("llvm")))


def lower_all(
    module: IRModule,
    graph: Pipeline | None = None,
    lowering: Callable[[PrimFunc], Pipeline] = _lowering,
) -> None:
    """Run the graph pipeline on a module that has a graph, and on each kernel the pipeline that
    ``lowering`` returns for it."""
    if any(isinstance(func, GraphFunc) for func in module.functions.values()):
        machine = machine_of("host", as_target("llvm"))
        usual = for_machine(GRAPH, machine, schedule_choice(None, "auto"))
        for step in (usual if graph is None else graph).steps(module):
            lowered = step.applied_to(module)
            assert isinstance(lowered, IRModule)
            module = lowered
            report_progress(f"graph: {step.name}")
    kernels = {name: f for name, f in module.functions.items() if isinstance(f, PrimFunc)}
    for done, (name, func) in enumerate(kernels.items()):
        report_progress(name, done, len(kernels))
        for _ in lowering(func).steps(func.replace(name=name)):
            pass


def _files(file: str, recorder: StepRecorder) -> tuple[str, ...]:
    """List the files to watch: the file itself and the user's modules that it imported."""
    found = {os.path.abspath(file)}
    inside = (sys.prefix, sys.base_prefix)
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.endswith(".py") and not path.startswith(inside):
            found.add(os.path.abspath(path))
    return tuple(sorted(found))
