"""What a step prints does not depend on which others were looked at."""

from irkit.phases import trace
from irkit.transform import Trace
from tests.passes.loop.kernels import kernel


def of(name: str) -> Trace:
    return Trace(trace(kernel(name)))
