"""A compiled model: native code, parameters, and the checks of its inputs."""

import ctypes
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from statistics import median
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from irkit.codegen import (
    BAD_SIZE,
    ENTRY,
    OUT_OF_MEMORY,
    SIZES,
    ForeignKernel,
    measured_refusal,
    symbol,
    undefined_state,
)
from irkit.core import ALIGNMENT, IRKitError, ShapeError
from irkit.ir import PrimFunc
from irkit.runtime.arenas import Arenas, aligned
from irkit.runtime.call_sizes import CallSizes, SizeProgram
from irkit.runtime.jit import Library
from irkit.runtime.model_arrays import Cache, output_arrays
from irkit.runtime.model_calls import ModelCalls
from irkit.runtime.numpy_layout import address_of
from irkit.runtime.object_loader.imported_functions import imported
from irkit.runtime.packages import (
    PackageContents,
    contents_of,
    package_bytes,
    target_mismatch,
    with_others,
    write_package,
)
from irkit.runtime.pool import link, num_threads
from irkit.runtime.profiles.profile import ModelProfile
from irkit.runtime.profiles.timed_calls import Addresses, TimedCalls, timed
from irkit.runtime.quick_call import FailedRun, PreparedCall, QuickCalls
from irkit.transform import Trace

if TYPE_CHECKING:
    from irkit.runtime.specialised.specialised_model import Compiled

_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 5)


class Model(ModelCalls[CallSizes]):
    """A compiled model: the executor, its parameters, and an arena for each call.

    Concurrent calls do not share an arena. ``trace`` has every step of the compilation if the model
    was compiled here and not loaded.

    A model never changes, so a copy is the model itself. A pickle holds the bytes of the package
    that ``save`` writes, and no trace; reading it checks the package and links its code, as
    ``load`` does, and runs none of it. So a pickle is as trusted as any other, and no less than a
    package.
    """

    def __init__(
        self,
        contents: PackageContents,
        trace: Callable[[], Trace] | None = None,
        functions: Callable[[], Sequence[PrimFunc]] = tuple,
        foreign: Sequence[ForeignKernel] = (),
    ) -> None:
        self.plan = plan = contents.plan
        self.foreign = tuple(foreign)
        """The kernels of backends, if the model was compiled to C source."""
        self.target = contents.target
        self._make_trace, self._make_functions = trace, functions
        self._params = _aligned_params(contents)
        self._params_at = address_of(self._params)
        # Weights are large: where they were copied, keep only the copy.
        params = self._params.data.toreadonly()
        self.contents = msgspec.structs.replace(contents, params=params)
        is_source = contents.target.kind == "c"
        self._target_mismatch = "it is C source" if is_source else target_mismatch(contents.target)
        self._library = None if self._target_mismatch else self._linked()
        self._run: Callable[..., int] = (
            self._refuse if self._library is None else _ENTRY(self._library.address(ENTRY))
        )
        self._sizes = SizeProgram(plan, self._library)
        self._arenas = Arenas()
        self._quick = QuickCalls(plan, self._run, self._params_at, self._sizes, self._arenas)
        self.describe(
            plan.inputs,
            plan.outputs,
            {dim.name: (dim.least, dim.most) for dim in plan.dims},
            plan.state,
            [plan.outputs[number].name for number in plan.capacities],
        )

    @cached_property
    def functions(self) -> tuple[PrimFunc, ...]:
        """The lowered kernels, if the model was compiled here: what C source is made of."""
        return tuple(self._make_functions())

    @cached_property
    def _trace(self) -> Trace | None:
        return None if self._make_trace is None else self._make_trace()

    @property
    def trace(self) -> Trace:
        """Return the steps of the compilation: graph passes, then the phases of each function.

        Steps of kernels that were not recorded are taken again, once. Raises: IRKitError if the
        model was loaded from a package, or compiled without a trace.
        """
        if self._trace is None:
            raise IRKitError(
                "this model has no trace: it was loaded from a package, or compiled without one",
                hint="Compile it with irkit.compile(path), or load the trace file.",
            )
        return self._trace

    @property
    def specialisations(self) -> "tuple[Compiled, ...]":
        """Return the shapes and values that the model was compiled for at a call; there are none if
        it was compiled for all calls."""
        return ()

    def save(self, path: "str | os.PathLike[str]", *, also: Sequence["Model"] = ()) -> None:
        """Write a package that ``irkit.load`` reads.

        ``also`` are the same model for other targets: loading takes, of those that the machine can
        run, the one that needs most of its features. Weights that are equal are stored once.
        An older file is replaced only when the new one is complete.
        Raises: IRKitError if the model was compiled to C source, or ``also`` has another model.
        """
        if self.target.kind == "c":
            raise IRKitError(
                "a package holds native code, and this model is C source",
                hint="Write its sources: irkit.runtime.write_sources(model, folder).",
            )
        write_package(path, with_others(self.contents, [each.contents for each in also]))

    def run(
        self, inputs: Mapping[str, ArrayLike | Cache], *, out: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Compute all outputs, by name.

        Shapes and types are those of ``inputs`` and ``outputs`` of the plan. Inputs are not
        changed, except those in ``state`` of the plan, over which an output is written.
        Tensors of other libraries are read through DLPack. An output that ``out`` names is written
        to the array given there, which is then the one returned; the others are new arrays.

        Raises: InputError (a ValueError) for a missing or unknown name, ShapeError (a ValueError)
        and DTypeError (a TypeError), all before anything is run; IRKitError if the model is for
        another machine.
        """
        try:
            found = self._quick(inputs, out)
        except FailedRun as failed:
            status, sizes = failed.status, failed.sizes
        else:
            return self.run_in_full(inputs, out) if found is None else found
        return self._fail(status, sizes)

    def prepare(
        self, inputs: Mapping[str, NDArray[Any]], *, out: Mapping[str, Any] | None = None
    ) -> PreparedCall:
        """Check and run a call once, and return it to be run again, without arguments, on the same
        inputs as they are by then, and to the arrays in ``out``, or to new ones that it keeps.

        Raises: what ``run`` does; IRKitError if an array is not contiguous, writeable, NumPy's and
        of the exact type, or if the model writes over inputs or measures its sizes.
        """
        made = None
        if not self.plan.state and not self.plan.measured:
            results = self.run(inputs, out=out)
            made = self._quick.prepared(inputs, results, self._fail)
        if made is None:
            raise IRKitError(
                "this call cannot be prepared: that takes a model without state or measured sizes, "
                "and contiguous, writeable arrays of NumPy of the exact types",
                hint="Use run, or numpy.ascontiguousarray.",
            )
        return made

    def sizes_of(self, arrays: Sequence[NDArray[Any]]) -> CallSizes:
        """Return the sizes of a call with these inputs, those that the run stores among them."""
        if self._library is None:
            self._refuse()
        sizes = self._sizes.of(arrays)
        return sizes.of_run() if self.plan.measured else sizes

    def compute(
        self, arrays: Sequence[NDArray[Any]], results: Sequence[NDArray[Any]], sizes: CallSizes
    ) -> Sequence[tuple[int, ...]]:
        """Run the model, and return the shapes of its outputs."""
        arena = self._arenas.take(sizes.arena_bytes)
        try:
            status = self._run(
                _table(arrays),
                _table(results),
                self._params_at,
                arena.address,
                sizes.address,
            )
        finally:
            self._arenas.give_back(arena)
        if status:
            self._fail(status, sizes)
        if not self.plan.measured:
            return [array.shape for array in results]
        known = sizes.values()
        return [spec.at_sizes(known).extents for spec in self.plan.outputs]

    def profile(self, inputs: Mapping[str, ArrayLike | Cache], *, runs: int = 10) -> ModelProfile:
        """Measure what each kernel takes, over some runs after two that warm up.

        Raises: what ``run`` raises; IRKitError if ``runs`` is less than 1.
        """
        if runs < 1:
            raise IRKitError(f"a profile needs at least 1 run, found {runs}")
        inputs = self._apart(inputs)
        lengths = {n: each.length for n, each in inputs.items() if isinstance(each, Cache)}
        self.run(inputs)  # It warms up, and refuses wrong inputs.
        whole = median([timed(partial(self._run_from, lengths, inputs)) for _ in range(runs)])
        _shorten(inputs, lengths)
        arrays = self.checked_inputs(inputs)
        sizes = self._sizes.of(arrays).of_run()
        named = zip(self.plan.inputs, arrays, strict=True)
        read = ((spec.name, (array,)) for spec, array in named)
        results = output_arrays(sizes.outputs, None, read, self._state_names)
        self.grow_caches(inputs, sizes, results)
        symbols = {symbol(call.kernel) for call in self.plan.calls}
        arena = self._arenas.take(sizes.arena_bytes)
        try:
            addresses: Addresses = {
                "input": [array.ctypes.data for array in arrays],
                "output": [array.ctypes.data for array in results],
                "param": self._params.ctypes.data,
                "arena": arena.address,
            }
            library = self._link(symbols)
            calls = TimedCalls(self.plan, library, addresses, sizes)
            for number in range(runs + 1):
                status = calls.run(keep=number > 0)
                if status:
                    self._fail(status, sizes)
        finally:
            self._arenas.give_back(arena)
        return ModelProfile(calls.result(), whole, num_threads(), self.target.cpu)

    def __copy__(self) -> "Model":
        return self

    def __deepcopy__(self, memo: object) -> "Model":
        return self

    def __reduce__(self) -> tuple[Callable[[bytes], "Model"], tuple[bytes]]:
        return _unpickled, (package_bytes(self.contents),)

    def _linked(self) -> Library:
        return self._link((ENTRY, *[SIZES] * bool(self.plan.dims)))

    def _link(self, symbols: Iterable[str]) -> Library:
        imports = imported(self.plan.imports)
        return link(self.contents.objects, symbols, self.contents.pool, imports)

    def _refuse(self, *tables: object) -> int:
        raise IRKitError(f"the model cannot run on this machine: {self._target_mismatch}")

    def _fail(self, status: int, sizes: CallSizes) -> NoReturn:
        if status < 0:
            raise IRKitError(measured_refusal(self.plan, -status, sizes.values()))
        number = (status >> 32) - 1
        call, state = self.plan.calls[number], undefined_state(self.plan, number)
        own = ctypes.c_int32(status).value
        kernel = f"kernel {call.kernel!r}, for {call.node!r},"
        if own == OUT_OF_MEMORY:
            raise MemoryError(f"{kernel} could not allocate its buffers{state}")
        if own == BAD_SIZE:
            raise ShapeError(
                f"{kernel} has a size that 64 bits do not hold for {sizes.values()}{state}"
            )
        messages = self.plan.messages.get(call.kernel, ())
        if not 0 < own <= len(messages):  # Code of a backend can return anything.
            raise IRKitError(
                f"{kernel} returned {own}; expected 0, or {OUT_OF_MEMORY} without memory{state}"
            )
        why = messages[own - 1]
        raise IRKitError(f"{kernel} stopped at assertion {own} of its code: {why}{state}")

    def _run_from(self, lengths: Mapping[str, int], inputs: Mapping[str, Any]) -> None:
        """Run with caches of these lengths."""
        _shorten(inputs, lengths)
        self.run(inputs)

    def _apart(self, inputs: Mapping[str, ArrayLike | Cache]) -> Mapping[str, ArrayLike | Cache]:
        """Return inputs with copies of those that are written over, so that all runs are alike."""
        names = set(self._state_names.values())
        return {name: _copied(given) if name in names else given for name, given in inputs.items()}


def _aligned_params(contents: PackageContents) -> NDArray[Any]:
    """Return parameters where they lie, such as in a file that is mapped, or an aligned copy."""
    given = np.frombuffer(contents.params, dtype=np.uint8)
    if given.ctypes.data % ALIGNMENT == 0:
        return given
    made = aligned(contents.plan.param_bytes)
    made[:] = given
    return made


def _shorten(inputs: Mapping[str, Any], lengths: Mapping[str, int]) -> None:
    for name, length in lengths.items():
        inputs[name].length = length


def _copied(given: Any) -> Any:
    if isinstance(given, Cache):
        return Cache(np.array(given.array, order="C"), given.length)
    return np.array(given, order="C")


def _unpickled(data: bytes) -> Model:
    return Model(contents_of(data, "the pickled model"))


def _table(arrays: Sequence[NDArray[Any]]) -> "ctypes.Array[ctypes.c_void_p]":
    return (ctypes.c_void_p * max(1, len(arrays)))(*map(address_of, arrays))
