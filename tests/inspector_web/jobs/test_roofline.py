"""The limits of this machine, and the kernels of a run under them."""

from pathlib import Path

import pytest

from irkit.core import InputError
from irkit.inspector_web.jobs.roofline import ROOFLINE, RooflineRequest, run_roofline
from irkit.inspector_web.runs.run import LoadedTrace
from irkit.inspector_web.runs.workspace import Workspace
from irkit.ir import parse
from irkit.phases import trace
from irkit.transform import Trace
from tests.inspector_web.pages import MATMUL


def workspace(text: str) -> Workspace:
    return Workspace([LoadedTrace(Trace(trace(parse(text))), "one")])


def test_a_kernel_has_its_work_and_its_time_under_the_limits_of_the_machine(tmp_path: Path) -> None:
    found = ROOFLINE.find(workspace(MATMUL), RooflineRequest(0))
    made = run_roofline(*ROOFLINE.send(found, tmp_path))
    (kernel,) = made.kernels
    assert (kernel.function, kernel.flops, kernel.message) == ("matmul", 2 * 64**3, "")
    assert kernel.bytes == 4 * 64 * 64 * 4  # The result is read and written.
    assert 0 < kernel.low <= kernel.micros <= kernel.high
    # Any processor of this century; a kernel that computed nothing would be faster by far.
    assert 1e8 < made.peak < 1e14
    assert 1e8 < made.bandwidth < 1e13
    assert made.more == 0


def test_functions_of_symbolic_sizes_are_refused() -> None:
    text = "def f(A: f32[n]):\n    for i in serial(0, n):\n        A[i] = f32(1.0)\n"
    with pytest.raises(InputError, match="fixed sizes"):
        ROOFLINE.find(workspace(text), RooflineRequest(0))
