"""Blocks become their bodies, over the loop variables that their axes are bound to."""

from irkit.passes.loop import lower_blocks
from tests.passes.loop.programs import body, func, text


def test_a_function_without_blocks_is_left_alone() -> None:
    given = func("for i in serial(0, 8):", "    C[i] = A[i]")
    assert lower_blocks(given) is given


def test_a_predicate_becomes_a_condition_over_loop_variables() -> None:
    made = lower_blocks(
        func(
            "for i in serial(0, 10):",
            '    with block("C"):',
            "        v = axis.spatial(64, i * 7)",
            "        where(i * 7 < 64)",
            "        C[v] = A[v]",
        )
    )
    assert body(made) == text(
        "for i in serial(0, 10):",
        "    if i * 7 < 64:",
        "        C[i * 7] = A[i * 7]",
    )


def test_an_axis_of_an_inner_block_is_bound_through_the_outer_one() -> None:
    made = lower_blocks(
        func(
            "for i in serial(0, 8):",
            '    with block("outer"):',
            "        v = axis.spatial(8, i)",
            "        for j in serial(0, 8):",
            '            with block("inner"):',
            "                w = axis.spatial(64, v * 8 + j)",
            "                C[w] = A[w]",
        )
    )
    assert body(made) == text(
        "for i in serial(0, 8):",
        "    for j in serial(0, 8):",
        "        C[i * 8 + j] = A[i * 8 + j]",
    )
