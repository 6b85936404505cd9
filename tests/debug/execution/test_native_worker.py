"""Native code that crashes, hangs or writes beside its arrays is an error of one sentence."""

import numpy as np
import pytest

from irkit.core import IRKitError
from irkit.debug.execution.native_worker import NativeWorker
from irkit.ir import parse

FAR = "def far(C: f32[4]):\n    C[100000000000] = f32(1.0)\n"
BESIDE = "def beside(C: f32[4]):\n    C[5] = f32(1.0)\n"
PAST = "def past(C: f32[4]):\n    C[0] = C[4]\n"
BEFORE = "def before(C: f32[4]):\n    C[0] = C[-1]\n"
GOOD = "def good(C: f32[4]):\n    C[1] = f32(1.0)\n"
LONG = """\
def long(C: f64[4]):
    for i in serial(0, 1000000000000000):
        C[0] = sin(C[0] + f64(1.0))
"""


def test_each_kind_of_failure_is_reported_and_the_worker_survives() -> None:
    worker, args = NativeWorker(2.0), [np.zeros(4, np.float32)]
    with pytest.raises(IRKitError, match="the native code crashed its process with SIGSEGV"):
        worker.run(parse(FAR), args)
    with pytest.raises(IRKitError, match="the native code writes outside of 'C'"):
        worker.run(parse(BESIDE), args)
    with pytest.raises(IRKitError, match="the native code did not end within 2 s"):
        worker.run(parse(LONG), [np.zeros(4)])
    for beside in (PAST, BEFORE):
        with pytest.raises(IRKitError, match="the native code crashed its process with SIGSEGV"):
            worker.run(parse(beside), args)
    (out,) = worker.run(parse(GOOD), args)
    assert out.tolist() == [0, 1, 0, 0]
    worker.close()


def test_strides_are_passed_and_small_calls_share_their_pages() -> None:
    func = parse(
        "def f(A: buffer(f32[n], strides=(s,)), x: f32, C: f32[n]):\n"
        "    for i in serial(0, n):\n        C[i] = A[i] + x\n"
    )
    worker = NativeWorker(20.0)
    for count in (3, 5, 0, 2_000_000):
        given = np.arange(2 * count, dtype=np.float32)[::2]
        a, c = worker.run(func, [given, 1.0, np.zeros(count, np.float32)])
        assert (a == given).all()
        assert (c == given + 1).all()
    worker.close()
