"""Compiled models on disk, by the bytes of the model and all that decides how it is compiled.

A model is stored as the package that ``save`` writes, with its parameters, if it is compiled for
all calls, and irkit's own converters and passes, or passes with a digest, made it. Its trace is
made by compiling it again, when somebody asks for it.
"""

import hashlib
import mmap
import os
import platform
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from irkit.autoschedule import ERRORS
from irkit.core import FormatError, IRKitError, own_sources
from irkit.phases.compile_module import CompileOptions
from irkit.phases.executor.state_names import StateNames
from irkit.phases.schedule_choice import machine_of
from irkit.processes import compile_jobs
from irkit.runtime import (
    Model,
    PackageContents,
    cache_folder,
    cached_file,
    most_cached_bytes,
    producer,
    read_package,
    stored_file,
    write_package,
)
from irkit.transform import is_recording, pipeline_digest, runs_here

if TYPE_CHECKING:
    from irkit.frontend.onnx import ModelLike, Shapes

LARGE = 64 << 20
"""Bytes of a file from which on the steps of a model are made when they are asked for."""
_PIECE = 8 << 20
_LOCATION = b"location"
"""A word that each model contains whose weights are in other files."""


class ModelRequest(msgspec.Struct, frozen=True, eq=False):
    """A model of ONNX, and how it is to be compiled."""

    model: "ModelLike"
    shapes: "Shapes"
    values: Mapping[str, ArrayLike]
    state: StateNames
    options: CompileOptions

    def key(self) -> str | None:
        """Return the name under which the compiled model is kept; None if it is not."""
        options = self.options
        digests = [
            pipeline_digest(each)
            for each in (options.graph_pipeline, options.pipeline, options.legalize)
        ]
        is_kept = (
            cache_folder() is not None
            and options.keep_trace != "now"
            and options.target.kind != "c"
            and not options.backends
            and runs_here(options.apply)
            and not is_recording()
        )
        source = self.source() if is_kept and None not in digests else None
        if source is None:
            return None
        machine = machine_of(options.machine, options.target)
        parts = (
            source,
            *_sorted((name, list(shape)) for name, shape in self.shapes.items()),
            *_sorted((name, _array_digest(value)) for name, value in self.values.items()),
            *_sorted(self.state.items()),
            *map(str, digests),
            *(str(getattr(options.target, name)) for name in options.target.__struct_fields__),
            str(options.verify),
            str(options.schedule),
            str(machine.settings),
            str(options.memory_limit),
            repr(options.tolerance),
            *_sorted(options.records.traces.items()),
            os.environ.get(ERRORS, ""),
            _versions(),
        )
        return _digest(part.encode("utf-8", "surrogatepass") for part in parts)

    def source(self) -> str | None:
        """Return a digest of the bytes of the model and of the files it refers to; None if they
        cannot be read."""
        model = self.model
        try:
            if isinstance(model, (str, os.PathLike)):
                return _digest(_file_parts(Path(model)))
            data = (
                model if isinstance(model, bytes) else model.SerializeToString(deterministic=True)
            )
            return _digest([data])
        except (OSError, ValueError):  # The import says what is wrong.
            return None


def _file_parts(path: Path) -> Iterable[bytes | mmap.mmap]:
    for whole in _mapped(path):
        yield whole
        if whole.find(_LOCATION) < 0:
            return
    from irkit.frontend.onnx import external_files

    for other in external_files(path):
        yield str(other).encode()
        yield from _mapped(path.parent / other)


def _mapped(path: Path) -> Iterable[mmap.mmap]:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        yield whole


def _sorted(items: Iterable[tuple[str, object]]) -> list[str]:
    return [repr(item) for item in sorted(items, key=lambda item: item[0])]


def _array_digest(value: ArrayLike) -> str:
    array = np.ascontiguousarray(value)
    data = array.tobytes()
    return f"{array.dtype.str} {array.shape} {hashlib.sha256(data).hexdigest()}"


def _digest(parts: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        with memoryview(part) as data:
            digest.update(data.nbytes.to_bytes(8, "little"))
            for each in _pieces(data):
                digest.update(each)
    return digest.hexdigest()


def _pieces(data: memoryview) -> list[Any]:
    """Return small data as it is; of large data the digests of pieces, made by several threads."""
    if len(data) <= _PIECE:
        return [data]

    def of_piece(at: int) -> bytes:
        return hashlib.sha256(data[at : at + _PIECE]).digest()

    with ThreadPoolExecutor(compile_jobs()) as threads:
        return list(threads.map(of_piece, range(0, len(data), _PIECE)))


@cache
def _versions() -> str:
    names = ("irkit", "numpy", "onnx", "ml_dtypes")
    found = [f"{name} {version(name)}" for name in names]
    return " ".join([*found, str(own_sources()), producer().decode(), platform.python_version()])


def compiled_or_kept(request: ModelRequest, compile_now: Callable[[ModelRequest], Model]) -> Model:
    """Return the model of a request: the one that is kept, or one that is compiled, and kept."""
    key = request.key()
    if key is None:
        return compile_now(request)
    kept = _kept(key)
    if kept is not None:
        again = _Again(request, key, compile_now)
        trace = again.trace if request.options.keep_trace else None
        return Model(kept, trace, again.functions)
    from irkit.frontend.onnx import asked_for_converters

    asked = asked_for_converters()
    made = _without_steps(request, key, compile_now) or compile_now(request)
    if type(made) is Model and asked_for_converters() == asked:
        _keep(key, made.contents)
    return made


def _without_steps(
    request: ModelRequest, key: str, compile_now: Callable[[ModelRequest], Model]
) -> Model | None:
    """Compile a large model from a file without its steps, which would hold the weights as each
    pass left them; None if the model is small, or is not compiled as a whole."""
    model, options = request.model, request.options
    is_file = isinstance(model, (str, os.PathLike))
    if not options.keep_trace or not is_file or os.stat(model).st_size < LARGE:
        return None
    plain = msgspec.structs.replace(options, keep_trace=False)
    made = compile_now(msgspec.structs.replace(request, options=plain))
    if type(made) is not Model:
        return None
    return Model(made.contents, _Again(request, key, compile_now).trace, lambda: made.functions)


class _Again:
    """What a kept model lacks, from compiling it again when it is asked for."""

    def __init__(
        self,
        request: ModelRequest,
        key: str,
        compile_now: Callable[[ModelRequest], Model],
    ) -> None:
        self._request, self._key, self._compile = request, key, compile_now
        self._made: Model | None = None

    def trace(self) -> Any:
        return self._model().trace

    def functions(self) -> Any:
        return self._model().functions

    def _model(self) -> Model:
        if self._made is None:
            if self._request.key() != self._key:
                raise IRKitError(
                    "the source of the model has changed since it was compiled: its steps can no "
                    "longer be made",
                    hint='Compile it with keep_trace="now".',
                )
            self._made = self._compile(self._request)
        return self._made


def _kept(key: str) -> PackageContents | None:
    path = cached_file(f"{key}.model")
    if path is None:
        return None
    try:
        return read_package(path, whole=True)
    except FormatError:
        return None


def _keep(key: str, contents: PackageContents) -> None:
    folder = cache_folder()
    if folder is None or len(contents.params) > most_cached_bytes() // 2:
        return
    with suppress(OSError):  # A full disk is not an error.
        path = folder / f"{key}.model"
        write_package(path, contents)
        stored_file(path)
