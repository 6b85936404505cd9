"""Every loop starts at 0."""

from irkit.passes.loop import canonicalize_loops
from tests.passes.loop.programs import applied_with_remarks


def test_a_begin_that_reads_memory_is_read_once_in_front_of_the_loop() -> None:
    made, _ = applied_with_remarks(
        canonicalize_loops, "for i in serial(cast(A[0], i64), n):", "    A[0] = f32(1.0) + A[i]"
    )
    assert made == [
        "i_begin: i64 = cast(A[0], i64)",
        "for i in serial(0, n - i_begin):",
        "    A[0] = f32(1.0) + A[i + i_begin]",
    ]


def test_inner_loops_that_begin_at_outer_ones_begin_at_0_too() -> None:
    made, _ = applied_with_remarks(
        canonicalize_loops,
        "for i in serial(1, 5):",
        "    for j in serial(i, 8):",
        "        B[i, j] = A[j]",
    )
    assert made == [
        "for i in serial(0, 4):",
        "    for j in serial(0, 8 - (i + 1)):",
        "        B[i + 1, j + (i + 1)] = A[j + (i + 1)]",
    ]


def test_a_loop_whose_extent_does_not_fit_its_type_stays() -> None:
    lines = ("for i in serial(i8(-100), i8(100)):", "    C[cast(i, i64) + 100] = f32(1.0)")
    made, said = applied_with_remarks(canonicalize_loops, *lines)
    assert made == list(lines)
    assert said == ["its number of iterations may not fit its type: left as it begins"]
