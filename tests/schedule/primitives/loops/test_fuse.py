"""fuse: nested loops become one over their product."""

import numpy as np
import pytest

from irkit.core import ScheduleError, walk
from irkit.ir import For, PrimFunc, interpret, parse, script
from irkit.schedule import Schedule
from irkit.schedule.primitives.loops.fuse import fuse
from tests.schedule.kernels import assert_same_results, chain, matmul


def test_fused_loops_run_over_the_product() -> None:
    sch = Schedule(matmul(3, 5, 2))
    i, j, _ = sch.get_loops(sch.get_block("C"))
    fused = sch.fuse(i, j)
    assert script(sch.loop(fused).end) == "15"
    assert_same_results(matmul(3, 5, 2), sch.func)


def test_loops_that_are_not_nested_directly_cannot_be_fused() -> None:
    sch = Schedule(matmul(3, 5, 2))
    i, _, r = sch.get_loops(sch.get_block("C"))
    with pytest.raises(ScheduleError, match="not the only statement"):
        sch.fuse(i, r)


@pytest.mark.parametrize("name", ["fuse", "reorder"])
def test_no_loops_at_all_are_refused(name: str) -> None:
    with pytest.raises(ScheduleError, match=f"{name} was given no loops"):
        getattr(Schedule(chain(16)), name)()


def fused_nest(func: PrimFunc) -> tuple[PrimFunc, str]:
    """Fuse all loops of a function; return the extent of the fused loop as text too."""
    made, var = fuse(func, [loop.var for loop in walk(func, on=For)])
    (end,) = [loop.end for loop in walk(made, on=For) if loop.var is var]
    return made, script(end)


def empty_nest(ends: tuple[str, ...], before: str = "") -> PrimFunc:
    lines = ["def f(N: f32[n], m: i64, B: f32[n + 9, n + 9, n + 9]):"]
    lines += [f"    {line}" for line in before.splitlines()]
    lines += [f"{'    ' * (at + 1)}for {'ijk'[at]} in serial(0, {e}):" for at, e in enumerate(ends)]
    index = ", ".join(["i", "j", "k"][: len(ends)] + ["0"] * (3 - len(ends)))
    lines.append(f"{'    ' * (len(ends) + 1)}B[{index}] = B[{index}] + f32(1.0)")
    return parse("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("ends", "before", "extent"),
    [
        (("n - 8", "n - 8"), "", "max(n - 8, 0) * (n - 8)"),
        (("n - 8", "m"), "", "max(n - 8, 0) * max(m, 0)"),
        (("n", "n // 2"), "", "n * (n // 2)"),
        (("n", "n - 8"), "", "n * max(n - 8, 0)"),
        (("n - 8", "n - 8"), 'assert n >= 8, "small"', "(n - 8) * (n - 8)"),
        (("m", "m - 2"), 'assert m >= 2, "small"\nassert n >= 1, "none"', "m * (m - 2)"),
        (("m", "-2"), "", "max(m, 0) * 0"),
        (("n + 9", "n * n", "4"), "", "(n + 9) * (n * n) * 4"),
        (("m", "m", "m"), "", "max(m, 0) * m * m"),
    ],
)
def test_loops_that_may_be_empty_are_fused_into_one_that_is_empty_then(
    ends: tuple[str, ...], before: str, extent: str
) -> None:
    func = empty_nest(ends, before)
    made, end = fused_nest(func)
    assert end == extent
    for n, m in ((3, 5), (0, -3), (8, 1), (9, 0), (10, -1), (11, 4)):
        found, expected = (np.zeros((n + 9, n + 9, n + 9), np.float32) for _ in range(2))
        if ("n >= 8" in before and n < 8) or ("m >= 2" in before and (m < 2 or n < 1)):
            continue
        if max(m, n * n * (ends[1] == "n * n")) > n + 9:
            continue
        interpret(func, np.zeros(n, np.float32), m, expected)
        interpret(made, np.zeros(n, np.float32), m, found)
        np.testing.assert_array_equal(found, expected)


def test_a_dimension_is_not_negative() -> None:
    """Tensor expressions run over dimensions of their results."""
    func = parse(
        "def f(B: f32[n - 2, m - 2], N: f32[n], M: f32[m]):\n"
        "    for i in serial(0, n - 2):\n        for j in serial(0, m - 2):\n"
        "            B[i, j] = f32(1.0)\n"
    )
    assert fused_nest(func)[1] == "(n - 2) * (m - 2)"
