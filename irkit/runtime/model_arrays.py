"""Arrays of a call of a model: inputs, outputs in memory of the caller, DLPack.

NumPy exchanges memory by DLPack without a copy: ``numpy.from_dlpack`` reads tensors of other
libraries here, and they read NumPy's arrays.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from irkit.codegen import Size, TensorSpec
from irkit.core import DTypeError, InputError, ShapeError
from irkit.graph import StatePair
from irkit.ir import array_type, plain_array, read_only_hint

# Devices of DLPack whose memory the processor reads, as NumPy accepts them.
_HOST_DEVICES = frozenset({1, 3, 11, 13})
_DEVICES = {2: "CUDA", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 14: "oneAPI", 15: "WebGPU"}


class Cache:
    """State that grows along an axis, such as the keys of a transformer: an array with room for a
    capacity, of which the first ``length`` rows are in use. A run of a model appends rows.
    """

    def __init__(self, array: NDArray[Any], length: int = 0) -> None:
        self.array, self.length = array, length


def memory_of(given: Any) -> Any:
    """Return what a caller gave, of a cache its array."""
    return given.array if isinstance(given, Cache) else given


def check_names(specs: Sequence[TensorSpec], inputs: Mapping[str, object]) -> None:
    """Raise InputError for an input that is missing or unknown, DTypeError without names."""
    names = [spec.name for spec in specs]
    if not isinstance(inputs, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DTypeError(
            f"inputs must map names to arrays, found {type(inputs).__name__}; "
            f"the names are: {', '.join(names) or 'none'}"
        )
    unknown = [name for name in inputs if name not in names]
    missing = [name for name in names if name not in inputs]
    if unknown or missing:
        problems = [f"input {name!r} is missing" for name in missing[:1]]
        problems += [f"{name!r} is not an input" for name in unknown[:1]]
        listed = ", ".join(names) or "none"
        raise InputError(f"{' and '.join(problems)}; the inputs are: {listed}")


def cache_input(spec: TensorSpec, given: object, pair: StatePair) -> NDArray[Any]:
    """Return the rows of a cache that are in use, as a view of the caller's memory.

    Raises: DTypeError or ShapeError if it is no cache, or not as the model declares.
    """
    label = f"input {spec.name!r}"
    if not isinstance(given, Cache):
        raise DTypeError(
            f"{label} must be an irkit.Cache, found {type(given).__name__}",
            hint=f"irkit.Cache(array) with room for {pair.capacity} along axis {pair.axis}.",
        )
    axis = pair.axis
    room = (*spec.shape[:axis], pair.capacity, *spec.shape[axis + 1 :])
    whole = TensorSpec(spec.name, room, spec.dtype)
    array = _written_array(whole, given.array, f"the array of {label}")
    if not 0 <= given.length <= pair.capacity:
        raise ShapeError(f"{label} has a length of {given.length}, expected 0 to {pair.capacity}")
    return rows_of(array, axis, given.length)


def rows_of(array: NDArray[Any], axis: int, length: int) -> NDArray[Any]:
    """Return the first rows of an array along an axis."""
    return array[(slice(None),) * axis + (slice(0, length),)]


_NO_STATE: Mapping[int, str] = {}


def state_input(spec: TensorSpec, given: object) -> NDArray[Any]:
    """Return an input that an output is written over: the caller's own memory, never a copy.

    Raises: DTypeError or ShapeError if it is not as the model declares, or cannot be written.
    """
    return _written_array(spec, given, f"input {spec.name!r}, which is written over,")


def check_input(spec: TensorSpec, given: ArrayLike) -> NDArray[Any]:
    """Return an input as a contiguous array, without a copy where it is one.

    Raises: DTypeError or ShapeError if it is not as the model declares.
    """
    if type(given) is np.ndarray and given.dtype == array_type(spec.dtype):
        flags = given.flags
        if flags.c_contiguous and flags.aligned and _fits(given.shape, spec.shape):
            return given
    label = f"input {spec.name!r}"
    array = given_array(given, label)
    _check_kind(spec, array, label)
    return np.require(array, requirements=["C", "A"])


def given_array(given: ArrayLike, label: str) -> NDArray[Any]:
    """Return what a caller gave as an array, read through DLPack if it is another library's.

    Raises: ShapeError if it is none; DTypeError as DLPack does.
    """
    try:
        array = shared_array(given, label)
        return np.asarray(given) if array is None else array
    except ValueError as error:
        raise ShapeError(f"{label} is not an array: {error}") from error


def output_arrays(
    specs: Sequence[TensorSpec],
    out: Mapping[str, Any] | None,
    inputs: Iterable[tuple[str, Sequence[Any]]],
    state: Mapping[int, str] = _NO_STATE,
) -> list[NDArray[Any]]:
    """Return memory for each output: that of the caller where ``out`` names it, else new memory.

    ``inputs`` pairs the name of each input with what the caller gave and what the model reads.
    ``state`` has the numbers of outputs that are written over an input, with its name.
    Raises: InputError for a name that is no output, or one of ``state``; DTypeError or ShapeError
    if an array is not as the model declares, or shares memory with an input or another output.
    """
    given = _by_name(specs, {} if out is None else out)
    taken = [(f"input {name!r}", each) for name, both in inputs for each in both]
    kept = {number: _state_array(name, taken) for number, name in state.items()}
    for number, name in state.items():
        if specs[number].name in given:
            raise InputError(
                f"output {specs[number].name!r} is written over input {name!r}: out cannot name it"
            )
    arrays = [
        _written_array(spec, given[spec.name], f"output {spec.name!r}")
        if spec.name in given
        else (kept[number] if number in kept else np.empty(spec.extents, array_type(spec.dtype)))
        for number, spec in enumerate(specs)
    ]
    for spec, array in zip(specs, arrays, strict=True):
        if spec.name in given:
            _check_overlap(f"output {spec.name!r}", array, taken)
            taken.append((f"output {spec.name!r}", array))
    return arrays


def copy_outputs(
    found: Mapping[str, NDArray[Any]],
    out: Mapping[str, Any] | None,
    inputs: Iterable[tuple[str, Sequence[Any]]] = (),
) -> dict[str, Any]:
    """Return outputs, of which those that ``out`` names are copied to the arrays given there.

    Raises: as ``output_arrays`` does, before anything is copied.
    """
    if out is None:
        return dict(found)
    specs = [TensorSpec(name, made.shape, str(made.dtype)) for name, made in found.items()]
    for spec, array in zip(specs, output_arrays(specs, out, inputs), strict=True):
        if spec.name in out:
            array[...] = found[spec.name]
    return {**found, **out}


def _state_array(name: str, taken: Sequence[tuple[str, Any]]) -> NDArray[Any]:
    """Return the memory of an input that is written over, which no other input may share."""
    label = f"input {name!r}"
    own: list[Any] = [memory for other, memory in taken if other == label]
    others = [each for each in taken if each[0] != label]
    for array in map(plain_array, own):
        if array is not None:
            _check_overlap(label, array, others)
    return own[-1]


def _check_overlap(label: str, array: NDArray[Any], taken: Iterable[tuple[str, Any]]) -> None:
    for other, memory in taken:
        if isinstance(memory, np.ndarray) and np.may_share_memory(array, memory):  # pyright: ignore[reportUnknownArgumentType]
            raise ShapeError(
                f"{label} is written and overlaps {other}",
                hint="Pass an array with its own memory.",
            )


def _by_name(specs: Sequence[TensorSpec], out: Mapping[str, Any]) -> Mapping[str, Any]:
    names = [spec.name for spec in specs]
    listed = ", ".join(names) or "none"
    if not isinstance(out, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DTypeError(
            f"out must map names to arrays, found {type(out).__name__}; the names are: {listed}"
        )
    for name in out:
        if name not in names:
            raise InputError(f"{name!r} is not an output; the outputs are: {listed}")
    return out


def _written_array(spec: TensorSpec, given: object, label: str) -> NDArray[Any]:
    """Return the memory of an array of the caller that is written."""
    array: NDArray[Any] | None = plain_array(given)
    if array is None:
        array = shared_array(given, label)
    if array is None:
        raise DTypeError(f"{label} must be a NumPy array to write to, found {type(given).__name__}")
    _check_kind(spec, array, label)
    if not array.flags.writeable:
        raise ShapeError(f"{label} is read-only", hint=read_only_hint(given))
    if not array.flags.c_contiguous:
        raise ShapeError(
            f"{label} must be contiguous in row-major order, found byte strides {array.strides} "
            f"for shape {array.shape}",
            hint="numpy.empty makes such an array; copy from it where you need other strides.",
        )
    if not array.flags.aligned:
        raise ShapeError(
            f"{label} must be aligned to {array.itemsize} bytes, found address "
            f"{array.ctypes.data:#x}",
            hint="A new array is aligned to its element type.",
        )
    return array


def _check_kind(spec: TensorSpec, array: NDArray[Any], label: str) -> None:
    dtype = array_type(spec.dtype)
    if array.dtype != dtype:
        raise DTypeError(f"{label} must be of type {dtype}, found {array.dtype}")
    if not _fits(array.shape, spec.shape):
        listed = ", ".join(map(str, spec.shape)) + "," * (len(spec.shape) == 1)
        raise ShapeError(f"{label} must have shape ({listed}), found {array.shape}")


def _fits(shape: tuple[int, ...], declared: tuple[Size, ...]) -> bool:
    """Return True if a shape has the rank and the numbers that are declared."""
    if shape == declared:
        return True
    if len(shape) != len(declared):
        return False
    for wanted, size in zip(declared, shape, strict=True):
        if wanted != size and isinstance(wanted, int):
            return False
    return True


def shared_array(value: object, label: str) -> NDArray[Any] | None:
    """Return the memory of a tensor of another library as an array; None if it has no DLPack.

    Raises: DTypeError if it is on a device, or NumPy cannot show it.
    """
    tensor: Any = value
    if isinstance(value, (np.ndarray, np.generic)) or not hasattr(value, "__dlpack__"):
        return None
    try:
        kind, number = tensor.__dlpack_device__()
        if int(kind) not in _HOST_DEVICES:
            name = _DEVICES.get(int(kind), f"of DLPack's kind {int(kind)}")
            raise DTypeError(
                f"{label} is on device {name} {number}; expected memory of the CPU",
                hint="Copy it to the CPU first.",
            )
        return np.from_dlpack(tensor)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, DTypeError):
            raise
        raise DTypeError(f"{label} cannot be read through DLPack: {error}") from error
