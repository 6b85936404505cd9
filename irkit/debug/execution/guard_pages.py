"""Call native code on arrays that lie between pages which nobody may touch.

An access beyond the end of an array is a SIGSEGV when the array ends where its page ends, and one
before its start when it begins where a page begins; so code runs on both. Bytes that are left over
on the other side of the array are filled, and a write there is told after the call.
"""

import ctypes
import mmap
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from irkit.codegen import OUT_OF_MEMORY, assertions, record_size, symbol
from irkit.core import IRKitError
from irkit.ir import Buffer, PrimFunc, Var, numpy_dtype, shape_vars
from irkit.runtime import Library, link

Flush = Literal["end", "start"]
PAGE = mmap.PAGESIZE
_FILL = 0xFE  # Floats of it are enormous, integers large and negative.
_FILLS = 64  # Each array has its own, so that a copy of what lies beside another one shows.
_NO_ACCESS = 0


class GuardedPages:
    """Some pages between two that nobody may touch."""

    def __init__(self, pages: int) -> None:
        self.pages, self.size = pages, pages * PAGE
        self._memory = mmap.mmap(-1, self.size + 2 * PAGE)
        whole = np.frombuffer(self._memory, np.uint8)
        self.base = whole.ctypes.data + PAGE
        self.bytes: NDArray[np.uint8] = whole[PAGE : PAGE + self.size]
        for at in (self.base - PAGE, self.base + self.size):
            _forbid(at)

    def untouched(self, begin: int, end: int, fill: int) -> bool:
        """Say whether all bytes but those of a range are as they were."""
        return bool((self.bytes[:begin] == fill).all() and (self.bytes[end:] == fill).all())


def _forbid(address: int) -> None:
    if sys.platform == "win32":
        return  # What is written beside an array is found even so.
    if _libc().mprotect(ctypes.c_void_p(address), ctypes.c_size_t(PAGE), _NO_ACCESS):
        raise OSError(ctypes.get_errno(), "mprotect failed")


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


class GuardedArray:
    """An array in a slot, flush with one end of it; ``number`` is that of the parameter."""

    def __init__(
        self, slot: GuardedPages, given: NDArray[Any], align: int, flush: Flush, number: int = 0
    ) -> None:
        spans = sum((n - 1) * s for n, s in zip(given.shape, given.strides, strict=True))
        size = spans + given.itemsize if given.size else 0
        self.slot, self.fill = slot, _FILL - number % _FILLS
        slot.bytes.fill(self.fill)
        self.begin = 0 if flush == "start" else (slot.size - size) // align * align
        self.end = self.begin + size
        inner = slot.bytes[self.begin : self.end]
        if not given.size:
            self.array: NDArray[Any] = given
        elif given.flags.c_contiguous:
            self.array = inner.view(given.dtype).reshape(given.shape)
            self.array[...] = given
        else:
            self.array = np.lib.stride_tricks.as_strided(
                inner.view(given.dtype), given.shape, given.strides
            )
            self.array[...] = given

    @property
    def address(self) -> int:
        """Return where the first element is."""
        return self.slot.base + self.begin

    @property
    def untouched(self) -> bool:
        """Say whether the bytes beside the array are as they were."""
        return self.slot.untouched(self.begin, self.end, self.fill)


class GuardedMemory:
    """Slots that are used again and again: to make one takes longer than a call."""

    def __init__(self) -> None:
        self._free: dict[int, list[GuardedPages]] = {}

    @contextmanager
    def placing(
        self, func: PrimFunc, args: Sequence[Any], flush: Flush
    ) -> Generator[dict[int, GuardedArray]]:
        """Put the arrays of a call into slots, for as long as the block runs."""
        placed: dict[int, GuardedArray] = {}
        try:
            for at, param in enumerate(func.params):
                if isinstance(param, Buffer):
                    array = np.asarray(args[at])
                    align = max(array.itemsize, param.align)
                    slot = self._slot(1 + (_reach(array) - 1) // PAGE)
                    placed[at] = GuardedArray(slot, array, align, flush, at)
            yield placed
        finally:
            for each in placed.values():
                self._free[each.slot.pages].append(each.slot)

    def _slot(self, pages: int) -> GuardedPages:
        pages = 1 << max(0, pages - 1).bit_length()
        free = self._free.setdefault(pages, [])
        return free.pop() if free else GuardedPages(pages)


def _reach(array: NDArray[Any]) -> int:
    return sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)) + (
        array.itemsize if array.size else 0
    )


class GuardedKernel:
    """Native code of a function, called without the checks of arguments that a kernel has."""

    def __init__(self, func: PrimFunc, image: bytes) -> None:
        self.func = func
        self.library: Library = link([image], [symbol(func.name)])
        self.shapes = shape_vars(func)
        self.record = record_size(func)
        kinds = [_kind(param) for param in func.params] + [ctypes.c_int64] * len(self.shapes)
        kinds += [ctypes.c_void_p] * (self.record > 0)
        address = self.library.address(symbol(func.name))
        self._call: Any = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(address)

    def __call__(self, yard: GuardedMemory, args: Sequence[Any], flush: Flush) -> list[Any]:
        """Run on copies of the arguments and return them, as they are left.

        Raises: IRKitError if an assertion fails, memory runs out, or something beside an array
        was written.
        """
        with yard.placing(self.func, args, flush) as placed:
            given: list[Any] = [
                placed[at].address if at in placed else _scalar(param, args[at])
                for at, param in enumerate(self.func.params)
            ]
            given += [_size_of(self.func, var, args) for var in self.shapes]
            given += [None] * (self.record > 0)
            status = self._call(*given)
            if status:
                raise IRKitError(_failure(self.func, status))
            for at, each in placed.items():
                if not each.untouched:
                    name = self.func.params[at].name
                    raise IRKitError(f"the native code writes outside of {name!r}")
            return [
                placed[at].array.copy() if at in placed else value for at, value in enumerate(args)
            ]


_WHOLE = {8: ctypes.c_int8, 16: ctypes.c_int16, 32: ctypes.c_int32, 64: ctypes.c_int64}


def _kind(param: Buffer | Var) -> Any:
    if isinstance(param, Buffer):
        return ctypes.c_void_p
    if param.dtype.is_float and param.dtype.bits > 16:
        return ctypes.c_float if param.dtype.bits == 32 else ctypes.c_double
    return _WHOLE[8 if param.dtype.is_bool else param.dtype.bits]


def _scalar(param: Buffer | Var, value: Any) -> Any:
    if param.dtype.is_float and param.dtype.bits == 16:
        return int(np.asarray(value, numpy_dtype(param.dtype)).view(np.int16))
    return value


def _size_of(func: PrimFunc, var: Var, args: Sequence[Any]) -> int:
    """Find the dimension or stride that a variable of the shapes stands for."""
    for param, arg in zip(func.params, args, strict=True):
        if not isinstance(param, Buffer):
            continue
        for dim, size in zip(param.shape, arg.shape, strict=True):
            if dim is var:
                return int(size)
        for step, size in zip(param.strides or (), arg.strides, strict=False):
            if step is var:
                return int(size) // int(arg.itemsize)
    raise AssertionError(f"{var.name} is a shape variable of no parameter")


def _failure(func: PrimFunc, status: int) -> str:
    if status == OUT_OF_MEMORY:
        return "the native code found no memory for its buffers"
    return f"assertion {status} fails: {assertions(func)[status - 1].message}"
