"""Traces of kernels."""

from irkit.phases import trace
from irkit.transform import Trace
from tests.passes.loop.kernels import kernel


def of(name: str) -> Trace:
    return Trace(trace(kernel(name)))
