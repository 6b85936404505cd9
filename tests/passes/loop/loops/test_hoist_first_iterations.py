"""A statement of the first iteration moves in front of its loop."""

from irkit.passes import loop
from tests.passes.loop.programs import body, func, text


def test_a_loop_that_may_not_run_hoists_only_if_it_does() -> None:
    given = func(
        "for i in serial(2, n):", "    if i == 2:", "        C[0] = A[i]", "    C[i] = C[0]"
    )
    assert body(loop.hoist_first_iterations(given)) == text(
        "if 2 < n:", "    C[0] = A[2]", "for i in serial(2, n):", "    C[i] = C[0]"
    )


def test_a_parallel_loop_has_no_first_iteration() -> None:
    given = func("for i in parallel(0, 8):", "    if i == 0:", "        C[0] = A[0]")
    assert loop.hoist_first_iterations(given) is given
