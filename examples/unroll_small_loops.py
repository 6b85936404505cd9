"""A pass in ten lines: unroll the window loops of convolutions and pools.

Before::

    for ry in serial(0, 3):
        C[ry] = A[ry]

After::

    for ry in unrolled(0, 3):
        C[ry] = A[ry]

Phase 2 turns the mark into copies of the body. Insert it with::

    irkit compile model.onnx -o model.irkit --pass
    '1:examples.unroll_small_loops:unroll_small_loops{most=3}'
"""

from irkit.core import rewrite
from irkit.ir import For, PrimFunc, as_int
from irkit.transform import define_pass


@define_pass
def unroll_small_loops(func: PrimFunc, *, most: int = 3) -> PrimFunc:
    """Mark serial loops that run at most ``most`` times (iterations) as unrolled."""

    def mark(loop: For) -> For | None:
        trips = as_int(loop.end)
        small = loop.kind == "serial" and trips is not None and trips <= most
        return loop.replace(kind="unrolled") if small else None

    return rewrite(func, mark, on=For)
