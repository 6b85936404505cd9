"""Native code that crashes, never ends or writes beside its arrays is an error of one sentence."""

import numpy as np
import pytest

from irkit.core import IRKitError
from irkit.debug.native import NativeWorker
from irkit.ir import parse

FAR = "def far(C: f32[4]):\n    C[100000000000] = f32(1.0)\n"
BESIDE = "def beside(C: f32[4]):\n    C[5] = f32(1.0)\n"
GOOD = "def good(C: f32[4]):\n    C[1] = f32(1.0)\n"
LONG = """\
def long(C: f64[4]):
    for i in serial(0, 1000000000000000):
        C[0] = sin(C[0] + f64(1.0))
"""


def test_each_way_to_fail_is_told_and_the_worker_goes_on() -> None:
    worker, args = NativeWorker(2.0), [np.zeros(4, np.float32)]
    with pytest.raises(IRKitError, match="the native code crashed its process with SIGSEGV"):
        worker.run(parse(FAR), args)
    with pytest.raises(IRKitError, match="the native code writes outside of 'C'"):
        worker.run(parse(BESIDE), args)
    with pytest.raises(IRKitError, match="the native code did not end within 2 s"):
        worker.run(parse(LONG), [np.zeros(4)])
    (out,) = worker.run(parse(GOOD), args)
    assert out.tolist() == [0, 1, 0, 0]
    worker.close()
