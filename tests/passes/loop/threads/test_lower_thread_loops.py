"""Thread loops become serial and parallel loops."""

import pytest

from irkit.core import IRKitError, walk
from irkit.fuzz.generators.seed_corpus.texts import THREADS
from irkit.ir import For
from irkit.passes.loop import lower_thread_loops
from tests.passes.loop.threads.execution import func_of


def test_a_barrier_that_some_threads_may_miss_is_refused_with_its_line() -> None:
    text = THREADS["THREAD_TREE"].replace("evaluate", "if t < 4:\n                evaluate", 1)
    with pytest.raises(IRKitError, match=r":6: threads may disagree on the condition") as found:
        lower_thread_loops(func_of(text))
    assert "Move the barrier outwards" in found.value.hint


BLOCKS = """
def f(A: f32[8], C: f32[8]):
    for b in thread(0, 4, "blockIdx.x"):
        for t in thread(0, 2, "threadIdx.x"):
            C[{at}] = A[b * 2 + t]
"""


@pytest.mark.parametrize(("at", "kind"), [("b * 2 + t", "parallel"), ("b + t", "serial")])
def test_blocks_run_in_parallel_only_if_they_are_independent(at: str, kind: str) -> None:
    made = lower_thread_loops(func_of(BLOCKS.format(at=at)))
    assert [loop.kind for loop in walk(made, For)] == [kind, "serial"]
