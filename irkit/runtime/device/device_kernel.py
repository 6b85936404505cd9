"""A function for a device with threads: its source, its launches, and calls where there is one."""

import ctypes
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from irkit.codegen import (
    DeviceProgram,
    Launch,
    c_symbol,
    check_program,
    device_assembly,
    device_llvm,
    device_object,
    device_program,
    device_source,
    dynamic_bytes,
    host_source,
    join_lanes,
    written_buffers,
)
from irkit.core import IRKitError, Node, Target
from irkit.ir import Buffer, PrimFunc, Var, shape_vars, size_guard
from irkit.runtime.call import Explanation, as_arrays, as_scalar, check_count
from irkit.runtime.device.cuda import CUDA, LEGACY_STREAM
from irkit.runtime.device.device_tensors import DeviceTensor, device_tensors
from irkit.runtime.device.driver import Driver, NoDevice
from irkit.runtime.device.host_steps import HostNumbers, run_steps
from irkit.runtime.device.opencl import OpenCL
from irkit.runtime.kernel import Kernel, Module, Source

_TEXTS: Mapping[str, tuple[Source, ...]] = {
    "opencl": ("opencl", "host", "spirv", "llvm"),
    "cuda": ("cuda", "host", "ptx", "llvm"),
    "amdgpu": ("amdgpu", "llvm"),
}
"""The texts that a kind of target has; the first is what it gives by default."""
_OBJECTS = {"opencl": "spirv", "cuda": "ptx", "amdgpu": "amdgpu"}
"""What LLVM makes for a kind of target."""


class DeviceKernel(Kernel):
    """A function whose loops over blocks and threads are launches on a device.

    A call copies arrays to the device, launches, and copies back what is written; tensors that lie
    on a CUDA device are used there. Without a device a call raises NoDevice, whose hint says what
    would run it; the source is there anyway.
    """

    def __init__(self, func: PrimFunc, target: Target, program: DeviceProgram) -> None:
        super().__init__(func, target, None)
        self.program = program
        self._driver: Driver | None = None
        self._starting = threading.Lock()
        self._numbers = HostNumbers()

    @property
    def launches(self) -> list[Launch]:
        """Return the launches in the order of the text: grid, block, parameters, shared memory."""
        return self.program.launches

    @property
    def shared(self) -> dict[str, int]:
        """Return the bytes of shared memory that launches ask for, by the names of kernels; those
        that declare their memory are not there."""
        device = self.target.device
        assert device is not None
        asked = {c_symbol(x.kernel.name): dynamic_bytes(x, device) for x in self.launches}
        return {name: size for name, size in asked.items() if size}

    def source(self, kind: Source | None = None, *, lines: bool = False) -> str:
        """Return the text of the kernels, by default in the language of the target, or of the
        "host" code that launches them.

        A target "opencl" has "opencl", "host" and "spirv"; "cuda" has "cuda", "host" and "ptx";
        "amdgpu" has "amdgpu", which is assembly. All have "llvm".
        Raises: IRKitError if the target has no such text.
        """
        own = _TEXTS[self.target.kind]
        chosen = kind or own[0]
        if chosen not in own:
            raise IRKitError(
                f"no source of kind {chosen!r} for the target {self.target.kind!r}; expected one "
                f"of {', '.join(map(repr, own))}"
            )
        if chosen == "host":
            return host_source(self.program, self.target)
        if chosen == "llvm":
            return device_llvm(self.program, self.target, _OBJECTS[self.target.kind])
        if chosen in ("opencl", "cuda"):
            return device_source(self.program, self.target)
        return device_assembly(self.program, self.target, chosen)

    def object_files(self) -> list[bytes]:
        """Return the kernels as one module: SPIR-V for "opencl", an object file for "amdgpu".

        Raises: IRKitError for "cuda", whose driver takes text.
        """
        if self.target.kind == "cuda":
            raise IRKitError(
                f"kernel {self.name!r} is for CUDA, whose driver takes text",
                hint="kernel.source('ptx') is what it, or ptxas, makes code of.",
            )
        return [device_object(self.program, self.target, _OBJECTS[self.target.kind])]

    def __call__(self, *args: Any, stream: int | None = None) -> None:
        """Run the function. Arrays that it writes are changed in place.

        Arrays of the processor are copied to the device and back. Tensors on the device (kDLCUDA,
        as those of PyTorch and CuPy) are used where they are: all or none of a call. With
        ``stream``, a handle of CUDA's or one of DLPack's numbers, such a call launches on that
        stream and returns at once; without, it launches on the default stream and waits.
        Raises: NoDevice; DTypeError or ShapeError if an argument is not as declared; IRKitError
        with the device's own message if it refuses.
        """
        func = self.func
        check_count(func, args)
        given: list[Any] = [
            as_scalar(func, place, arg) if isinstance(func.params[place], Var) else arg
            for place, arg in enumerate(args)
        ]
        tensors: Mapping[int, DeviceTensor] = {}
        if self.target.kind == "cuda":
            tensors = device_tensors(func, given, 0, stream or LEGACY_STREAM)
        if stream is not None and not tensors:
            raise IRKitError(
                f"{func.name} is called on a stream with arrays of the processor; expected tensors "
                "on a CUDA device",
                hint="Leave the stream out: such a call waits for its results.",
            )
        shown = {place: each.shown for place, each in tensors.items()} or as_arrays(func, given)
        given = [shown.get(place, arg) for place, arg in enumerate(given)]
        explanation = Explanation(func, given)
        explanation.check()
        driver = self._started()
        values: dict[Node, Any] = {var: explanation.bound[var][0] for var in shape_vars(func)}
        values.update((p, v) for p, v in zip(func.params, given, strict=True) if _is_var(p))
        guard = size_guard(func)
        if guard is not None and not self._numbers.of(guard.condition, values):
            explanation.check_sizes()
        if not tensors:
            self._with_copies(driver, given, values)
            return
        assert isinstance(driver, CUDA)
        values.update((func.params[at], driver.borrow(t.address)) for at, t in tensors.items())
        streamed = driver.on_stream(stream or LEGACY_STREAM)
        run_steps(self.program, streamed, values, self._numbers)
        if stream is None:
            streamed.wait()

    def _with_copies(self, driver: Driver, given: list[Any], values: dict[Node, Any]) -> None:
        """Run the steps on copies of arrays, and copy back what is written."""
        written = written_buffers(self.func)
        copies: list[tuple[Buffer, Any, memoryview]] = []
        try:
            for param, arg in zip(self.func.params, given, strict=True):
                if isinstance(param, Buffer):
                    data = _bytes(arg, self._numbers.bytes_of(param, values))
                    copies.append((param, driver.upload(data), data))
                    values[param] = copies[-1][1]
            run_steps(self.program, driver, values, self._numbers)
            for param, memory, data in copies:
                if param in written:
                    driver.download(memory, data)
        finally:
            for _, memory, _ in copies:
                driver.free(memory)

    def _started(self) -> Driver:
        with self._starting:
            if self._driver is None:
                self._driver = self._start()
            return self._driver

    def _start(self) -> Driver:
        if self.target.kind == "opencl":
            return OpenCL(self.source())
        if self.target.kind == "cuda":
            return CUDA(self.source("ptx"), shared=self.shared)
        raise NoDevice(
            f"kernel {self.name!r} is for {self.target.kind}, which this process cannot run",
            hint="kernel.source() is the text of its kernels.",
        )

    def __repr__(self) -> str:
        return f"<DeviceKernel {self.name} for {self.target.cpu or self.target.kind}>"


def _is_var(param: Buffer | Var) -> bool:
    return isinstance(param, Var)


def _bytes(array: Any, size: int) -> memoryview:
    """Return the memory of an array, from its first element on, as bytes that can be written."""
    if not size:
        return memoryview(b"")
    kept = (ctypes.c_char * size).from_address(array.ctypes.data)
    return memoryview(kept).cast("B")


def build_device_kernels(funcs: Mapping[str, PrimFunc], target: Target) -> Module:
    """Return kernels by name from lowered functions whose thread loops are still there.

    Raises: IRKitError if a launch is more than the device of the target can run.
    """
    return Module(dict(zip(funcs, _kernels(list(funcs.values()), target), strict=True)))


def _kernels(funcs: Sequence[PrimFunc], target: Target) -> list[DeviceKernel]:
    device = target.device
    assert device is not None
    made: list[DeviceKernel] = []
    for func in funcs:
        program = device_program(join_lanes(func, device.warp))
        check_program(program, device)
        made.append(DeviceKernel(func, target, program))
    return made
