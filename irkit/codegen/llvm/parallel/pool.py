"""The pool of threads that runs parallel loops, as LLVM IR: one object file, linked once a process.

A region is a function and its number of iterations. The thread that enters it takes the lock, or
runs the region alone if another thread holds the lock. It writes the job, opens ``@state``, takes
chunks of iterations from the counter ``@next`` as the workers do, closes the state, and waits for
the workers that joined. It never waits for one that did not: a worker that is slow to wake costs
nothing.

``@state`` has 32 bits, so that futex can wait for it: the number of workers inside (10 bits), an
open flag, a flag that someone waits for the last worker to leave, and the number of the job in the
other 20. An idle worker spins for a while and then sleeps.

An error is the number of its chunk and its status; the smallest wins. Chunks are taken in order, so
every chunk before a failed one runs too: the error is the one that serial code gives.
"""

from irkit.codegen.llvm.parallel.pool_text import POOL, SERIAL
from irkit.core import Target

ENTER = "irkit.parallel"
ENTER_DECLARATION = f"declare i32 @{ENTER}(ptr, ptr, i64, i64, i64)"
# Other exports: void (i32 threads); i32 (); void (); void ().
POOL_RESIZE, POOL_THREADS, POOL_DISMISS, POOL_FORKED = (
    f"irkit.pool.{name}" for name in ("resize", "threads", "dismiss", "forked")
)
MAX_POOL_THREADS = 512
# Waking takes 50 us, so spinning pays off for about as long.
SPIN_NANOSECONDS = 100_000
CHUNKS_PER_THREAD = 4
CHUNKS_HINT = "parallel_chunks"
"""Attribute of a loop: the largest number of chunks for each thread. One keeps neighbours together,
many balance iterations of unequal time."""
MAX_CHUNKS = 1 << 20
LEAST_HINT = "parallel_least"
"""Attribute of a loop: it runs on the thread that enters it if it stores fewer values, by an
estimate when it runs."""

_FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98}
_PAUSE = {"x86_64": "@llvm.x86.sse2.pause()", "aarch64": "@llvm.aarch64.hint(i32 1)"}
_PAUSE_DECLARATION = {
    "x86_64": "declare void @llvm.x86.sse2.pause()",
    "aarch64": "declare void @llvm.aarch64.hint(i32)",
}


def why_serial(target: Target) -> str:
    """Return why a complete target runs parallel loops on one thread; empty if it has threads."""
    family = target.triple.split("-")[0]
    if "linux" not in target.triple or family not in _FUTEX:
        return f"the pool of threads needs Linux on {', '.join(_FUTEX)}; this is {target.triple}"
    return ""


def emit_pool(target: Target) -> str:
    """Return the pool for a complete target; it is serial if the target has no threads."""
    if why_serial(target):
        return SERIAL
    family = target.triple.split("-")[0]
    text = POOL
    pause = f"call void {_PAUSE[family]}" if family in _PAUSE else ""
    for name, value in {
        "PAUSE": pause,
        "DECLARE": _PAUSE_DECLARATION.get(family, ""),
        "FUTEX": str(_FUTEX[family]),
        "SPIN": str(SPIN_NANOSECONDS),
        "MAX": str(MAX_POOL_THREADS),
    }.items():
        text = text.replace(f"${name}", value)
    return text
