"""Corresponding steps of two runs."""

from irkit.inspector_web import align
from irkit.phases import DEFAULT, trace
from irkit.transform import Trace
from tests.passes.loop.kernels import kernel


def test_runs_are_aligned_by_phase_and_pass() -> None:
    func = kernel("MATMUL")
    whole, less = Trace(trace(func)), Trace(trace(func, pipeline=DEFAULT.without("unroll-loops")))
    pairs = align(whole, less)
    alone = [pair for pair in pairs if pair.left is None or pair.right is None]
    assert [whole[pair.left].name for pair in alone if pair.left is not None] == ["unroll-loops"]
    for pair in pairs:
        if pair.left is not None and pair.right is not None:
            assert whole[pair.left].name == less[pair.right].name
