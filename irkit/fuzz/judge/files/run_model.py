"""Compile a malformed model and run it; its results are compared with onnx.reference elsewhere."""

import os
import re
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.frontend.onnx import import_onnx
from irkit.fuzz.judge.files.input_verdict import InputVerdict, verdict_of
from irkit.graph import InputSpec
from irkit.ir import as_dtype, numpy_dtype
from irkit.phases import compile as compile_model
from irkit.runtime import DeferredModel

Arrays = dict[str, NDArray[Any]]

_PLACES = re.compile(r"'|the model")
"""A name in quotes, or the model as a whole."""
_MOST = 1 << 16
"""Most elements of an input or output of a model that is run."""
SECRET = b"\x5a" * 4096
"""Contents of the files that no model may read."""


class ModelRun(msgspec.Struct, frozen=True, eq=False):
    """A model that was compiled and run, with its inputs and outputs, unless the verdict says
    otherwise."""

    verdict: InputVerdict
    inputs: Arrays
    outputs: Arrays


def run_model(data: bytes) -> ModelRun:
    """Compile a model in a folder with files that it must not read, and run it on small whole
    numbers."""
    found: list[tuple[Arrays, Arrays]] = []

    def work() -> InputVerdict:
        with tempfile.TemporaryDirectory(prefix="irkit-malformed-") as folder:
            file = write_model(data, Path(folder))
            model = compile_model(file, verify=False, keep_trace=False)
            if isinstance(model, DeferredModel):
                shapes = {each.name: _small(each) for each in model.open_inputs if each.is_open}
                model = compile_model(file, shapes=shapes, verify=False, keep_trace=False)
        if isinstance(model, DeferredModel):
            return InputVerdict("excluded", "compiled at the call")
        plan = model.contents.plan
        if SECRET[:8] in bytes(model.contents.params):
            return InputVerdict("wrong", "read a file outside of its folder")
        if plan.dims or not isinstance(plan.arena_bytes, int):
            return InputVerdict("excluded", "sizes known at the call")
        specs = (*plan.inputs, *plan.outputs)
        sizes = [int(np.prod(spec.extents, dtype=object)) for spec in specs]
        if max(sizes, default=0) > _MOST or plan.arena_bytes > 1 << 28:
            return InputVerdict("excluded", "too large to run")
        inputs = {
            spec.name: whole_numbers(spec.extents, numpy_dtype(as_dtype(spec.dtype)), at)
            for at, spec in enumerate(plan.inputs)
        }
        try:
            found.append((inputs, model.run(inputs)))
        except MemoryError:  # A kernel can request more than there is: a window of gigabytes.
            return InputVerdict("excluded", "too large to run")
        return InputVerdict("accepted", "ran")

    verdict = verdict_of(work, _PLACES)
    inputs, outputs = found[0] if found else ({}, {})
    return ModelRun(verdict, inputs, outputs)


def _small(spec: InputSpec) -> tuple[int, ...]:
    """Return a shape with an extent of 2 where it is open."""
    return (2, 2) if spec.dims is None else tuple(d if isinstance(d, int) else 2 for d in spec.dims)


def load_model(data: bytes) -> InputVerdict:
    """Read a model, and run none of its code."""

    def work() -> InputVerdict:
        with tempfile.TemporaryDirectory(prefix="irkit-malformed-") as folder:
            import_onnx(write_model(data, Path(folder)))
        return InputVerdict("excluded", "not run")

    return verdict_of(work, _PLACES)


def whole_numbers(shape: tuple[int, ...], dtype: "np.dtype[Any]", seed: int) -> NDArray[Any]:
    """Fill an array with whole numbers from 1 to 5, which every type holds."""
    drawn = np.random.default_rng(seed).integers(1, 6, size=shape)
    return (drawn > 2 if dtype == np.bool_ else drawn).astype(dtype)


def write_model(data: bytes, folder: Path) -> Path:
    """Write a model into a folder of its own; if it names other files, there are some: beside it,
    outside, behind links, a folder and a pipe."""
    home = folder / "home"
    home.mkdir()
    path = home / "model.onnx"
    path.write_bytes(data)
    if b"location" in data:
        (folder / "secret.bin").write_bytes(SECRET)
        (folder / "outside").mkdir()
        (folder / "outside" / "secret.bin").write_bytes(SECRET)
        (home / "weights.bin").write_bytes(np.arange(1, 1025, dtype=np.float32).tobytes())
        (home / "inner").mkdir()
        (home / "folder").mkdir()
        (home / "link.bin").symlink_to(folder / "secret.bin")
        (home / "linked").symlink_to(folder / "outside")
        (home / "hard.bin").hardlink_to(folder / "secret.bin")
        _pipe(home / "pipe")
    return path


def _pipe(path: Path) -> None:
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
