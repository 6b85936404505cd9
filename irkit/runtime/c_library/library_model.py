"""A model in a shared library, through its C interface."""

import ctypes
import math
import os
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from irkit.codegen import TensorSpec, c_prefix
from irkit.core import FormatError, IRKitError, ShapeError
from irkit.graph import StatePair
from irkit.runtime.c_library.c_structs import (
    VERSION,
    Described,
    Dim,
    DLTensor,
    Options,
    StateRow,
    pointers_to,
    tensor_of,
)
from irkit.runtime.model_arrays import (
    Cache,
    cache_input,
    check_input,
    check_names,
    memory_of,
    output_arrays,
    rows_of,
    state_input,
)

_NOTHING = np.zeros(0, np.uint8)
_BAD_ARGUMENT, _NO_MEMORY, _NO_WEIGHTS = 1, 2, 3


def load_library(
    path: "str | os.PathLike[str]",
    *,
    name: str = "",
    weights: "str | os.PathLike[str] | None" = None,
    threads: int = 0,
) -> "LibraryModel":
    """Load a model that ``irkit compile --output-kind=shared`` made.

    ``name`` is the prefix of its functions, by default made of the name of the file, as the command
    does. ``weights`` is a file of weights instead of those inside. ``threads`` is how many a run
    may use, the calling one among them: 0 for one for each processor that no other such library
    uses. A library is code, as trusted as any other.
    Raises: FormatError if the file cannot be loaded, or is no such library; IRKitError as the
    library does.
    """
    return LibraryModel(path, name or prefix_of(path), weights, threads)


def prefix_of(path: "str | os.PathLike[str]") -> str:
    """Return the prefix of functions that the command gives a library by its file's name."""
    return c_prefix(Path(path).name.partition(".")[0].removeprefix("lib"))


class LibraryModel:
    """A model in a shared library: names, types, shapes and errors are those of its C interface.

    ``inputs`` and ``outputs`` describe its tensors, ``dims`` the range of each dimension that a
    call decides, ``state`` the outputs that are written over inputs. Several threads may run one
    model. It ends with its last reference.
    """

    def __init__(
        self,
        path: "str | os.PathLike[str]",
        name: str,
        weights: "str | os.PathLike[str] | None" = None,
        threads: int = 0,
    ) -> None:
        self.path, self.name = os.fspath(path), name
        try:
            self._library = ctypes.CDLL(os.path.abspath(self.path))
        except OSError as error:
            raise FormatError(f"the library {self.path!r} cannot be loaded: {error}") from None
        found = int(self._function("version", ctypes.c_uint32)())
        if found != VERSION:
            raise FormatError(
                f"the library {self.path!r} has version {found} of the interface; expected "
                f"{VERSION}",
                hint="Compile the model again.",
            )
        self.inputs = self._described("input")
        self.outputs = self._described("output")
        self.dims = MappingProxyType(
            {
                row.name.decode(): (row.least, row.most)
                for row in self._rows("dim", "dim_number", Dim)
            }
        )
        self.state = tuple(
            StatePair(row.input, row.output, row.axis, row.capacity)
            for row in self._rows("state", "state_number", StateRow)
        )
        file = None if weights is None else os.fsencode(weights)
        options = Options(ctypes.sizeof(Options), VERSION, weights_file=file, threads=threads)
        self._handle = ctypes.c_void_p()
        code = self._function("create")(ctypes.byref(self._handle), ctypes.byref(options))
        if code:
            self._fail(code)
        weakref.finalize(self, self._function("destroy", None), self._handle)

    def run(
        self, inputs: Mapping[str, ArrayLike | Cache], *, out: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Compute all outputs, by name, as :meth:`irkit.Model.run` does.

        Raises: InputError, ShapeError and DTypeError, all before anything is run; MemoryError;
        IRKitError if the model stops.
        """
        check_names(self.inputs, inputs)
        pairs = {pair.param: pair for pair in self.state}
        arrays = [
            _checked(spec, inputs[spec.name], pairs.get(at)) for at, spec in enumerate(self.inputs)
        ]
        given = self._tensors(self.inputs, arrays)
        shapes = self._shapes(given)
        specs = [
            TensorSpec(spec.name, shape, spec.dtype)
            for spec, shape in zip(self.outputs, shapes, strict=True)
        ]
        results = self._results(specs, inputs, arrays, out)
        made = self._tensors(specs, results)
        code = self._function("run")(self._handle, pointers_to(given), pointers_to(made))
        if code:
            self._fail(code)
        for pair in self.state:
            if pair.capacity:
                cache: Any = inputs[self.inputs[pair.param].name]
                cache.length = results[pair.result].shape[pair.axis]
        found = {
            spec.name: _cut(array, tensor)
            for spec, array, tensor in zip(specs, results, made, strict=True)
        }
        return found if out is None else {**found, **out}

    def output_shapes(self, shapes: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
        """Return the shapes of outputs from those of inputs, by name: of outputs of which only a
        run finds the size, the most.

        Raises: InputError, ShapeError.
        """
        check_names(self.inputs, shapes)
        given = list[DLTensor]()
        for spec in self.inputs:
            shape = tuple(shapes[spec.name])
            blank = tensor_of(_NOTHING.reshape((0,) * len(shape)), spec.dtype)
            blank.shape = (ctypes.c_int64 * max(1, len(shape)))(*shape)
            given.append(blank)
        found = self._shapes(given)
        return {spec.name: each for spec, each in zip(self.outputs, found, strict=True)}

    def _results(
        self,
        specs: Sequence[TensorSpec],
        inputs: Mapping[str, Any],
        arrays: Sequence[NDArray[Any]],
        out: Mapping[str, Any] | None,
    ) -> list[NDArray[Any]]:
        """Return memory for the outputs: that of the caller, of an input, or new memory."""
        state = {pair.result: self.inputs[pair.param].name for pair in self.state}
        memory = [
            (spec.name, (memory_of(inputs[spec.name]), array))
            for spec, array in zip(self.inputs, arrays, strict=True)
        ]
        results = output_arrays(specs, out, memory, state)
        for pair in self.state:
            if pair.capacity:
                length, name = specs[pair.result].extents[pair.axis], state[pair.result]
                if length > pair.capacity:
                    raise ShapeError(
                        f"the cache {name!r} is full: output {specs[pair.result].name!r} has "
                        f"{length} rows along axis {pair.axis}, and there is room for "
                        f"{pair.capacity}"
                    )
                results[pair.result] = rows_of(inputs[name].array, pair.axis, length)
        return results

    def _tensors(
        self, specs: Sequence[TensorSpec], arrays: Sequence[NDArray[Any]]
    ) -> list[DLTensor]:
        return [tensor_of(array, spec.dtype) for spec, array in zip(specs, arrays, strict=True)]

    def _shapes(self, given: Sequence[DLTensor]) -> list[tuple[int, ...]]:
        ranks = [len(spec.shape) for spec in self.outputs]
        rows = [(ctypes.c_int64 * max(1, rank))() for rank in ranks]
        table = (ctypes.c_void_p * max(1, len(rows)))(*map(ctypes.addressof, rows))
        code = self._function("output_shapes")(self._handle, pointers_to(given), table)
        if code:
            self._fail(code)
        return [tuple(row[:rank]) for row, rank in zip(rows, ranks, strict=True)]

    def _function(self, verb: str, result: Any = ctypes.c_int) -> Any:
        try:
            found = self._library[f"{self.name}_{verb}"]
        except AttributeError:
            raise FormatError(
                f"the library {self.path!r} has no function {self.name}_{verb}",
                hint="Give the prefix of its functions: load_library(path, name=...), as "
                "irkit compile --name did.",
            ) from None
        found.restype = result
        return found

    def _rows(self, counted: str, verb: str, kind: Any) -> list[Any]:
        function = self._function(verb, ctypes.POINTER(kind))
        return [function(at).contents for at in range(self._function(f"{counted}_count")())]

    def _described(self, verb: str) -> tuple[TensorSpec, ...]:
        return tuple(
            TensorSpec(
                row.name.decode(),
                tuple(
                    row.symbols[axis].decode() if row.shape[axis] < 0 else row.shape[axis]
                    for axis in range(row.ndim)
                ),
                row.dtype.text,
            )
            for row in self._rows(verb, verb, Described)
        )

    def _fail(self, code: int) -> NoReturn:
        """Raise what an error of the library is in Python."""
        message = self._function("error", ctypes.c_char_p)().decode(errors="replace")
        if code == _NO_MEMORY:
            raise MemoryError(message)
        if code == _NO_WEIGHTS:
            raise FormatError(message)
        raise (ShapeError if code == _BAD_ARGUMENT else IRKitError)(message)

    def __repr__(self) -> str:
        return f"<LibraryModel {self.name} of {self.path}>"


def _checked(spec: TensorSpec, given: Any, pair: StatePair | None) -> NDArray[Any]:
    if pair is None:
        return check_input(spec, given)
    return cache_input(spec, given, pair) if pair.capacity else state_input(spec, given)


def _cut(array: NDArray[Any], tensor: DLTensor) -> NDArray[Any]:
    """Return an output at the size that the run has found."""
    shape = tuple(tensor.shape[: array.ndim])
    if shape == array.shape:
        return array
    return array.reshape(-1)[: math.prod(shape)].reshape(shape).copy()
