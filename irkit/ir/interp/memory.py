"""Memory of buffers, with shapes and strides in registers; checked loads and stores.

Each access is checked against the shape, dimension by dimension. That a buffer fits into its memory
is checked once, where it is introduced.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRKitError, ShapeError, Span
from irkit.ir.buffer import Buffer
from irkit.ir.dtype import DType
from irkit.ir.interp.machine import RUN, SHARED, MemoryLimit, Operation, Registers, RunLimits
from irkit.ir.numpy_types import numpy_dtype

_ZERO = np.int64(0)
POISON = 0xA5


class OutOfBounds(IRKitError):
    """Raised by an access, or a view, outside of the memory of a buffer."""


class BufferRegisters(msgspec.Struct, frozen=True):
    """Registers of a buffer: its memory, and its shape and strides in elements."""

    name: str
    memory: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    unit: bool  # The innermost stride is known to be 1.


def load_one(
    place: BufferRegisters, indices: Sequence[int], to: int, span: Span | None
) -> Operation:
    """Return the operation that reads one element."""
    memory = place.memory
    if len(indices) == 1 and place.unit:
        (i,), (n,) = indices, place.shape

        def load_flat(r: Registers) -> None:
            at = r[i]
            if not (_ZERO <= at < r[n]):
                raise outside(place, indices, r, span)
            r[to] = r[memory][at]

        return load_flat
    if len(indices) == 2 and place.unit:
        (i, j), (n, m), (step, _) = indices, place.shape, place.strides

        def load_plane(r: Registers) -> None:
            row, column = r[i], r[j]
            if not (_ZERO <= row < r[n] and _ZERO <= column < r[m]):
                raise outside(place, indices, r, span)
            r[to] = r[memory][row * r[step] + column]

        return load_plane

    def load_any(r: Registers) -> None:
        r[to] = r[memory][_offset(place, indices, r, span)]

    return load_any


def store_one(
    place: BufferRegisters, indices: Sequence[int], value: int, span: Span | None
) -> Operation:
    """Return the operation that writes one element."""
    memory = place.memory
    if len(indices) == 1 and place.unit:
        (i,), (n,) = indices, place.shape

        def store_flat(r: Registers) -> None:
            at = r[i]
            if not (_ZERO <= at < r[n]):
                raise outside(place, indices, r, span)
            r[memory][at] = r[value]

        return store_flat
    if len(indices) == 2 and place.unit:
        (i, j), (n, m), (step, _) = indices, place.shape, place.strides

        def store_plane(r: Registers) -> None:
            row, column = r[i], r[j]
            if not (_ZERO <= row < r[n] and _ZERO <= column < r[m]):
                raise outside(place, indices, r, span)
            r[memory][row * r[step] + column] = r[value]

        return store_plane

    def store_any(r: Registers) -> None:
        r[memory][_offset(place, indices, r, span)] = r[value]

    return store_any


def _offset(place: BufferRegisters, indices: Sequence[int], r: Registers, span: Span | None) -> Any:
    at = _ZERO
    for index, size, stride in zip(indices, place.shape, place.strides, strict=True):
        value = r[index]
        if not (_ZERO <= value < r[size]):
            raise outside(place, indices, r, span)
        at += value * r[stride]
    return at


def load_lanes(
    place: BufferRegisters,
    indices: Sequence[int],
    mask: int | None,
    to: int,
    dtype: DType,
    span: Span | None,
) -> Operation:
    """Return the operation that reads several elements, or one under a mask; masked lanes give
    0."""
    memory = place.memory
    lanes = dtype.lanes
    kind = numpy_dtype(dtype)

    def load(r: Registers) -> None:
        live = _live(r, mask, lanes)
        at = _offsets(place, indices, r, live, span)
        result = np.zeros(lanes, kind)
        result[live] = r[memory][at]
        r[to] = result if lanes > 1 else result[0]

    return load


def store_lanes(
    place: BufferRegisters,
    indices: Sequence[int],
    mask: int | None,
    value: int,
    lanes: int,
    span: Span | None,
) -> Operation:
    """Return the operation that writes several elements, or one under a mask.

    If two lanes write the same element, the last one wins.
    """
    memory = place.memory

    def store(r: Registers) -> None:
        live = _live(r, mask, lanes)
        at = _offsets(place, indices, r, live, span)
        r[memory][at] = np.broadcast_to(r[value], (lanes,))[live]

    return store


def _live(r: Registers, mask: int | None, lanes: int) -> Any:
    """Return the numbers of the active lanes."""
    if mask is None:
        return np.arange(lanes)
    return np.flatnonzero(np.broadcast_to(r[mask], (lanes,)))


def _offsets(
    place: BufferRegisters, indices: Sequence[int], r: Registers, live: Any, span: Span | None
) -> Any:
    at = np.zeros(len(live), np.int64)
    chosen: list[Any] = []
    for index, size, stride in zip(indices, place.shape, place.strides, strict=True):
        value = np.asarray(r[index])
        lanes = np.broadcast_to(value, (len(live),)) if value.ndim == 0 else value[live]
        chosen.append(lanes)
        bad = np.flatnonzero((lanes < 0) | (lanes >= r[size]))
        if len(bad):
            raise outside(place, indices, r, span, lane=int(live[bad[0]]))
        at += lanes * r[stride]
    return at


def outside(
    place: BufferRegisters,
    indices: Sequence[int],
    r: Registers,
    span: Span | None,
    lane: int | None = None,
) -> IRKitError:
    """Return the error for an access out of bounds."""

    def one(index: int) -> int:
        value = np.asarray(r[index])
        return int(value if value.ndim == 0 else value[lane or 0])

    at = [one(index) for index in indices]
    shape = [int(r[size]) for size in place.shape]
    where = "" if lane is None else f" in lane {lane}"
    return OutOfBounds(f"{place.name}{at} is out of bounds{where}: the shape is {shape}", span=span)


def reach(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Return the number of elements of memory that a buffer spans."""
    if any(size == 0 for size in shape):
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def row_major(shape: Sequence[int]) -> list[int]:
    """Return the strides of a buffer without gaps, in elements."""
    strides = [1] * len(shape)
    for axis in reversed(range(len(shape) - 1)):
        strides[axis] = strides[axis + 1] * max(shape[axis + 1], 1)
    return strides


def measure(place: BufferRegisters, r: Registers, *, given_strides: bool, span: Span | None) -> int:
    """Read shape and strides, fill in those left out, and return the elements of memory needed."""
    shape = [int(r[size]) for size in place.shape]
    if given_strides:
        strides = [int(r[stride]) for stride in place.strides]
    else:
        strides = row_major(shape)
        # A size beyond i64 is refused by the memory check.
        for register, stride in zip(place.strides, strides, strict=True):
            r[register] = np.int64(min(stride, (1 << 63) - 1))
    if min(shape, default=0) < 0 or min(strides, default=0) < 0:
        raise IRKitError(
            f"buffer {place.name!r} has negative sizes: shape {shape}, strides {strides}",
            span=span,
        )
    return reach(shape, strides)


def settle(place: BufferRegisters, buffer: Buffer, *, label: str, span: Span | None) -> Operation:
    """Return the operation that checks the array of a parameter against its whole shape; ``label``
    names the parameter in errors."""

    def check(r: Registers) -> None:
        array, shape = r[place.memory], [int(r[size]) for size in place.shape]
        for axis, (size, found) in enumerate(zip(shape, array.shape, strict=True)):
            if size != found:
                raise ShapeError(
                    f"dimension {axis} of {label} must be {size}; found {found}", span=span
                )
        measure(place, r, given_strides=buffer.strides is not None, span=span)
        r[place.memory] = _flat(array)

    return check


def _flat(array: Any) -> Any:
    """Return a flat view of the memory that an array spans; its strides are not negative."""
    if array.flags.c_contiguous:
        return array.reshape(-1)
    size = array.itemsize
    length = reach(array.shape, [stride // size for stride in array.strides])
    return np.lib.stride_tricks.as_strided(
        array, (length,), (size,), writeable=array.flags.writeable
    )


def allocate(
    place: BufferRegisters, dtype: DType, *, given_strides: bool, shared: bool, span: Span | None
) -> Operation:
    """Return the operation that allocates memory and fills it with poison: NaN, or a bit
    pattern."""
    kind = numpy_dtype(dtype)

    def take(r: Registers) -> None:
        run: RunLimits = r[RUN]
        group = r[SHARED] if shared else None
        needed = measure(place, r, given_strides=given_strides, span=span)
        if group is not None and place.memory in group:
            r[place.memory] = group[place.memory]
            return
        run.bytes_left -= needed * kind.itemsize
        if run.bytes_left < 0:
            raise MemoryLimit(
                f"buffer {place.name!r} needs {needed * kind.itemsize} bytes, more than are left "
                f"of {run.max_bytes}",
                hint="Give interpret a larger max_bytes.",
                span=span,
            )
        r[place.memory] = poisoned(needed, dtype)
        if group is not None:
            group[place.memory] = r[place.memory]

    return take


def release(place: BufferRegisters, *, shared: bool) -> Operation:
    """Return the operation that frees memory."""

    def give(r: Registers) -> None:
        if not (shared and r[SHARED] is not None):
            r[RUN].bytes_left += r[place.memory].nbytes
            r[place.memory] = None

    return give


def poisoned(size: int, dtype: DType) -> Any:
    """Return memory whose use is conspicuous: NaN for floats, bytes 0xA5 for integers, true for
    bools."""
    kind = numpy_dtype(dtype)
    if dtype.is_float:
        return np.full(size, np.nan, kind)
    if dtype.is_bool:
        return np.ones(size, kind)
    return np.full(size * kind.itemsize, POISON, np.uint8).view(kind)


def view(
    place: BufferRegisters, source: int, offset: int, *, given_strides: bool, span: Span | None
) -> Operation:
    """Return the operation that views memory under another shape, from an offset on."""

    def look(r: Registers) -> None:
        needed = measure(place, r, given_strides=given_strides, span=span)
        memory, start = r[source], int(r[offset])
        if start < 0 or start + needed > len(memory):
            raise OutOfBounds(
                f"view {place.name!r} covers elements {start} to {start + needed} of memory that "
                f"has {len(memory)}",
                span=span,
            )
        r[place.memory] = memory[start : start + needed]

    return look


def touched_elements(
    r: Registers, place: BufferRegisters, indices: list[int], masks: list[int], lanes: int
) -> list[tuple[int, tuple[int, ...], int]]:
    """Return the offset, the indices and the lane of each element that an access touches; an access
    out of bounds fails by itself."""
    columns = [lanes_of(r[index], lanes) for index in indices]
    live = [lanes_of(r[mask], lanes) for mask in masks]
    shape = [int(r[size]) for size in place.shape]
    strides = [int(r[stride]) for stride in place.strides]
    found: list[tuple[int, tuple[int, ...], int]] = []
    for lane in range(lanes):
        if not all(mask[lane] for mask in live):
            continue
        at = tuple([int(column[lane]) for column in columns])
        if all(0 <= one < size for one, size in zip(at, shape, strict=True)):
            offset = sum([one * step for one, step in zip(at, strides, strict=True)])
            found.append((offset, at, lane))
    return found


def lanes_of(value: Any, lanes: int) -> Any:
    """Return the values of a register in each lane."""
    return np.broadcast_to(np.asarray(value), (lanes,))
