"""OpenCL by pyopencl, which the extra ``opencl`` installs; it is loaded at the first call."""

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

from irkit.codegen import OPENCL_OPTIONS
from irkit.core import IRKitError
from irkit.runtime.device.driver import Driver, NoDevice

_WHAT_RUNS = (
    "pip install irkit[opencl], and a driver: the GPU's, or pocl for this processor "
    "(apt install pocl-opencl-icd, or pip install pocl-binary-distribution)."
)


@cache
def _opencl() -> Any:
    """Return pyopencl. Raises: NoDevice if it is not installed."""
    try:
        import pyopencl  # pyright: ignore[reportMissingImports] -- an extra
    except ImportError as error:
        raise NoDevice(f"pyopencl cannot be imported ({error})", hint=_WHAT_RUNS) from None
    return pyopencl


@cache
def _queue() -> Any:
    """Return a queue of the first GPU, or else of the first device.

    Raises: NoDevice if there is none.
    """
    cl = _opencl()
    try:
        devices = [device for each in cl.get_platforms() for device in each.get_devices()]
    except cl.Error:  # What the loader says if no driver is installed.
        devices = []
    if not devices:
        raise NoDevice("there is no OpenCL device here", hint=_WHAT_RUNS)
    gpus = [device for device in devices if device.type & cl.device_type.GPU]
    return cl.CommandQueue(cl.Context([(gpus or devices)[0]]))


class OpenCL(Driver):
    """An OpenCL device with a program."""

    def __init__(self, source: str) -> None:
        self._cl, self._queue = _opencl(), _queue()
        self._setting = threading.Lock()  # A kernel object keeps the arguments of its next launch.
        device = self._queue.device
        options = OPENCL_OPTIONS.split()
        rounds = self._cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
        if not device.single_fp_config & rounds:
            options = options[:1]
        try:
            self._program = self._cl.Program(self._queue.context, source).build(options)
        except self._cl.Error as error:
            raise IRKitError(f"{device.name} refuses the program: {error}") from None
        self._kernels = {each.function_name: each for each in self._program.all_kernels()}

    def allocate(self, size: int) -> Any:
        flags = self._cl.mem_flags.READ_WRITE
        return self._cl.Buffer(self._queue.context, flags, max(size, 1))

    def upload(self, data: memoryview) -> Any:
        made = self.allocate(data.nbytes)
        if data.nbytes:
            self._cl.enqueue_copy(self._queue, made, data, is_blocking=True)
        return made

    def download(self, memory: Any, data: memoryview) -> None:
        if data.nbytes:
            self._cl.enqueue_copy(self._queue, data, memory, is_blocking=True)

    def free(self, memory: Any) -> None:
        memory.release()

    def launch(
        self, kernel: str, grid: Sequence[int], block: Sequence[int], args: Sequence[Any]
    ) -> None:
        total = tuple(blocks * threads for blocks, threads in zip(grid, block, strict=True))
        try:
            with self._setting:
                found = self._kernels[kernel]
                for place, arg in enumerate(args):
                    found.set_arg(place, arg)
                self._cl.enqueue_nd_range_kernel(self._queue, found, total, tuple(block))
        except self._cl.Error as error:
            name = self._queue.device.name
            raise IRKitError(f"{name} refuses to launch {kernel!r}: {error}") from None
