"""Run parallel loops one iteration after another: does a wrong result come from a race?

Before::

    def f(A: f32[8], C: f32[8]):
        for i in parallel(0, 8):
            C[i] = A[i]

After::

    def f(A: f32[8], C: f32[8]):
        for i in serial(0, 8):
            C[i] = A[i]
"""

from irkit.core import rewrite
from irkit.ir import For, PrimFunc, as_int
from irkit.transform import define_pass


@define_pass
def serialize_loops(func: PrimFunc, *, least: int = 0) -> PrimFunc:
    """Make parallel loops serial, except those known to run fewer than ``least`` times
    (iterations)."""

    def mark(loop: For) -> For | None:
        trips = as_int(loop.end)
        if loop.kind != "parallel" or (trips is not None and trips < least):
            return None
        return loop.replace(kind="serial")

    return rewrite(func, mark, on=For)
