"""Compiling does not leak memory: tuning compiles thousands of times."""

import gc
import os
from pathlib import Path

import pytest

from irkit.codegen import compile_object, emit, runnable_target
from irkit.core import Target
from irkit.ir import parse
from tests.draws import sampled

STATUS = Path("/proc/self/statm")
TIMES = 150
MOST_KIB = 10.0
"""What a compilation may leave behind; what LLVM's passes hold is 30 to 100 KiB."""

STENCIL = """
def f(A: f32[66], B: f32[64]):
    for i in serial(0, 64):
        B[i] = A[i] + A[i + 1] * A[i + 2]
"""


def memory_kib() -> float:
    gc.collect()
    return int(STATUS.read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1024


@pytest.mark.skipif(not STATUS.exists(), reason="only Linux says how much memory is in use")
@pytest.mark.parametrize("level", sampled([1, 3], every=2))
def test_compiling_does_not_leak(level: int) -> None:
    target = runnable_target(Target(opt_level=level))
    text = emit([parse(STENCIL)], target)
    for _ in range(20):
        compile_object(text, target)
    before = memory_kib()
    for _ in range(TIMES):
        compile_object(text, target)
    assert (memory_kib() - before) / TIMES < MOST_KIB
