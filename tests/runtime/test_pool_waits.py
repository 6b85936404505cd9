"""A region ends only after every worker in it; a pool that does not wait is found each time."""

import ctypes
import threading
from typing import Any

import pytest

from irkit.codegen import (
    ENTER,
    POOL_DISMISS,
    POOL_RESIZE,
    compile_object,
    emit_pool,
    host_target,
    why_serial,
)
from irkit.runtime import Library

pytestmark = pytest.mark.skipif(
    bool(why_serial(host_target())), reason="parallel loops run on one thread here"
)

REGION = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
ENTRY = ctypes.CFUNCTYPE(
    ctypes.c_int, REGION, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64
)
THREADS, ITERATIONS = 3, 6
PATIENCE = 0.4  # Seconds that a worker stays in a region, unless the region ends before.


class Pool:
    """A pool of its own, linked from LLVM IR."""

    def __init__(self, text: str) -> None:
        names = (ENTER, POOL_RESIZE, POOL_DISMISS)
        self.library = Library([compile_object(text, host_target())], names)
        self.enter: Any = ENTRY(self.library.address(ENTER))
        resize: Any = ctypes.CFUNCTYPE(None, ctypes.c_int)(self.library.address(POOL_RESIZE))
        self.dismiss: Any = ctypes.CFUNCTYPE(None)(self.library.address(POOL_DISMISS))
        resize(THREADS)


def left_behind(pool: Pool) -> int:
    """Run a region in which a worker takes longer than the thread that entered it; return how many
    iterations had not ended when it returned."""
    entered, inside, returned = threading.get_ident(), threading.Event(), threading.Event()
    ended: list[int] = []

    def body(_: object, begin: int, end: int) -> int:
        if threading.get_ident() == entered:
            inside.wait(30.0)
        else:
            inside.set()
            returned.wait(PATIENCE)
        ended.extend(range(begin, end))
        return 0

    region = REGION(body)
    assert pool.enter(region, None, 0, ITERATIONS, 2) == 0
    missing = ITERATIONS - len(ended)
    returned.set()
    assert inside.is_set(), "no worker took part"
    pool.dismiss()  # Joins the workers, which may still be in the region.
    assert sorted(ended) == list(range(ITERATIONS))
    return missing


def test_a_region_returns_only_after_its_workers() -> None:
    pool = Pool(emit_pool(host_target()))
    assert [left_behind(pool) for _ in range(3)] == [0, 0, 0]


FAULTS = {
    "it does not wait for workers": (
        "br i1 %left, label %over, label %wait",
        "br i1 %left, label %over, label %over",
    ),
    "it stops waiting at once": (
        "define internal void @drain() cold noinline {\nentry:\n",
        "define internal void @drain() cold noinline {\n  ret void\nentry:\n",
    ),
    "workers leave before they work": (
        "  call void @work(i64 %chunk)\n"
        "  %out = atomicrmw sub ptr @state, i32 1 acq_rel, align 4\n",
        "  %out = atomicrmw sub ptr @state, i32 1 acq_rel, align 4\n"
        "  call void @work(i64 %chunk)\n",
    ),
    "workers do not count as inside": (
        "%in = add i32 %state, 1\n  %pair",
        "%in = add i32 %state, 0\n  %pair",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_pool_that_returns_too_early_is_found(fault: str) -> None:
    text, (old, new) = emit_pool(host_target()), FAULTS[fault]
    assert text.count(old) == 1
    assert left_behind(Pool(text.replace(old, new))) > 0
