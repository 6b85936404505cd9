"""CUDA by its driver, ``libcuda``, which comes with the driver of the card; no toolkit is needed.

The driver compiles PTX for the card that is there. Calls are made in the primary context of the
first device, which other libraries use too, and wait for the card where data comes back.
"""

import ctypes
import os
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cache
from typing import Any

from irkit.core import IRKitError
from irkit.runtime.device.driver import Driver, NoDevice

_LIBRARY = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"
_WHAT_RUNS = (
    "A machine with an NVIDIA card and its driver runs it; kernel.source() and "
    "kernel.source('host') are for nvcc, kernel.source('ptx') for ptxas or the driver."
)
_Pointer = ctypes.c_uint64
_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
LEGACY_STREAM = 1
"""The number of the default stream, for DLPack and for the driver; 2 is that of each thread."""


class CUDALibrary:
    """The functions of the driver, which return 0 or the number of an error."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self.call("cuInit", 0)
        count, device = ctypes.c_int(), ctypes.c_int()
        self.call("cuDeviceGetCount", ctypes.byref(count))
        if not count.value:
            raise NoDevice("there is no CUDA device here", hint=_WHAT_RUNS)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self._context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)

    def call(self, name: str, *args: Any) -> None:
        """Call a function. Raises: IRKitError with the driver's words."""
        status = self._library[name](*args)
        if status:
            text = ctypes.c_char_p()
            self._library["cuGetErrorString"](status, ctypes.byref(text))
            words = (text.value or b"unknown error").decode(errors="replace")
            raise IRKitError(f"CUDA's driver refuses {name}: {words} ({status})")

    def enter(self) -> None:
        """Make the context current in this thread."""
        self.call("cuCtxSetCurrent", self._context)


@cache
def _driver_library() -> CUDALibrary:
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise NoDevice(f"CUDA's driver cannot be loaded ({error})", hint=_WHAT_RUNS) from None
    return CUDALibrary(library)


def has_cuda() -> bool:
    """Return True if there is a CUDA device here."""
    try:
        _driver_library()
    except IRKitError:
        return False
    return True


class CUDA(Driver):
    """The first CUDA device with a module of PTX; launches of a kernel ask for ``shared`` bytes.

    Launches are on the stream ``LEGACY``, which waits for all others that are not asynchronous to
    it, or on that of ``on_stream``.
    """

    takes_tensors = True

    def __init__(
        self,
        ptx: str,
        library: CUDALibrary | None = None,
        shared: Mapping[str, int] | None = None,
    ) -> None:
        self._cuda = library or _driver_library()
        self._stream = LEGACY_STREAM
        self._cuda.enter()
        self._module = ctypes.c_void_p()
        self._cuda.call("cuModuleLoadData", ctypes.byref(self._module), ptx.encode() + b"\0")
        self._functions = dict[str, ctypes.c_void_p]()
        self._shared = dict(shared or {})

    def allocate(self, size: int) -> Any:
        self._cuda.enter()
        made = _Pointer()
        self._cuda.call("cuMemAlloc_v2", ctypes.byref(made), ctypes.c_size_t(max(size, 1)))
        return made

    def upload(self, data: memoryview) -> Any:
        made = self.allocate(data.nbytes)
        if data.nbytes:
            self._cuda.call("cuMemcpyHtoD_v2", made, _address(data), ctypes.c_size_t(data.nbytes))
        return made

    def download(self, memory: Any, data: memoryview) -> None:
        self._cuda.enter()
        if data.nbytes:
            self._cuda.call("cuMemcpyDtoH_v2", _address(data), memory, ctypes.c_size_t(data.nbytes))

    def free(self, memory: Any) -> None:
        self._cuda.enter()
        self._cuda.call("cuMemFree_v2", memory)

    def borrow(self, address: int) -> Any:
        """Return memory of the device that belongs to somebody else, by its address."""
        return _Pointer(address)

    def on_stream(self, stream: int) -> "CUDA":
        """Return the same module with launches on a stream, a number as DLPack has them."""
        made = copy(self)
        made._stream = stream or LEGACY_STREAM
        return made

    def wait(self) -> None:
        """Wait for all launches so far. Raises: IRKitError if one of them failed."""
        self._cuda.enter()
        self._cuda.call("cuStreamSynchronize", ctypes.c_void_p(self._stream))

    def launch(
        self, kernel: str, grid: Sequence[int], block: Sequence[int], args: Sequence[Any]
    ) -> None:
        self._cuda.enter()
        function, shared = self._function(kernel), ctypes.c_uint(self._shared.get(kernel, 0))
        held = [arg if isinstance(arg, _Pointer) else _bytes_of(arg) for arg in args]
        places = (ctypes.c_void_p * max(len(held), 1))(*(ctypes.addressof(x) for x in held))
        sizes = [ctypes.c_uint(size) for size in (*grid, *block)]
        stream = ctypes.c_void_p(self._stream)
        self._cuda.call("cuLaunchKernel", function, *sizes, shared, stream, places, None)

    def _function(self, kernel: str) -> ctypes.c_void_p:
        found = self._functions.get(kernel)
        if found is None:
            found = ctypes.c_void_p()
            name = kernel.encode()
            self._cuda.call("cuModuleGetFunction", ctypes.byref(found), self._module, name)
            if kernel in self._shared:
                size = ctypes.c_int(self._shared[kernel])
                self._cuda.call("cuFuncSetAttribute", found, ctypes.c_int(_DYNAMIC_SHARED), size)
            self._functions[kernel] = found
        return found


def _address(data: memoryview) -> Any:
    return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(data)))


def _bytes_of(number: Any) -> Any:
    """Return a NumPy scalar as bytes whose address a launch takes."""
    raw = number.tobytes()
    return (ctypes.c_char * len(raw)).from_buffer_copy(raw)
