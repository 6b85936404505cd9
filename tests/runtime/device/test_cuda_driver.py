"""Calls of CUDA's driver, against a library that stands for it and keeps memory of the host."""

import ctypes
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError
from irkit.ir import parse
from irkit.runtime.device.cuda import CUDA, CUDALibrary
from irkit.runtime.device.driver import NoDevice

FUNC = parse(
    """
def scaled(n: i64, A: f32[n], C: f32[n], s: f32):
    for b in thread(0, (n + 7) // 8, "blockIdx.x"):
        for t in thread(0, 8, "threadIdx.x"):
            if b * 8 + t < n:
                C[b * 8 + t] = A[b * 8 + t] * s
"""
)


class FakeDriver(dict[str, Any]):
    """The functions that are called, by name; the kernel is computed by NumPy."""

    def __init__(self, *, devices: int = 1, fails: str = "") -> None:
        super().__init__()
        self.devices, self.fails = devices, fails
        self.memory: dict[int, Any] = {}
        self.launched: list[tuple[Any, ...]] = []

    def __missing__(self, name: str) -> Any:
        def call(*args: Any) -> int:
            if name == self.fails:
                return 719
            return int(getattr(self, name, lambda *_: 0)(*args) or 0)

        return call

    def cuDeviceGetCount(self, count: Any) -> None:
        count._obj.value = self.devices

    def cuGetErrorString(self, status: int, text: Any) -> None:
        text._obj.value = b"unspecified launch failure"

    def cuMemAlloc_v2(self, made: Any, size: Any) -> None:
        memory = ctypes.create_string_buffer(size.value)
        made._obj.value = ctypes.addressof(memory)
        self.memory[made._obj.value] = memory

    def cuMemcpyHtoD_v2(self, to: Any, source: Any, size: Any) -> None:
        ctypes.memmove(to.value, source.value, size.value)

    def cuMemcpyDtoH_v2(self, to: Any, source: Any, size: Any) -> None:
        ctypes.memmove(to.value, source.value, size.value)

    def cuMemFree_v2(self, memory: Any) -> None:
        del self.memory[memory.value]

    def cuLaunchKernel(self, function: Any, *args: Any) -> None:
        sizes = [arg.value for arg in args[:7]]
        places = args[8]
        a, c = (ctypes.c_uint64.from_address(places[at]).value for at in (0, 1))
        n = ctypes.c_int64.from_address(places[2]).value
        s = ctypes.c_float.from_address(places[3]).value
        self.launched.append((*sizes, n, s))
        (ctypes.c_float * n).from_address(c)[:] = [
            x * s for x in (ctypes.c_float * n).from_address(a)
        ]


def called(fake: FakeDriver, n: int) -> np.ndarray[Any, Any]:
    kernel = irkit.build(FUNC, target="cuda")
    kernel._driver = CUDA(kernel.source("ptx"), CUDALibrary(fake))
    a, c = np.arange(n, dtype="f4"), np.zeros(n, "f4")
    kernel(n, a, c, 0.5)
    return c


def test_parameters_arrive_in_their_order_and_types_and_memory_is_freed() -> None:
    fake = FakeDriver()
    np.testing.assert_array_equal(called(fake, 20), np.arange(20) * 0.5)
    assert fake.launched == [(3, 1, 1, 8, 1, 1, 0, 20, 0.5)]
    assert not fake.memory


@pytest.mark.parametrize("fails", ["cuModuleLoadData", "cuLaunchKernel", "cuMemcpyDtoH_v2"])
def test_what_the_driver_refuses_is_an_error_with_its_words(fails: str) -> None:
    fake = FakeDriver(fails=fails)
    with pytest.raises(IRKitError, match=rf"refuses {fails}: unspecified launch failure \(719\)"):
        called(fake, 20)
    assert not fake.memory


def test_a_driver_without_a_card_is_no_device() -> None:
    with pytest.raises(NoDevice, match="there is no CUDA device here"):
        CUDALibrary(FakeDriver(devices=0))


def test_an_empty_grid_launches_nothing() -> None:
    fake = FakeDriver()
    called(fake, 0)
    assert not fake.launched
