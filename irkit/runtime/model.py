"""A compiled model: native code, parameters, and the checks at its border."""

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from irkit.codegen import ENTRY, TensorSpec
from irkit.core import IRKitError
from irkit.ir import as_dtype, numpy_dtype
from irkit.runtime.jit import Library
from irkit.runtime.package import Contents, read_package, write_package
from irkit.transform import Trace

_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 4)
_ALIGNMENT = 64


class Model:
    """Run a compiled model: the emitted executor over parameters, with an arena for each call.

    Concurrent calls do not share an arena; those that are free are kept for the next call.
    ``trace`` holds every step of the
    compilation, if it was compiled here and not loaded.
    """

    def __init__(self, contents: Contents, trace: Trace | None = None) -> None:
        self.contents = contents
        self.plan = plan = contents.plan
        self.target = contents.target
        self._trace = trace
        self._params = _aligned(plan.param_bytes)
        self._params[:] = np.frombuffer(contents.params, dtype=np.uint8, count=plan.param_bytes)
        self._library = Library(contents.objects, (ENTRY,))
        self._run: Callable[..., int] = _ENTRY(self._library.address(ENTRY))
        self._arenas: list[NDArray[np.uint8]] = []
        self._dtypes = {
            spec.name: numpy_dtype(as_dtype(spec.dtype)) for spec in (*plan.inputs, *plan.outputs)
        }

    @property
    def trace(self) -> Trace:
        """Graph passes, then each function's phases.

        Raises: IRKitError if the model was loaded from a package, or compiled without a trace.
        """
        if self._trace is None:
            raise IRKitError(
                "this model has no trace: it was loaded from a package, or compiled without one",
                hint="Compile it with irkit.compile(path), or load the trace file.",
            )
        return self._trace

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Write a package that ``irkit.load`` reads; an older file is replaced only when it is
        complete."""
        write_package(path, self.contents)

    def run(self, inputs: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
        """Compute all outputs, by name.

        Shapes, types: as ``inputs`` and ``outputs`` of the plan say.
        Raises: ValueError for a missing or unknown name or a wrong shape, TypeError for a wrong
        type; then nothing was run.
        """
        arrays = self._checked(inputs)
        results = [np.empty(spec.shape, self._dtypes[spec.name]) for spec in self.plan.outputs]
        try:
            arena = self._arenas.pop()
        except IndexError:
            arena = _aligned(self.plan.arena_bytes)
        status = self._run(
            _table(arrays), _table(results), self._params.ctypes.data, arena.ctypes.data
        )
        self._arenas.append(arena)
        if status != 0:
            call = self.plan.calls[(status >> 16) - 1]
            raise IRKitError(
                f"kernel {call.kernel!r} of {call.node!r} stopped with {status & 0xFFFF}"
            )
        return {spec.name: array for spec, array in zip(self.plan.outputs, results, strict=True)}

    def _checked(self, inputs: Mapping[str, ArrayLike]) -> list[NDArray[Any]]:
        names = [spec.name for spec in self.plan.inputs]
        unknown = sorted(set(inputs) - set(names))
        missing = [name for name in names if name not in inputs]
        if unknown or missing:
            said = f"input {missing[0]!r} is missing" if missing else f"{unknown[0]!r} is no input"
            raise ValueError(f"{said}; the inputs are: {', '.join(names) or 'none'}")
        return [self._fitting(spec, inputs[spec.name]) for spec in self.plan.inputs]

    def _fitting(self, spec: TensorSpec, given: ArrayLike) -> NDArray[Any]:
        array = np.asarray(given)
        if array.dtype != self._dtypes[spec.name]:
            raise TypeError(
                f"input {spec.name!r} must be of type {self._dtypes[spec.name]}, "
                f"found {array.dtype}"
            )
        if array.shape != spec.shape:
            raise ValueError(
                f"input {spec.name!r} must have shape {spec.shape}, found {array.shape}"
            )
        return np.require(array, requirements=["C", "A"])


def load(path: "str | os.PathLike[str]") -> Model:
    """Load a package that ``Model.save`` wrote.

    Raises: FormatError if it is missing or damaged, or this processor lacks a feature it needs.
    """
    return Model(read_package(path))


def _table(arrays: Sequence[NDArray[Any]]) -> "ctypes.Array[ctypes.c_void_p]":
    return (ctypes.c_void_p * max(1, len(arrays)))(*[array.ctypes.data for array in arrays])


def _aligned(size: int) -> NDArray[np.uint8]:
    """Make room that starts at a multiple of 64 bytes."""
    room = np.empty(size + _ALIGNMENT, dtype=np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    return room[start : start + size]
