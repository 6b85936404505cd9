"""Calls of a model with arrays as it reads them, checked in a microsecond or two.

The quick check knows only what needs no thought: contiguous arrays of NumPy of the exact type, in
shapes that an earlier call was fully checked with. It refuses more than the full check, never less,
and what it refuses goes there: it has no messages of its own.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_size_t
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from irkit.codegen import ExecutorPlan, TensorSpec
from irkit.ir import array_type
from irkit.runtime.arenas import Arenas
from irkit.runtime.call_sizes import CallSizes, SizeProgram
from irkit.runtime.numpy_layout import DATA, address_of


class FailedRun(Exception):
    """The status and the sizes of a run that failed."""

    def __init__(self, status: int, sizes: CallSizes) -> None:
        super().__init__(status)
        self.status, self.sizes = status, sizes


class PreparedCall:
    """A call of a model that was checked once, on arrays that it keeps.

    Each call reads the inputs as they are now, overwrites the outputs, and returns them by name: so
    one thread calls it at a time. ``inputs`` and ``outputs`` are the arrays; they are kept while
    the call is, and must not be resized.
    """

    def __init__(
        self,
        calls: "QuickCalls",
        inputs: Mapping[str, NDArray[Any]],
        outputs: Mapping[str, NDArray[Any]],
        sizes: CallSizes,
        fail: Callable[[int, CallSizes], NoReturn],
    ) -> None:
        self.inputs, self.outputs = dict(inputs), dict(outputs)
        self._sizes, self._fail = sizes, fail  # A method of the model, which it keeps alive.
        self._run, self._arenas = calls.run, calls.arenas
        places = (address_of(each) for each in self.inputs.values())
        targets = (address_of(each) for each in self.outputs.values())
        self._read, self._written = calls.input_table(*places), calls.output_table(*targets)
        self._params_at, self._bytes = calls.params_at, sizes.arena_bytes
        self._sizes_at = sizes.address

    def __call__(self) -> dict[str, NDArray[Any]]:
        """Compute the outputs. Raises: IRKitError and its kinds, as ``Model.run`` for a failure."""
        arena = self._arenas.take(self._bytes)
        try:
            status = self._run(
                self._read, self._written, self._params_at, arena.address, self._sizes_at
            )
        finally:
            self._arenas.give_back(arena)
        if status:
            self._fail(status, self._sizes)
        return self.outputs


class QuickCalls:
    """Checks and runs the calls of a model that writes over no input and measures no size.

    What most calls do is written out in one function: a call of a function in Python takes as long
    as all checks of an array.
    """

    def __init__(
        self,
        plan: ExecutorPlan,
        run: Callable[..., int],
        params_at: int,
        sizes: SizeProgram,
        arenas: Arenas,
    ) -> None:
        self.run, self.params_at, self.arenas = run, params_at, arenas
        self._inputs, self._outputs = _kinds(plan.inputs), _kinds(plan.outputs)
        self._names = [name for name, _ in self._outputs]
        self.input_table, self.output_table = _packer(plan.inputs), _packer(plan.outputs)
        self._sizes_of = sizes.known
        self._count = -1 if plan.state or plan.measured else len(plan.inputs)

    def __call__(
        self, inputs: Mapping[str, Any], out: Mapping[str, Any] | None
    ) -> dict[str, Any] | None:
        """Return the outputs; None if the call has to be checked in full, before anything is run.

        Raises: FailedRun.
        """
        given: Any = inputs
        if type(given) is not dict or len(inputs) != self._count:
            return None
        shapes: list[tuple[int, ...]] = []
        places: list[int] = []
        held: list[Any] = []  # Another thread may take an array out of the mapping meanwhile.
        for name, dtype in self._inputs:
            array = inputs.get(name)
            # The flag of arrays that can be written too: one look for contiguous and aligned.
            if type(array) is not np.ndarray or array.dtype is not dtype or not array.flags.carray:
                return None
            held.append(array)
            shapes.append(array.shape)
            places.append(c_size_t.from_address(id(array) + DATA).value)
        sizes = self._sizes_of(tuple(shapes))
        if sizes is None:
            return None
        results: list[NDArray[Any]] | None = []
        if out is None:
            for shape, dtype in sizes.layouts:
                results.append(np.empty(shape, dtype))
        else:
            results = self._given(out, sizes, inputs, places)
            if results is None:
                return None
        targets: list[int] = []
        for array in results:
            targets.append(c_size_t.from_address(id(array) + DATA).value)  # noqa: PERF401 -- a comprehension is a call
        arena = self.arenas.take(sizes.arena_bytes)
        try:
            status = self.run(
                self.input_table(*places),
                self.output_table(*targets),
                self.params_at,
                arena.address,
                sizes.address,
            )
        finally:
            self.arenas.give_back(arena)
        if status:
            raise FailedRun(status, sizes)
        return dict(zip(self._names, results, strict=False))

    def prepared(
        self,
        inputs: Mapping[str, Any],
        out: Mapping[str, Any],
        fail: Callable[[int, CallSizes], NoReturn],
    ) -> PreparedCall | None:
        """Return a call on these arrays, of shapes that were checked; None if they are not read and
        written in place. ``fail`` raises the error of a status."""
        arrays = {name: inputs[name] for name, _ in self._inputs if name in inputs}
        if self._count < 0 or len(arrays) != len(self._inputs):
            return None
        for (_, dtype), array in zip(self._inputs, arrays.values(), strict=True):
            if type(array) is not np.ndarray or array.dtype is not dtype or not array.flags.carray:
                return None
        sizes = self._sizes_of(tuple([each.shape for each in arrays.values()]))
        places = [address_of(each) for each in arrays.values()]
        if sizes is None or self._given(out, sizes, arrays, places) is None:
            return None
        return PreparedCall(self, arrays, {name: out[name] for name in self._names}, sizes, fail)

    def _given(
        self,
        out: Mapping[str, Any],
        sizes: CallSizes,
        inputs: Mapping[str, Any],
        places: Sequence[int],
    ) -> list[NDArray[Any]] | None:
        """Return the caller's arrays for all outputs; None if one needs the full check."""
        wanted: Any = out
        if type(wanted) is not dict or len(out) != len(self._outputs):
            return None
        found: list[NDArray[Any]] = []
        taken = [
            (at, at + inputs[name].nbytes)
            for at, (name, _) in zip(places, self._inputs, strict=True)
        ]
        for (name, dtype), (shape, _) in zip(self._outputs, sizes.layouts, strict=True):
            array = out.get(name)
            if type(array) is not np.ndarray or array.dtype is not dtype:
                return None
            if array.shape != shape or not array.flags.carray:
                return None
            begin = c_size_t.from_address(id(array) + DATA).value
            end = begin + array.nbytes
            for first, last in taken:
                if begin < last and first < end:
                    return None
            taken.append((begin, end))
            found.append(array)
        return found


def _kinds(specs: Sequence[TensorSpec]) -> list[tuple[str, np.dtype[Any]]]:
    return [(spec.name, array_type(spec.dtype)) for spec in specs]


def _packer(specs: Sequence[TensorSpec]) -> Callable[..., bytes]:
    """Return the function that writes a table of addresses, which is never empty."""
    return struct.Struct(f"={len(specs)}Q").pack if specs else _no_addresses


def _no_addresses() -> bytes:
    return bytes(8)
