"""A select becomes lazy only if a side that is not chosen could read outside a buffer."""

from irkit.passes.loop import rewrite_unsafe_selects
from tests.passes.loop.programs import body, func, text


def test_a_select_whose_sides_are_in_bounds_is_left_alone() -> None:
    given = func("for i in serial(0, 8):", "    C[i] = select(i < 4, A[i], C[0])")
    assert rewrite_unsafe_selects(given) is given


def test_only_the_select_that_can_read_outside_becomes_lazy() -> None:
    made = rewrite_unsafe_selects(
        func(
            "for i in serial(0, 64):",
            "    C[i] = select(i < 4, A[i], C[0])",
            "    C[i] = select(i > 0, A[i - 1], C[0])",
        )
    )
    assert body(made) == text(
        "for i in serial(0, 64):",
        "    C[i] = select(i < 4, A[i], C[0])",
        "    C[i] = (A[i - 1] if i > 0 else C[0])",
    )


def test_an_index_that_is_not_known_makes_a_select_lazy() -> None:
    made = rewrite_unsafe_selects(func("C[0] = select(n < 64, A[n], C[0])"))
    assert body(made) == text("C[0] = (A[n] if n < 64 else C[0])")


def test_a_select_of_vectors_is_left_alone() -> None:
    given = func("C[ramp(0, 1, 4)] = select(n < 4, A[ramp(n, 1, 4)], C[ramp(0, 1, 4)])")
    assert rewrite_unsafe_selects(given) is given
