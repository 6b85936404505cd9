"""What is computed once, and what must be computed again."""

from irkit.passes import loop
from tests.passes.loop.programs import body, func, text


def test_a_load_is_not_shared_across_a_store_to_its_buffer() -> None:
    given = func("C[0] = A[n] * A[n]", "A[n] = f32(0.0)", "C[1] = A[n]")
    assert body(loop.eliminate_common_subexpressions(given)) == text(
        "t: f32 = A[n]", "C[0] = t * t", "A[n] = f32(0.0)", "C[1] = A[n]"
    )


def test_a_view_is_another_name_for_the_same_memory() -> None:
    given = func(
        "with view(A, f32[64], offset=0) as V:",
        "    C[0] = A[0] * A[0]",
        "    V[0] = f32(1.0)",
        "    C[1] = A[0]",
    )
    assert "C[1] = A[0]" in body(loop.eliminate_common_subexpressions(given))


def test_what_is_computed_under_a_condition_is_not_computed_before_it() -> None:
    given = func("C[0] = (A[n] * A[n] if n < 64 else f32(0.0))")
    assert loop.eliminate_common_subexpressions(given) is given
