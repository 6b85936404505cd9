"""A model in a shared library, through its C interface."""

import ctypes
import os
import re
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from irkit.codegen import TensorSpec, c_prefix
from irkit.core import FormatError, IRKitError, ShapeError
from irkit.graph import StatePair
from irkit.ir import array_type
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
from irkit.runtime.model_arrays import Cache
from irkit.runtime.model_calls import ModelCalls

_NAMES = re.compile(r"[^\W\d]\w*")
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


class LibrarySizes:
    """The sizes of a call of a library: its inputs as it takes them, and its outputs."""

    def __init__(self, given: Sequence[DLTensor], outputs: Sequence[TensorSpec]) -> None:
        self.given, self.outputs = given, outputs

    def new_outputs(self) -> list[NDArray[Any]]:
        """Return new memory for each output."""
        return [np.empty(each.extents, array_type(each.dtype)) for each in self.outputs]


class LibraryModel(ModelCalls[LibrarySizes]):
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
        outputs = self._described("output")
        dims = {
            row.name.decode(): (row.least, row.most) for row in self._rows("dim", "dim_number", Dim)
        }
        state = [
            StatePair(row.input, row.output, row.axis, row.capacity)
            for row in self._rows("state", "state_number", StateRow)
        ]
        measured = [spec.name for spec in outputs if not _sizes_named(spec) <= dims.keys()]
        self.describe(self._described("input"), outputs, dims, state, measured)
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
        return self.run_in_full(inputs, out)

    def sizes_of(self, arrays: Sequence[NDArray[Any]]) -> "LibrarySizes":
        """Ask the library for the sizes of a call."""
        given = self._tensors(self.inputs, arrays)
        shapes = self._shapes(given)
        return LibrarySizes(
            given,
            [
                TensorSpec(spec.name, shape, spec.dtype)
                for spec, shape in zip(self.outputs, shapes, strict=True)
            ],
        )

    def compute(
        self, arrays: Sequence[NDArray[Any]], results: Sequence[NDArray[Any]], sizes: "LibrarySizes"
    ) -> Sequence[tuple[int, ...]]:
        """Run the model, and return the shapes of its outputs."""
        made = self._tensors(sizes.outputs, results)
        code = self._function("run")(self._handle, pointers_to(sizes.given), pointers_to(made))
        if code:
            self._fail(code)
        return [tuple(each.shape[: array.ndim]) for each, array in zip(made, results, strict=True)]

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


def _sizes_named(spec: TensorSpec) -> set[str]:
    """Return the names in the extents of an output: of dimensions, or of what only a run finds."""
    texts = [each for each in spec.shape if isinstance(each, str)]
    return {name for text in texts for name in _NAMES.findall(text)} - {"min", "max"}
