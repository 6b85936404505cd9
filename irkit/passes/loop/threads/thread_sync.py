"""Insert barriers wherever a thread can access what another one accesses.

Before::

    def f(A: f32[8], C: f32[8]):
        S = alloc(f32[8], scope="shared")
        for t in thread(0, 8, "threadIdx.x"):
            S[t] = A[t]
            S[t] = S[t] * f32(2.0)
            C[t] = S[7 - t]

After::

    def f(A: f32[8], C: f32[8]):
        S = alloc(f32[8], scope="shared")
        for t in thread(0, 8, "threadIdx.x"):
            S[t] = A[t]
            S[t] = S[t] * f32(2.0)
            evaluate(barrier())
            C[t] = S[7 - t]

A thread that reads only what it wrote itself does not wait. A barrier cannot be inside a condition
that differs between threads, since not all of them would reach it.
"""

from irkit.ir import PrimFunc, no_blocks
from irkit.passes.loop.support.thread_barriers import with_barriers
from irkit.transform import define_pass


@define_pass(idempotent=True, needs=(no_blocks,), atomic=True)
def thread_sync(func: PrimFunc) -> PrimFunc:
    """Insert barriers between accesses of different threads to the same element, one of them a
    store, in all memory that threads share."""
    return with_barriers(func)
