"""Tensors of a CUDA device by DLPack: arrays of the processor that say to lie on one, against a
driver that keeps memory of the processor."""

import ctypes
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import DTypeError, IRKitError, ShapeError
from irkit.ir import PrimFunc, parse
from irkit.runtime import DeviceKernel
from irkit.runtime.device.cuda import CUDA, CUDALibrary
from tests.runtime.device.test_cuda_driver import FUNC, FakeDriver


class Tensor:
    """An array that says to be on a device."""

    def __init__(self, array: np.ndarray[Any, Any], kind: int = 2, number: int = 0) -> None:
        self.array, self.device = array, (kind, number)
        self.streams: list[int] = []
        self.old = False

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: int, **given: Any) -> Any:
        if self.old and given:
            raise TypeError("no such argument")
        self.streams.append(stream)
        return self.array.__dlpack__(**given)


class Streams(FakeDriver):
    """A driver that remembers the streams of launches, and on which the host waited."""

    def __init__(self) -> None:
        super().__init__()
        self.used: list[int] = []
        self.waited: list[int] = []

    def cuLaunchKernel(self, function: Any, *args: Any) -> None:
        self.used.append(args[7].value)
        super().cuLaunchKernel(function, *args)

    def cuStreamSynchronize(self, stream: ctypes.c_void_p) -> None:
        self.waited.append(stream.value or 0)


def made(fake: FakeDriver, func: PrimFunc = FUNC) -> DeviceKernel:
    kernel = irkit.build(func, target="cuda")
    assert isinstance(kernel, DeviceKernel)
    kernel._driver = CUDA(kernel.source("ptx"), CUDALibrary(fake))
    return kernel


@pytest.mark.parametrize("old", [False, True], ids=["DLPack 1", "DLPack 0"])
def test_tensors_are_used_where_they_lie_and_the_call_waits(old: bool) -> None:
    fake = Streams()
    a, c = Tensor(np.arange(20, dtype="f4")), Tensor(np.zeros(20, "f4"))
    a.old = c.old = old
    made(fake)(20, a, c, 0.5)
    np.testing.assert_array_equal(c.array, np.arange(20) * 0.5)
    assert not fake.memory
    assert (a.streams, fake.used, fake.waited) == ([1], [1], [1])


def test_a_call_on_a_stream_does_not_wait() -> None:
    fake = Streams()
    a, c = Tensor(np.arange(20, dtype="f4")), Tensor(np.zeros(20, "f4"))
    made(fake)(20, a, c, 0.5, stream=4096)
    assert (a.streams, c.streams, fake.used, fake.waited) == ([4096], [4096], [4096], [])
    # PyTorch calls the default stream 0; DLPack, and the driver, call it 1.
    made(fake)(20, a, c, 0.5, stream=0)
    assert (a.streams[1:], fake.used[1:], fake.waited) == ([1], [1], [])


def test_an_offset_and_an_empty_tensor() -> None:
    c = Tensor(np.zeros(30, "f4")[7:])
    made(FakeDriver())(3, Tensor(np.ones(3, "f4")), Tensor(c.array[:3]), 2.0)
    assert c.array.tolist()[:4] == [2, 2, 2, 0]
    made(FakeDriver())(0, Tensor(np.zeros(0, "f4")), Tensor(np.zeros(0, "f4")), 2.0)


def refused(a: Any, c: Any, kind: type[IRKitError], words: str, **given: Any) -> None:
    with pytest.raises(kind, match=words):
        made(FakeDriver())(20, a, c, 0.5, **given)


def test_what_a_call_refuses() -> None:
    one, other = np.arange(20, dtype="f4"), np.zeros(20, "f4")
    fixed = np.zeros(20, "f4")
    fixed.flags.writeable = False
    here = Tensor(one)
    mixed = r"'A'\) of scaled is in memory of the device, and argument 3 \('C'\) of scaled is not"
    refused(here, other, DTypeError, mixed)
    refused(here, Tensor(other, 2, 1), DTypeError, "is on device CUDA 1; expected CUDA 0")
    refused(Tensor(one, 4), Tensor(other, 4), DTypeError, "is on device OpenCL 0; expected memory")
    refused(here, Tensor(fixed), ShapeError, r"argument 3 \('C'\) .* is read-only")
    refused(here, Tensor(np.zeros(40, "f4")[::2]), ShapeError, "must be contiguous")
    refused(here, Tensor(other[::-1]), ShapeError, r"has strides \(-1,\); expected none that is")
    refused(here, Tensor(np.zeros(20, "f8")), DTypeError, "must hold float32, found float64")
    refused(here, Tensor(np.zeros(20, "c8")), DTypeError, r"type \(5, 64 bits, 1 lanes\)")
    refused(here, Tensor(np.zeros(21, "f4")), ShapeError, "must be 20")
    refused(here, Tensor(one[:20]), ShapeError, "is written and overlaps")
    on_stream = "called on a stream with arrays of the processor"
    refused(one, other, IRKitError, on_stream, stream=2)


def test_what_a_tensor_refuses_is_said() -> None:
    class Refusing(Tensor):
        def __dlpack__(self, *, stream: int, **given: Any) -> Any:
            raise BufferError("it requires a gradient")

    given = Refusing(np.zeros(20, "f4"))
    words = r"argument 2 \('A'\) .* cannot be read through DLPack: it requires a gradient"
    refused(given, Tensor(np.zeros(20, "f4")), DTypeError, words)


def test_declared_strides_are_those_of_the_tensor() -> None:
    func = parse(
        "def scaled(n: i64, A: f32[n], C: buffer(f32[n], strides=(2,)), s: f32):\n"
        '    for t in thread(0, 20, "threadIdx.x"):\n'
        "        C[t] = A[t] * s\n"
    )
    c = np.zeros((20, 2), "f4")
    made(FakeDriver(), func)(20, Tensor(np.ones(20, "f4")), Tensor(c[:, 0]), 2.0)
    with pytest.raises(ShapeError, match=r"stride 0 of argument 3 .* must be 2; found 1"):
        made(FakeDriver(), func)(20, Tensor(np.ones(20, "f4")), Tensor(np.zeros(20, "f4")), 2.0)
