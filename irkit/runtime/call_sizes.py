"""The sizes of a call: dimensions bound by the shapes of inputs and checked, and what the emitted
arithmetic computes from them."""

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.codegen import SIZES, ExecutorPlan, Size, TensorSpec, refusal
from irkit.core import ShapeError
from irkit.ir import array_type
from irkit.runtime.jit import Library
from irkit.runtime.numpy_layout import address_of

KEPT = 64
"""Sizes of calls that are kept: the next call of the same sizes computes nothing."""


class CallSizes:
    """Sizes of one call: the ``table`` that the executor reads and its ``address``, the bytes of
    its arena and those of arena and outputs together.

    An output with a dimension that the run measures has its largest shape here.
    """

    def __init__(self, program: "SizeProgram", table: NDArray[np.int64]) -> None:
        self._program = program
        self.table = table
        self.address = address_of(table)
        self._numbers = numbers = [*table.tolist(), *program.constants]
        self.arena_bytes, self.memory = numbers[program.arena_bytes], numbers[program.memory]
        self.layouts = [
            (tuple([numbers[at] for at in places]), dtype) for places, dtype in program.layouts
        ]

    def of_run(self) -> "CallSizes":
        """Return these sizes with a table of their own, for a run that stores measured sizes."""
        return CallSizes(self._program, self.table.copy())

    def values(self) -> dict[str, int]:
        """Return all sizes by name, as the table has them now."""
        return dict(zip(self._program.index, self.table.tolist(), strict=False))

    def store(self, values: Mapping[str, int]) -> None:
        """Store sizes that were measured."""
        for name, value in values.items():
            at = self._program.index[name]
            self.table[at] = self._numbers[at] = value

    def size(self, size: Size) -> int:
        """Return the value of a size."""
        return size if isinstance(size, int) else self._numbers[self._program.index[size]]

    def at(self, place: int) -> int:
        """Return the size at a place of the table, or of the constants behind it."""
        return self._numbers[place]

    def _shape(self, spec: TensorSpec) -> tuple[int, ...]:
        return tuple([self.size(dim) for dim in spec.shape])

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """Return the outputs with their shapes."""
        outputs = self._program.outputs
        return tuple(TensorSpec(each.name, self._shape(each), each.dtype) for each, _ in outputs)

    def new_outputs(self) -> list[NDArray[Any]]:
        """Return new memory for each output."""
        return [np.empty(shape, dtype) for shape, dtype in self.layouts]


class SizeProgram:
    """The arithmetic of a plan on sizes, as native code of ``library``."""

    def __init__(self, plan: ExecutorPlan, library: Library | None) -> None:
        self.plan = plan
        self._library = library  # It owns the code.
        self._compute: Callable[..., int] | None = None
        if library is not None and plan.dims:
            prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
            self._compute = prototype(library.address(SIZES))
        self.index = {name: at for at, name in enumerate(plan.size_names)}
        roomy = [
            TensorSpec(spec.name, plan.capacities.get(number, spec.shape), spec.dtype)
            for number, spec in enumerate(plan.outputs)
        ]
        self.outputs = [(spec, array_type(spec.dtype)) for spec in roomy]
        dims = {dim.name for dim in plan.dims}
        self._bindings = [
            (number, axis, self.index[dim])
            for number, spec in enumerate(plan.inputs)
            for axis, dim in enumerate(spec.shape)
            if isinstance(dim, str) and dim in dims
        ]
        self.constants: list[int] = []
        """Numbers that stand behind the table, so that each size has a place."""
        self.arena_bytes, self.memory = self._place(plan.arena_bytes), self._place(plan.memory)
        self.layouts = [
            (tuple([self._place(dim) for dim in spec.shape]), dtype) for spec, dtype in self.outputs
        ]
        bound = {(number, axis) for number, axis, _ in self._bindings}
        self._unbound = [
            (number, axis, self._place(dim))
            for number, spec in enumerate(plan.inputs)
            for axis, dim in enumerate(spec.shape)
            if (number, axis) not in bound
        ]
        self._kept: dict[tuple[tuple[int, ...], ...], CallSizes] = {}
        self._rest = [0] * (max(1, len(self.index)) - len(plan.dims))
        self._lock = threading.Lock()

    def _place(self, size: Size) -> int:
        """Return where a size is, in the table and the constants behind it."""
        if isinstance(size, str):
            return self.index[size]
        self.constants.append(size)
        return max(1, len(self.index)) + len(self.constants) - 1

    def known(self, shapes: tuple[tuple[int, ...], ...]) -> CallSizes | None:
        """Return the sizes of a call with inputs of these shapes if they are kept."""
        return self._kept.get(shapes)

    def of(self, arrays: Sequence[NDArray[Any]]) -> CallSizes:
        """Return the sizes of a call with these inputs, whose ranks are those declared.

        Raises: ShapeError for a dimension in which two inputs disagree, one outside its range, an
        input of another shape, or sizes that need too much memory.
        """
        shapes = tuple([array.shape for array in arrays])
        found = self.known(shapes)  # These shapes have passed all checks.
        if found is None:
            found = self._checked(arrays)
            with self._lock:
                if len(self._kept) >= KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[shapes] = found
        return found

    def _checked(self, arrays: Sequence[NDArray[Any]]) -> CallSizes:
        found = self._sizes(self._bound(arrays))
        self._check_shapes(arrays, found)
        if found.memory > self.plan.memory_limit:
            raise ShapeError(
                f"{self._at(found)}a call needs {found.memory} bytes for its outputs and "
                f"intermediate values: more than the limit of {self.plan.memory_limit}",
                hint="Pass memory_limit= to irkit.compile for another limit.",
            )
        return found

    def _bound(self, arrays: Sequence[NDArray[Any]]) -> list[int]:
        """Return the sizes of the dimensions, in their order."""
        sizes = [-1] * len(self.plan.dims)
        for number, axis, at in self._bindings:
            size = arrays[number].shape[axis]
            if sizes[at] != size:
                if sizes[at] >= 0:
                    self._refuse_disagreement(number, axis, at, size, sizes[at])
                sizes[at] = size
        for at, (dim, size) in enumerate(zip(self.plan.dims, sizes, strict=True)):
            if not dim.least <= size <= dim.most:
                where = next(self._where(k, axis) for k, axis, each in self._bindings if each == at)
                raise ShapeError(
                    f"{where} is {size}, but {dim.name!r} must be from {dim.least} to {dim.most}",
                    hint="The model was compiled for this range: see shapes= of irkit.compile.",
                )
        return sizes

    def _refuse_disagreement(self, number: int, axis: int, at: int, size: int, known: int) -> None:
        first = next(self._where(k, axis) for k, axis, each in self._bindings if each == at)
        raise ShapeError(
            f"{self._where(number, axis)} is {size}, but {self.plan.dims[at].name!r} is {known}, "
            f"from {first}"
        )

    def _where(self, number: int, axis: int) -> str:
        return f"dimension {axis} of input {self.plan.inputs[number].name!r}"

    def _sizes(self, dims: Sequence[int]) -> CallSizes:
        table = np.array([*dims, *self._rest], np.int64)
        bad = self._compute(address_of(table)) if self._compute is not None else 0
        found = CallSizes(self, table)
        if bad:
            raise ShapeError(f"{self._at(found)}{refusal(self.plan.sizes[bad - 1])}")
        return found

    def _at(self, sizes: CallSizes) -> str:
        listed = ", ".join(f"{dim.name} = {sizes.size(dim.name)}" for dim in self.plan.dims)
        return f"with {listed}, " if listed else ""

    def _check_shapes(self, arrays: Sequence[NDArray[Any]], sizes: CallSizes) -> None:
        """Check what no dimension binds: numbers, and dimensions that are computed."""
        for number, axis, place in self._unbound:
            found = arrays[number].shape
            if found[axis] != sizes.at(place):
                spec = self.plan.inputs[number]
                wanted = tuple(map(sizes.size, spec.shape))
                raise ShapeError(f"input {spec.name!r} must have shape {wanted}, found {found}")
