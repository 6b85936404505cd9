"""Compute floats of 16 bits in 32 bits, and round each result.

Before::

    def f(A: bf16[8], B: bf16[8]):
        for i in serial(0, 8):
            B[i] = A[i] * A[i] + B[i]

After::

    def f(A: bf16[8], B: bf16[8]):
        for i in serial(0, 8):
            B[i] = cast(cast(cast(cast(A[i], f32) * cast(A[i], f32), bf16), f32) + cast(B[i], f32), bf16)

For every code generator: no target of irkit has arithmetic of bf16 that keeps denormals, and few
have that of f16. What is left of such floats is loaded, stored, chosen, compared and converted, by
instructions of the target (F16C, AArch64) or by integer code.
"""  # noqa: E501 -- a line as it is printed

from irkit.ir import PrimFunc
from irkit.ir.math import with_wide_floats
from irkit.transform import define_pass


@define_pass(idempotent=True)
def widen_floats(func: PrimFunc) -> PrimFunc:
    """Compute in f32 what a function computes in f16 and bf16: its meaning, written out."""
    return with_wide_floats(func)
