"""Make parallel loops inside other parallel loops serial.

Before::

    def f(A: f32[8, 8], C: f32[8, 8]):
        for i in parallel(0, 8):
            for j in parallel(0, 8):
                C[i, j] = A[i, j]

After::

    def f(A: f32[8, 8], C: f32[8, 8]):
        for i in parallel(0, 8):
            for j in serial(0, 8):
                C[i, j] = A[i, j]

The outer loop already has work for every thread, and an inner parallel region would only wait for
the same threads.
"""

from irkit.core import remark, rewrite
from irkit.ir import For, PrimFunc, no_nested_parallel_loops
from irkit.transform import define_pass


@define_pass(idempotent=True, gives=(no_nested_parallel_loops,))
def serialize_inner_parallel_loops(func: PrimFunc) -> PrimFunc:
    """Make every parallel loop inside another parallel loop serial."""

    def serialize(loop: For) -> For | None:
        if loop.kind != "parallel":
            return None
        remark(loop, "inside another parallel loop: left as a serial loop")
        return loop.replace(kind="serial")

    def outer(loop: For) -> For | None:
        if loop.kind != "parallel":
            return None
        return loop.replace(body=rewrite(loop.body, serialize, on=For))

    return rewrite(func, outer, on=For)
