"""The init of a block runs in the first step of its reduction."""

from irkit.passes.loop import lower_init_blocks
from tests.passes.loop.programs import body, func, text


def test_a_block_without_init_is_left_alone() -> None:
    given = func('with block("C"):', "    v = axis.spatial(8, n)", "    C[v] = A[v]")
    assert lower_init_blocks(given) is given


def test_with_two_reduce_axes_the_init_runs_where_both_are_0() -> None:
    made = lower_init_blocks(
        func(
            "for i in serial(0, 8):",
            "    for j in serial(0, 8):",
            '        with block("C"):',
            "            vi = axis.reduce(8, i)",
            "            vj = axis.reduce(8, j)",
            "            with init():",
            "                C[0] = f32(0.0)",
            "            C[0] = C[0] + B[vi, vj]",
        )
    )
    assert body(made) == text(
        "for i in serial(0, 8):",
        "    for j in serial(0, 8):",
        '        with block("C"):',
        "            vi = axis.reduce(8, i)",
        "            vj = axis.reduce(8, j)",
        "            if vi == 0 and vj == 0:",
        "                C[0] = f32(0.0)",
        "            C[0] = C[0] + B[vi, vj]",
    )


def test_without_a_reduce_axis_the_init_always_runs() -> None:
    made = lower_init_blocks(
        func(
            'with block("C"):',
            "    v = axis.spatial(8, n)",
            "    with init():",
            "        C[v] = f32(0.0)",
            "    C[v] = C[v] + A[v]",
        )
    )
    assert body(made) == text(
        'with block("C"):',
        "    v = axis.spatial(8, n)",
        "    C[v] = f32(0.0)",
        "    C[v] = C[v] + A[v]",
    )
