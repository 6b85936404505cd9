"""FIXME Do nothing: by then the child has loaded what it needs."""

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from irkit.codegen import complete_target
from irkit.core import IRKitError, IRModule, as_target
from irkit.frontend.onnx import import_onnx
from irkit.graph import GraphFunc, parse_module
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
from irkit.phases import DEFAULT, GRAPH, LEGALIZE, for_target
from irkit.transform import PassFailed, Pipeline

FileKind = Literal["model", "text", "script"]
FILE_KINDS: dict[str, FileKind] = {".onnx": "model", ".irs": "text", ".py": "script"}


def warm_up() -> None:
    """Do nothing: by then the child has loaded what it needs."""


def record(kind: FileKind, file: str, folder: str, *, own: bool = True) -> TraceRecording:
    """Make the traces of a file in a folder; one that is not the user's ``own`` is no script.

    Raises: IRKitError if there is nothing to show; a pass that fails is part of the recording.
    """
    again = f"irkit inspect {shlex.quote(os.path.relpath(file))}" if own else ""
    collector = StepRecorder(Path(folder), again)
    source = Source(kind, file, own)
    message = ""
    try:
        with record_steps(collector):
            if kind == "script" and own:
                run_script(file)
            else:
                lower_all(collector, read_module(source, collector))
    except PassFailed:
        pass  # It stands in its group.
    except IRKitError as error:
        if not collector.groups:
            raise
        message = str(error)
    if not collector.groups and not message:
        raise IRKitError(
            f"{os.path.basename(file)}: no pass ran",
            hint="A script is seen where it calls irkit.lower, build, compile or a pipeline.",
        )
    return TraceRecording(tuple(save_traces(collector, file)), _files(file, collector), message)


def read_module(source: Source, collector: StepRecorder) -> IRModule:
    """Read a model, or IR text."""
    file = source.path
    collector.tell("reading the file")
    if source.kind == "model":
        return import_onnx(file) if source.own else import_untrusted_onnx(file)
    data = Path(file).read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise IRKitError(f"{file} is no text: {error}", hint="IR text is UTF-8.") from None
    return parse_module(text, file=os.path.basename(file))


def _lowering(func: PrimFunc) -> Pipeline:
    return DEFAULT.then(LEGALIZE)


def lower_all(
    collector: StepRecorder,
    module: IRModule,
    graph: Pipeline | None = None,
    lowering: Callable[[PrimFunc], Pipeline] = _lowering,
) -> None:
    """Take a module through the pipeline of graphs, if there is one in it, and each kernel through
    the one that ``lowering`` gives for it."""
    if any(isinstance(func, GraphFunc) for func in module.functions.values()):
        usual = for_target(GRAPH, complete_target(as_target("llvm")))
        for step in (usual if graph is None else graph).steps(module):
            lowered = step.applied_to(module)
            assert isinstance(lowered, IRModule)
            module = lowered
            collector.tell(f"graph: {step.name}")
    kernels = {name: f for name, f in module.functions.items() if isinstance(f, PrimFunc)}
    for done, (name, func) in enumerate(kernels.items()):
        collector.tell(name, done, len(kernels))
        for _ in lowering(func).steps(func.replace(name=name)):
            pass


def _files(file: str, collector: StepRecorder) -> tuple[str, ...]:
    """List the file and the modules of the user's that were loaded: a change of any counts."""
    found = {os.path.abspath(file)}
    inside = (sys.prefix, sys.base_prefix)
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.endswith(".py") and not path.startswith(inside):
            found.add(os.path.abspath(path))
    return tuple(sorted(found))
