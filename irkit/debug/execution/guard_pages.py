"""Calls of native code on arrays that lie between protected pages.

An access beyond the end of an array is a SIGSEGV if the array ends where its page ends, and one
before its start if it begins where a page begins; so code is run both ways. The bytes left over at
the other end of the array are filled, and a write there is found after the call.
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

from irkit.codegen import BAD_SIZE, OUT_OF_MEMORY, assertions, record_size, symbol
from irkit.core import IRKitError, ShapeError
from irkit.ir import Buffer, MemoryLimit, OutOfBounds, PrimFunc, Var, numpy_dtype, shape_vars
from irkit.runtime import Library, link

Flush = Literal["end", "start", "inside"]
"""Where an array lies in its pages; ``inside`` leaves a page free at either end, where reads and
writes go unnoticed."""
PAGE = mmap.PAGESIZE
_FILL = 0xFE  # As floats these bytes are huge, as integers large and negative.
_FILLS = 64  # Fill values differ by array, so that bytes copied from beside another are noticed.
_NO_ACCESS = 0


class GuardedPages:
    """Pages between two protected ones."""

    def __init__(self, pages: int) -> None:
        self.pages, self.size = pages, pages * PAGE
        self._memory = mmap.mmap(-1, self.size + 2 * PAGE)
        whole = np.frombuffer(self._memory, np.uint8)
        self.base = whole.ctypes.data + PAGE
        self.bytes: NDArray[np.uint8] = whole[PAGE : PAGE + self.size]
        for at in (self.base - PAGE, self.base + self.size):
            _forbid(at)

    def untouched(self, begin: int, end: int, fill: int) -> bool:
        """Return True if all bytes outside a range still have the fill value."""
        return bool((self.bytes[:begin] == fill).all() and (self.bytes[end:] == fill).all())


def _forbid(address: int) -> None:
    if sys.platform == "win32":
        return  # Writes beside an array are still found by the fill value.
    if _libc().mprotect(ctypes.c_void_p(address), ctypes.c_size_t(PAGE), _NO_ACCESS):
        raise OSError(ctypes.get_errno(), "mprotect failed")


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


class GuardedArray:
    """An array at one end of guarded pages; ``number`` is the position of its parameter."""

    def __init__(
        self, region: GuardedPages, given: NDArray[Any], align: int, flush: Flush, number: int = 0
    ) -> None:
        size = _byte_span(given)
        self.region, self.fill = region, _FILL - number % _FILLS
        region.bytes.fill(self.fill)
        last = (region.size - size) // align * align
        self.begin = {"start": 0, "end": last, "inside": min(PAGE, last)}[flush]
        self.guarded = flush != "inside"
        self.end = self.begin + size
        inner = region.bytes[self.begin : self.end]
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
        """Return the address of the first element."""
        return self.region.base + self.begin

    @property
    def untouched(self) -> bool:
        """Return True if the bytes beside the array are unchanged, or not looked at."""
        return not self.guarded or self.region.untouched(self.begin, self.end, self.fill)


class GuardedMemory:
    """Guarded pages that are reused: making them takes longer than a call."""

    def __init__(self) -> None:
        self._free: dict[int, list[GuardedPages]] = {}

    @contextmanager
    def place(
        self, func: PrimFunc, args: Sequence[Any], flush: Flush
    ) -> Generator[dict[int, GuardedArray]]:
        """Place the arrays of a call into guarded pages for the duration of the block."""
        placed: dict[int, GuardedArray] = {}
        try:
            for at, param in enumerate(func.params):
                if isinstance(param, Buffer):
                    array = np.asarray(args[at])
                    align = max(array.itemsize, param.align)
                    free = 2 * (flush == "inside")
                    region = self._region(1 + free + (_byte_span(array) - 1) // PAGE)
                    placed[at] = GuardedArray(region, array, align, flush, at)
            yield placed
        finally:
            for each in placed.values():
                self._free[each.region.pages].append(each.region)

    def _region(self, pages: int) -> GuardedPages:
        pages = 1 << max(0, pages - 1).bit_length()
        free = self._free.setdefault(pages, [])
        return free.pop() if free else GuardedPages(pages)


def _byte_span(array: NDArray[Any]) -> int:
    if not array.size:
        return 0
    last = sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True))
    return last + array.itemsize


class GuardedKernel:
    """Native code of a function, called without the argument checks of a kernel."""

    def __init__(self, func: PrimFunc, image: bytes) -> None:
        self.func = func
        self.library: Library = link([image], [symbol(func.name)])
        self.shapes = shape_vars(func)
        self.record = record_size(func)
        kinds = [_ctype(param) for param in func.params] + [ctypes.c_int64] * len(self.shapes)
        kinds += [ctypes.c_void_p] * (self.record > 0)
        address = self.library.address(symbol(func.name))
        self._call: Any = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(address)

    def __call__(self, memory: GuardedMemory, args: Sequence[Any], flush: Flush) -> list[Any]:
        """Run on copies of the arguments and return the copies.

        Raises: IRKitError if an assertion fails, memory runs out (MemoryLimit), or bytes beside an
        array were written.
        """
        with memory.place(self.func, args, flush) as placed:
            given: list[Any] = [
                placed[at].address if at in placed else _scalar(param, args[at])
                for at, param in enumerate(self.func.params)
            ]
            given += [_size_of(self.func, var, args) for var in self.shapes]
            given += [None] * (self.record > 0)
            status: int = self._call(*given)
            if status == OUT_OF_MEMORY:
                raise MemoryLimit("the native code could not allocate its buffers")
            if status == BAD_SIZE:
                raise ShapeError(f"{self.func.name}: a size would wrap around")
            if status:
                message = assertions(self.func)[status - 1].message
                raise IRKitError(f"assertion {status} fails: {message}")
            for at, each in placed.items():
                if not each.untouched:
                    name = self.func.params[at].name
                    raise OutOfBounds(f"the native code writes outside of {name!r}")
            return [
                placed[at].array.copy() if at in placed else value for at, value in enumerate(args)
            ]


_INTEGERS = {8: ctypes.c_int8, 16: ctypes.c_int16, 32: ctypes.c_int32, 64: ctypes.c_int64}


def _ctype(param: Buffer | Var) -> Any:
    if isinstance(param, Buffer):
        return ctypes.c_void_p
    if param.dtype.is_float and param.dtype.bits > 16:
        return ctypes.c_float if param.dtype.bits == 32 else ctypes.c_double
    return _INTEGERS[8 if param.dtype.is_bool else param.dtype.bits]


def _scalar(param: Buffer | Var, value: Any) -> Any:
    if param.dtype.is_float and param.dtype.bits == 16:
        return int(np.asarray(value, numpy_dtype(param.dtype)).view(np.int16))
    return value


def _size_of(func: PrimFunc, var: Var, args: Sequence[Any]) -> int:
    """Return the value of a shape variable, from the dimension or stride it stands for."""
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
