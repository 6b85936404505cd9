"""Errors of a call: what is wrong with its arguments, after the stub has rejected them."""

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from irkit.codegen import BAD_ARGUMENT, BAD_SIZE, OUT_OF_MEMORY, assertions, written_buffers
from irkit.core import DTypeError, IRKitError, ShapeError
from irkit.ir import (
    Buffer,
    DType,
    Expr,
    PrimFunc,
    Var,
    as_int,
    evaluate,
    exact_value,
    numpy_dtype,
    plain_array,
    read_only_hint,
    size_guard,
)
from irkit.runtime.model_arrays import shared_array


def fail(func: PrimFunc, status: int, args: Sequence[Any], record: Sequence[int] = ()) -> NoReturn:
    """Raise the error that a status stands for; ``record`` is the record of the call."""
    if status == OUT_OF_MEMORY:
        raise MemoryError(f"{func.name} could not allocate its buffers")
    if status == BAD_SIZE:
        explanation = Explanation(func, args)
        explanation.check()
        explanation.check_sizes()
        raise ShapeError(
            f"{func.name}: a buffer that is allocated in a loop has a size that i64 does not hold"
        )
    if status > 0:
        # If several threads fail, the record and the status can come from different ones.
        number = record[0] if record and record[0] else status
        known = assertions(func)
        if number > len(known):  # Code of a backend can return anything.
            raise IRKitError(f"{func.name} returned {status}; expected 0, or -1 without memory")
        broken = known[number - 1]
        values = record[1 : 1 + len(broken.values)] if number == (record or (0,))[0] else ()
        message = broken.described(_as_typed(broken.values, values))
        raise IRKitError(f"{func.name}: {message}", span=broken.span)
    Explanation(func, args).check()
    param = func.params[BAD_ARGUMENT - status]
    raise IRKitError(f"{func.name}: argument {param.name!r} changed while it was checked")


def _as_typed(exprs: Sequence[Expr], values: Sequence[int]) -> list[int]:
    """Convert the i64s of a record to the types of the expressions: u64 is not negative."""
    return [
        value & ((1 << 64) - 1) if expr.dtype.kind == "u" else value
        for expr, value in zip(exprs, values, strict=False)
    ]


def as_arrays(func: PrimFunc, args: Sequence[Any]) -> dict[int, Any]:
    """Return plain arrays for the arguments of which a stub knows nothing, by their places: they
    show the memory of memory-mapped files, and of tensors of other libraries.

    Raises: DTypeError for a tensor on a device.
    """
    found: dict[int, Any] = {}
    for place, (param, given) in enumerate(zip(func.params, args, strict=True)):
        if type(given) is np.memmap:
            found[place] = plain_array(given)
        elif isinstance(param, Buffer):
            found[place] = shared_array(given, Explanation(func, ()).label(place))
    return {place: array for place, array in found.items() if array is not None}


def check_count(func: PrimFunc, args: Sequence[Any]) -> None:
    """Raise DTypeError for too many or too few arguments."""
    if len(args) != len(func.params):
        names = ", ".join(param.name for param in func.params)
        raise DTypeError(
            f"{func.name} takes {len(func.params)} arguments ({names}), found {len(args)}"
        )


def as_scalar(func: PrimFunc, place: int, value: Any) -> int | float:
    """Convert a number to what the stub takes for a scalar parameter.

    Raises: DTypeError if it is of another kind, or its type cannot hold it.
    """
    dtype = func.params[place].dtype
    item: Any = value.item() if getattr(value, "ndim", 1) == 0 else value
    if not _fits(item, dtype):
        label = Explanation(func, ()).label(place)
        raise DTypeError(f"{label} must be a number that {dtype} holds, found {value!r}")
    if dtype.is_float:
        return float(item)
    return int(item) - (1 << 64) if item > (1 << 63) - 1 else int(item)


def _fits(item: object, dtype: DType) -> bool:
    if isinstance(item, bool) or dtype.is_bool:
        return isinstance(item, bool) and dtype.is_bool
    if isinstance(item, float):
        return dtype.is_float
    return isinstance(item, int) and (dtype.is_float or dtype.low <= item <= dtype.high)


class Explanation:
    """Checks of the arguments one by one, like those of the stub, but with error messages."""

    def __init__(self, func: PrimFunc, args: Sequence[Any]) -> None:
        self.func = func
        self.args = args
        self.bound: dict[Var, tuple[int, str]] = {}

    def label(self, place: int) -> str:
        return f"argument {place + 1} ({self.func.params[place].name!r}) of {self.func.name}"

    def check(self) -> None:
        """Raise the error that describes the first invalid argument."""
        outputs = written_buffers(self.func)
        buffers = [
            (place, param)
            for place, param in enumerate(self.func.params)
            if isinstance(param, Buffer)
        ]
        for place, param in enumerate(self.func.params):
            if isinstance(param, Var):
                self.bound[param] = (self.args[place], self.label(place))
        for place, buffer in buffers:
            self._check_array(place, buffer, buffer in outputs)
        for place, buffer in buffers:
            self._bind(place, buffer)
        for place, buffer in buffers:
            self._check_shape(place, buffer)
        if dict(self.func.attrs).get("noalias") is not False:
            self._check_overlap([(place, buffer in outputs) for place, buffer in buffers])

    def check_sizes(self) -> None:
        """Raise ShapeError if a size of the function would wrap around. The arguments are as
        declared."""
        guard = size_guard(self.func)
        values = {var: value for var, (value, _) in self.bound.items()}
        if guard is not None and not evaluate(guard.condition, values):
            raise guard.problem(self.func, values)

    def _check_array(self, place: int, buffer: Buffer, is_output: bool) -> None:
        label, given = self.label(place), self.args[place]
        array = plain_array(given)
        if array is None:
            raise DTypeError(f"{label} must be a NumPy array, found {type(given).__name__}")
        wanted = numpy_dtype(buffer.dtype)
        if array.dtype != wanted:
            raise DTypeError(f"{label} must hold {wanted}, found {array.dtype}")
        if array.ndim != buffer.rank:
            raise ShapeError(
                f"{label} must have {buffer.rank} dimensions, found shape {array.shape}"
            )
        if is_output and not array.flags.writeable:
            raise ShapeError(
                f"{label} is written by the function, but is read-only", hint=read_only_hint(given)
            )
        if buffer.strides is None and not array.flags.c_contiguous:
            raise ShapeError(
                f"{label} must be contiguous in row-major order, found byte strides "
                f"{array.strides} for shape {array.shape}",
                hint="numpy.ascontiguousarray makes a contiguous copy.",
            )
        align = max(buffer.dtype.bytes, buffer.align)
        if array.ctypes.data % align:
            raise ShapeError(
                f"{label} must be aligned to {align} bytes, found address {array.ctypes.data:#x}",
                hint="A copy of the array is aligned to its element type.",
            )

    def _dims(self, place: int, buffer: Buffer) -> list[tuple[Expr, int, str]]:
        """Pair declared dimensions, then strides, with those of the argument."""
        array, label = self.args[place], self.label(place)
        found = [
            (dim, size, f"dimension {axis} of {label}")
            for axis, (dim, size) in enumerate(zip(buffer.shape, array.shape, strict=True))
        ]
        # The strides of an empty array, and of a dimension of one element, mean nothing.
        empty = 0 in array.shape
        for axis, step in enumerate(buffer.strides or ()):
            given, where = array.strides[axis], f"stride {axis} of {label}"
            binds = isinstance(step, Var) and step not in self.bound
            if empty:
                packed = math.prod(max(size, 1) for size in array.shape[axis + 1 :])
                found += [(step, packed, where)] if binds else []
            elif array.shape[axis] > 1 or binds:
                if given < 0 or given % array.itemsize:
                    raise ShapeError(
                        f"{where} is {given} bytes; expected whole elements of "
                        f"{array.itemsize} bytes, and no negative stride"
                    )
                found.append((step, given // array.itemsize, where))
        return found

    def _bind(self, place: int, buffer: Buffer) -> None:
        for dim, size, where in self._dims(place, buffer):
            if isinstance(dim, Var) and dim not in self.bound:
                if not dim.dtype.low <= size <= dim.dtype.high:
                    raise ShapeError(f"{where} is {size}, which {dim.dtype} does not hold")
                self.bound[dim] = (size, where)

    def _check_shape(self, place: int, buffer: Buffer) -> None:
        for dim, size, where in self._dims(place, buffer):
            wanted, why = as_int(dim), ""
            if isinstance(dim, Var):
                wanted, origin = self.bound[dim]
                why = f" = {dim.name}, from {origin}"
            elif wanted is None:
                wanted = self._evaluated(dim)
            if wanted != size:
                raise ShapeError(f"{where} must be {wanted}{why}; found {size}")

    def _evaluated(self, dim: Expr) -> int:
        """Return the exact value of a dimension, which can be one that no array has."""
        values = {var: value for var, (value, _) in self.bound.items()}
        exact = exact_value(dim, values)
        return int(evaluate(dim, values)) if exact is None else exact

    def _check_overlap(self, places: list[tuple[int, bool]]) -> None:
        for index, (place, is_output) in enumerate(places):
            for other, other_is_output in places[:index]:
                first, second = self.args[place], self.args[other]
                if (is_output or other_is_output) and np.may_share_memory(first, second):
                    one, two = (place, other) if is_output else (other, place)
                    raise ShapeError(
                        f"{self.label(one)} is written and overlaps {self.label(two)}",
                        hint="Pass an array with its own memory.",
                    )
