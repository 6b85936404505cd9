"""Make loops serial, to look for a fault without parallel or vector code.

Before::

    def f(A: f32[8, 8], C: f32[8, 8]):
        for i in parallel(0, 8):
            for j in vectorized(0, 8):
                C[i, j] = A[i, j]

After::

    def f(A: f32[8, 8], C: f32[8, 8]):
        for i in serial(0, 8):
            for j in serial(0, 8):
                C[i, j] = A[i, j]
"""

from irkit.core import rewrite
from irkit.ir import For, PrimFunc
from irkit.transform import define_pass


@define_pass(idempotent=True)
def convert_for_loops_to_serial(
    func: PrimFunc, *, parallel: bool = True, vectorized: bool = True, unrolled: bool = False
) -> PrimFunc:
    """Make loops of the chosen kinds serial: ``parallel``, ``vectorized``, ``unrolled``."""
    chosen = {"parallel": parallel, "vectorized": vectorized, "unrolled": unrolled}

    def serial(loop: For) -> For | None:
        return loop.replace(kind="serial") if chosen.get(loop.kind, False) else None

    return rewrite(func, serial, on=For)
