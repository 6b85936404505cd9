"""What a child process runs to make a trace: a model, IR text, or a script of the user's.

Passes, models and scripts may take the process with them, so all of this happens in a child, which
leaves trace files in a folder and says on the way how far it is.
"""

import os
import runpy
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from irkit.codegen import complete
from irkit.core import IRKitError, IRModule, as_target
from irkit.frontend.onnx import import_onnx
from irkit.graph import GraphFunc, parse_module
from irkit.inspector_web.collecting import Collector, Recording, kept, saved, watched
from irkit.inspector_web.planning import Source
from irkit.inspector_web.strangers import import_stranger
from irkit.ir import PrimFunc
from irkit.phases import DEFAULT, GRAPH, LEGALIZE, for_target
from irkit.transform import AnyPass, PassFailed, Pipeline

Kind = Literal["model", "text", "script"]
KINDS: dict[str, Kind] = {".onnx": "model", ".irs": "text", ".py": "script"}


def ready() -> None:
    """Do nothing: by then the child has loaded what it needs."""


def record(kind: Kind, file: str, folder: str, *, own: bool = True) -> Recording:
    """Make the traces of a file in a folder; one that is not the user's ``own`` is no script.

    Raises: IRKitError if there is nothing to show; a pass that fails is part of the recording.
    """
    again = f"irkit inspect {shlex.quote(os.path.relpath(file))}" if own else ""
    collector = Collector(Path(folder), again)
    source = Source(kind, file, own)
    message = ""
    try:
        with kept(collector):
            if kind == "script" and own:
                _run_script(file)
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
    return Recording(tuple(saved(collector, file)), _files(file, collector), message)


def read_module(source: Source, collector: Collector) -> IRModule:
    """Read a model, or IR text."""
    file = source.path
    collector.tell("reading the file")
    if source.kind == "model":
        return import_onnx(file) if source.own else import_stranger(file)
    data = Path(file).read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise IRKitError(f"{file} is no text: {error}", hint="IR text is UTF-8.") from None
    return parse_module(text, file=os.path.basename(file))


def _lowering(func: PrimFunc) -> Pipeline:
    return DEFAULT.then(LEGALIZE)


def lower_all(
    collector: Collector,
    module: IRModule,
    graph: Pipeline | None = None,
    lowering: Callable[[PrimFunc], Pipeline] = _lowering,
) -> None:
    """Take a module through the pipeline of graphs, if there is one in it, and each kernel through
    the one that ``lowering`` gives for it."""
    if any(isinstance(func, GraphFunc) for func in module.functions.values()):
        usual = for_target(GRAPH, complete(as_target("llvm")))
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


class _Enough(BaseException):
    """All that is wanted of a script has been seen; no mistake, so nothing in it catches this."""


def passes_of_script(file: str, names: Iterable[str]) -> Mapping[str, AnyPass]:
    """Find passes that only a script knows, by running it until its pipelines have shown them."""
    wanted = set(names)
    found: dict[str, AnyPass] = {}

    def see(pipeline: Pipeline) -> None:
        found.update((p.name, p) for _, p in pipeline.placed if p.name in wanted)
        if wanted <= found.keys():
            raise _Enough

    with suppress(_Enough, IRKitError), watched(see):
        _run_script(file)
    return found


def _run_script(file: str) -> None:
    sys.argv = [file]
    # A module that is saved twice within a second would be taken for what it was before.
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    try:
        runpy.run_path(file, run_name="__main__")
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise IRKitError(f"the script ended with {stop.code}") from None
    except IRKitError:
        raise
    except Exception as error:
        where = _line_in(error, file)
        raise IRKitError(
            f"{os.path.basename(file)}{where}: {type(error).__name__}: {error}"
        ) from error


def _line_in(error: BaseException, file: str) -> str:
    line, at = "", error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == file:
            line = f":{at.tb_lineno}"
        at = at.tb_next
    return line


def _files(file: str, collector: Collector) -> tuple[str, ...]:
    """List the file and the modules of the user's that were loaded: a change of any counts."""
    found = {os.path.abspath(file)}
    inside = (sys.prefix, sys.base_prefix)
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.endswith(".py") and not path.startswith(inside):
            found.add(os.path.abspath(path))
    return tuple(sorted(found))
