"""The sizes of a call: dimensions bound by the shapes of inputs and checked, and what the emitted
arithmetic computes from them."""

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.codegen import SIZES, ExecutorPlan, Size, TensorSpec, refusal
from irkit.core import ShapeError
from irkit.runtime.jit import Library

KEPT = 64
"""Sizes of calls that are kept: the next call of the same sizes computes nothing."""


class CallSizes(msgspec.Struct, frozen=True, eq=False):
    """Sizes of one call: the table that the executor reads, the bytes of its arena and those of
    arena and outputs together, the outputs with their shapes, and the table by name.

    An output with a dimension that the run measures has its largest shape here."""

    table: NDArray[np.int64]
    arena_bytes: int
    memory: int
    outputs: tuple[TensorSpec, ...]
    values: dict[str, int]

    @property
    def address(self) -> int:
        """Return the address of the table."""
        return self.table.ctypes.data

    def of_run(self) -> "CallSizes":
        """Return these sizes with a table of their own, for a run that stores measured sizes."""
        return msgspec.structs.replace(self, table=self.table.copy(), values=dict(self.values))

    def size(self, size: Size) -> int:
        """Return the value of a size."""
        return size if isinstance(size, int) else self.values[size]


class SizeProgram:
    """The arithmetic of a plan on sizes, as native code of ``library``."""

    def __init__(self, plan: ExecutorPlan, library: Library | None) -> None:
        self.plan = plan
        self._library = library  # It owns the code.
        self._compute: Callable[..., int] | None = None
        if library is not None and plan.dims:
            prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
            self._compute = prototype(library.address(SIZES))
        self._names = plan.size_names
        self._dims = {dim.name for dim in plan.dims}
        self._kept: dict[tuple[int, ...], CallSizes] = {}
        self._lock = threading.Lock()
        self._constant = self._sizes(()) if not plan.dims else None

    def of(self, arrays: Sequence[NDArray[Any]]) -> CallSizes:
        """Return the sizes of a call with these inputs, whose ranks are those declared.

        Raises: ShapeError for a dimension in which two inputs disagree, one outside its range, an
        input of another shape, or sizes that need too much memory.
        """
        found = self._of_dimensions(arrays) if self._constant is None else self._constant
        if found.memory > self.plan.memory_limit:
            raise ShapeError(
                f"{self._at(found)}a call needs {found.memory} bytes for its outputs and "
                f"intermediate values: more than the limit of {self.plan.memory_limit}",
                hint="Pass memory_limit= to irkit.compile for another limit.",
            )
        return found

    def measured(self, sizes: CallSizes) -> dict[str, int]:
        """Return all sizes after a run, by name."""
        return dict(zip(self._names, map(int, sizes.table), strict=False))

    def _of_dimensions(self, arrays: Sequence[NDArray[Any]]) -> CallSizes:
        dims = self._bound(arrays)
        with self._lock:
            found = self._kept.get(dims)
        if found is None:
            found = self._sizes(dims)
            with self._lock:
                if len(self._kept) >= KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[dims] = found
        self._check_shapes(arrays, found)
        return found

    def _bound(self, arrays: Sequence[NDArray[Any]]) -> tuple[int, ...]:
        """Return the sizes of the dimensions, in their order."""
        found: dict[str, tuple[int, str]] = {}
        for spec, array in zip(self.plan.inputs, arrays, strict=True):
            for axis, (dim, size) in enumerate(zip(spec.shape, array.shape, strict=True)):
                if dim not in self._dims:
                    continue
                name = str(dim)
                known = found.setdefault(name, (size, f"dimension {axis} of input {spec.name!r}"))
                if known[0] != size:
                    raise ShapeError(
                        f"dimension {axis} of input {spec.name!r} is {size}, but {name!r} is "
                        f"{known[0]}, from {known[1]}"
                    )
        for dim in self.plan.dims:
            size, where = found[dim.name]
            if not dim.least <= size <= dim.most:
                raise ShapeError(
                    f"{where} is {size}, but {dim.name!r} must be from {dim.least} to {dim.most}",
                    hint="The model was compiled for this range: see shapes= of irkit.compile.",
                )
        return tuple(found[dim.name][0] for dim in self.plan.dims)

    def _sizes(self, dims: tuple[int, ...]) -> CallSizes:
        plan = self.plan
        table = np.zeros(max(1, len(self._names)), np.int64)
        table[: len(dims)] = dims
        bad = self._compute(table.ctypes.data) if self._compute is not None else 0
        values = dict(zip(self._names, map(int, table), strict=False))
        arena, memory = (
            size if isinstance(size, int) else values[size]
            for size in (plan.arena_bytes, plan.memory)
        )
        outputs = tuple(
            msgspec.structs.replace(spec, shape=plan.capacities.get(number, spec.shape)).at_sizes(
                values
            )
            for number, spec in enumerate(plan.outputs)
        )
        found = CallSizes(table, arena, memory, outputs, values)
        if bad:
            raise ShapeError(f"{self._at(found)}{refusal(plan.sizes[bad - 1])}")
        return found

    def _at(self, sizes: CallSizes) -> str:
        listed = ", ".join(f"{dim.name} = {sizes.values[dim.name]}" for dim in self.plan.dims)
        return f"with {listed}, " if listed else ""

    def _check_shapes(self, arrays: Sequence[NDArray[Any]], sizes: CallSizes) -> None:
        """Check what no dimension binds: numbers, and dimensions that are computed."""
        for spec, array in zip(self.plan.inputs, arrays, strict=True):
            wanted = tuple(map(sizes.size, spec.shape))
            if array.shape != wanted:
                raise ShapeError(
                    f"input {spec.name!r} must have shape {wanted}, found {array.shape}"
                )
