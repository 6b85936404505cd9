"""All loops of a thread axis become one."""

import pytest

from irkit.core import IRKitError
from irkit.fuzz.generators.seed_corpus.texts import THREADS
from irkit.ir import script
from irkit.passes.loop import unify_thread_bindings
from tests.passes.loop.threads.execution import func_of


def test_loops_of_one_axis_with_several_extents_are_refused() -> None:
    text = THREADS["SIBLING_THREADS"].replace("for ib in thread(0, 8", "for ib in thread(0, 4")
    with pytest.raises(IRKitError, match=r"'i' and 'ib' .* with extents 8 and 4"):
        unify_thread_bindings(func_of(text))


COPIES = """
def f(A: f32[4], C: f32[4]):
    for t in thread(0, 4, "threadIdx.x"):
        S = alloc(f32[4]{scope})
        for u in thread(0, 4, "threadIdx.x"):
            S[{at}] = A[u]
        C[t] = S[3 - t]
"""


@pytest.mark.parametrize(
    ("scope", "at", "is_shared_out"),
    [(', scope="shared"', "u", True), ("", "u", False), (', scope="shared"', "(t + u) % 4", False)],
)
def test_a_loop_is_divided_among_threads_if_each_would_do_the_same(
    scope: str, at: str, is_shared_out: bool
) -> None:
    made = unify_thread_bindings(func_of(COPIES.format(scope=scope, at=at)))
    assert ("serial(0, 4)" in script(made)) is not is_shared_out
