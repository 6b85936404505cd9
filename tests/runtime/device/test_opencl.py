"""Kernels run on an OpenCL device, if there is one, and compute what the interpreter computes."""

import threading
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError
from irkit.ir import PrimFunc, parse
from irkit.runtime.device.driver import NoDevice
from irkit.runtime.device.opencl import _queue
from tests.codegen.device.programs import (
    ELEMENTWISE,
    PROGRAMS,
    SOFTMAX,
    assert_equal,
    drawn,
    expected,
)


def _missing() -> str:
    try:
        _queue()
    except NoDevice as error:
        return f"{error.message}: pip install pyopencl, apt install pocl-opencl-icd"
    return ""


needs_opencl = pytest.mark.skipif(bool(_missing()), reason=_missing())


def built(func: PrimFunc) -> Any:
    return irkit.build(func, target="opencl")


@needs_opencl
@pytest.mark.parametrize("func", PROGRAMS, ids=lambda func: func.name)
def test_a_launch_computes_what_the_interpreter_computes(func: PrimFunc) -> None:
    args = drawn(func)
    found = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    built(func)(*found)
    # The interpreter's exp is NumPy's.
    assert_equal(func, found, expected(func, args), ulps=4 if func is SOFTMAX else 0)


@needs_opencl
@pytest.mark.parametrize("size", [1, 31, 32, 33, 1000])
def test_a_grid_follows_the_size_at_the_call(size: int) -> None:
    a, b = np.random.default_rng(size).uniform(1, 2, (2, size)).astype("f4")
    c = np.zeros_like(a)
    built(ELEMENTWISE)(size, a, b, c, 3.0)
    np.testing.assert_array_equal(c, a * np.float32(3) + b / a)


@needs_opencl
def test_an_empty_grid_launches_nothing() -> None:
    empty = np.zeros((3, 0), "f4")
    built(ELEMENTWISE)(0, *empty, 3.0)


@needs_opencl
def test_what_is_not_written_keeps_its_value() -> None:
    func = parse(
        "def f(A: i32[8]):\n"
        '    for t in thread(0, 8, "threadIdx.x"):\n'
        "        if t > 3:\n            A[t] = A[t] + 1\n"
    )
    a = np.arange(8, dtype="i4")
    built(func)(a)
    np.testing.assert_array_equal(a, [0, 1, 2, 3, 5, 6, 7, 8])


@needs_opencl
def test_u64_wraps_at_64_bits() -> None:
    """``long long`` of OpenCL C has 128 bits, and so would arithmetic with ``36ull``."""
    func = parse(
        "def f(A: u64[4]):\n"
        '    for t in thread(0, 1, "threadIdx.x"):\n'
        "        A[0] = (A[0] - u64(36)) >> u64(1)\n"
        "        A[1] = (A[1] - u64(36)) // u64(7)\n"
        "        A[2] = A[2] * u64(36) % u64(7)\n"
    )
    a = np.array([1, 2, 2**63 + 5, 3], "u8")
    built(func)(a)
    wrapped = [(1 - 36) % 2**64 >> 1, (2 - 36) % 2**64 // 7, 36 * 5 % 7, 3]
    np.testing.assert_array_equal(a, np.array(wrapped, "u8"))


@needs_opencl
def test_threads_of_the_host_may_call_one_kernel() -> None:
    kernel, failed = built(ELEMENTWISE), list[str]()

    def run(seed: int) -> None:
        a, b = np.random.default_rng(seed).uniform(1, 2, (2, 500)).astype("f4")
        for _ in range(5):
            c = np.zeros_like(a)
            kernel(500, a, b, c, float(seed))
            if not np.array_equal(c, a * np.float32(seed) + b / a):
                failed.append(f"seed {seed}")

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failed


def test_a_call_checks_its_arguments_before_it_asks_for_a_device() -> None:
    kernel = irkit.build(ELEMENTWISE, target="cuda")
    a = np.zeros(8, "f4")
    with pytest.raises(IRKitError, match="must hold float32, found float64"):
        kernel(8, a, np.zeros(8), a.copy(), 1.0)
    with pytest.raises(IRKitError, match="overlaps"):
        kernel(8, a, a, a, 1.0)


def test_a_call_without_a_device_says_what_would_run_it() -> None:
    kernel = irkit.build(ELEMENTWISE, target="amdgpu")
    with pytest.raises(NoDevice, match="amdgpu, which this process cannot run"):
        kernel(8, *np.zeros((3, 8), "f4"), 1.0)
