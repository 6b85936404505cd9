"""A call of a model in full: what is checked, the memory of outputs, and state.

The same for a model that was compiled here or loaded from a package, and for one in a shared
library: they differ in what computes the sizes of a call, and what runs it. Messages of both are
those of this module and of ``model_arrays``, which checks arrays; what only native code finds is
refused by it.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from irkit.codegen import TensorSpec
from irkit.core import ShapeError
from irkit.graph import StatePair
from irkit.ir import array_type
from irkit.runtime.model_arrays import (
    Cache,
    cache_input,
    check_input,
    check_names,
    copy_outputs,
    memory_of,
    output_arrays,
    rows_of,
    state_input,
)

Extents = tuple[int, ...]


class OutputSizes(Protocol):
    """The sizes of one call."""

    @property
    def outputs(self) -> Sequence[TensorSpec]:
        """The outputs with their shapes, or the most room for those that only the run knows."""
        ...

    def new_outputs(self) -> list[NDArray[Any]]:
        """Return new memory for each output."""
        ...


SizesT = TypeVar("SizesT", bound=OutputSizes)


class ModelCalls(ABC, Generic[SizesT]):
    """Base class of what runs a model: ``inputs`` and ``outputs`` describe its tensors, with names
    for extents that only a call knows; ``dims`` has the least and the most of each dimension that
    it decides, and ``state`` the outputs that are written over inputs."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    dims: Mapping[str, tuple[int, int]]
    state: tuple[StatePair, ...]

    def describe(
        self,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        dims: Mapping[str, tuple[int, int]],
        state: Sequence[StatePair],
        measured: Sequence[str],
    ) -> None:
        """Set what the model takes and gives; ``measured`` names outputs of which only the run
        finds the size."""
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.dims, self.state = MappingProxyType(dict(dims)), tuple(state)
        self._measured = frozenset(measured)
        self._input_names = {spec.name: spec for spec in inputs}.keys()
        self._written = {pair.param: pair for pair in self.state}
        self._state_names = {pair.result: self.inputs[pair.param].name for pair in self.state}

    @abstractmethod
    def sizes_of(self, arrays: Sequence[NDArray[Any]]) -> SizesT:
        """Return the sizes of a call with inputs whose ranks and types are those declared.

        Raises: ShapeError.
        """

    @abstractmethod
    def compute(
        self, arrays: Sequence[NDArray[Any]], results: Sequence[NDArray[Any]], sizes: SizesT
    ) -> Sequence[Extents]:
        """Run the model, and return the shapes of the outputs that it has found.

        Raises: MemoryError; IRKitError if it stops.
        """

    def run_in_full(
        self, inputs: Mapping[str, ArrayLike | Cache], out: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Check all inputs in full, and compute the outputs, by name.

        Raises: InputError, ShapeError and DTypeError, all before anything is run; MemoryError;
        IRKitError if the model stops.
        """
        arrays = self.checked_inputs(inputs)
        sizes = self.sizes_of(arrays)
        direct, later = self._apart_measured(out)
        named = zip(self.inputs, arrays, strict=True)
        read = [(spec.name, (memory_of(inputs[spec.name]), array)) for spec, array in named]
        if direct is None and not self.state:
            results = sizes.new_outputs()
        else:
            results = output_arrays(sizes.outputs, direct, read, self._state_names)
            self.grow_caches(inputs, sizes, results)
        shapes = self.compute(arrays, results, sizes)
        for pair in self.state:
            if pair.capacity:
                cache: Any = inputs[self.inputs[pair.param].name]
                cache.length = results[pair.result].shape[pair.axis]
        made = {
            spec.name: _cut(array, shape) if spec.name in self._measured else array
            for spec, array, shape in zip(self.outputs, results, shapes, strict=True)
        }
        if later is not None:
            return copy_outputs({**made, **(direct or {})}, later, read)
        return made if out is None else {**made, **out}

    def output_shapes(self, shapes: Mapping[str, Sequence[int]]) -> dict[str, Extents]:
        """Return the shapes of outputs from those of inputs, by name: of outputs of which only a
        run finds the size, the most.

        Raises: InputError, ShapeError.
        """
        check_names(self.inputs, shapes)
        arrays = [_without_memory(spec, tuple(shapes[spec.name])) for spec in self.inputs]
        return {spec.name: spec.extents for spec in self.sizes_of(arrays).outputs}

    def checked_inputs(self, inputs: Mapping[str, ArrayLike | Cache]) -> list[NDArray[Any]]:
        """Return the inputs as arrays, in order.

        Raises: InputError, ShapeError, DTypeError.
        """
        plain: Any = inputs
        if type(plain) is not dict or plain.keys() != self._input_names:
            check_names(self.inputs, inputs)
        return [
            self._checked(spec, inputs[spec.name], self._written.get(at))
            for at, spec in enumerate(self.inputs)
        ]

    def _checked(self, spec: TensorSpec, given: Any, pair: StatePair | None) -> NDArray[Any]:
        if pair is None:
            return check_input(spec, given)
        return cache_input(spec, given, pair) if pair.capacity else state_input(spec, given)

    def grow_caches(
        self, inputs: Mapping[str, Any], sizes: SizesT, results: list[NDArray[Any]]
    ) -> None:
        """Extend the results that are caches by the rows of the call.

        Raises: ShapeError if there is no room for them; then nothing is written.
        """
        for pair in self.state:
            if pair.capacity:
                spec, name = sizes.outputs[pair.result], self._state_names[pair.result]
                length = spec.extents[pair.axis]
                if length > pair.capacity:
                    raise ShapeError(
                        f"the cache {name!r} is full: output {spec.name!r} has {length} rows along "
                        f"axis {pair.axis}, and there is room for {pair.capacity}"
                    )
                results[pair.result] = rows_of(inputs[name].array, pair.axis, length)

    def _apart_measured(
        self, out: Mapping[str, Any] | None
    ) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
        """Return the outputs that a run writes to arrays of the caller, and those whose size it
        measures: they are copied there once that is known."""
        names = self._measured
        if out is None or not names or not isinstance(out, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may pass anything
            return out, None
        direct = {name: array for name, array in out.items() if name not in names}
        return direct, {name: array for name, array in out.items() if name in names}


def _without_memory(spec: TensorSpec, shape: Extents) -> NDArray[Any]:
    """Return an array of a shape, all of whose elements are one."""
    if len(shape) != len(spec.shape):
        raise ShapeError(f"input {spec.name!r} must have {len(spec.shape)} axes, found {shape}")
    try:
        return np.broadcast_to(np.zeros((), array_type(spec.dtype)), shape)
    except ValueError as error:
        raise ShapeError(f"input {spec.name!r} cannot have shape {shape}: {error}") from None


def _cut(array: NDArray[Any], shape: Extents) -> NDArray[Any]:
    """Return an output at the size that the run has found."""
    part = array.reshape(-1)[: math.prod(shape)].reshape(shape)
    # A small part would keep all of the room alive.
    return part if 2 * part.size >= array.size else part.copy()
