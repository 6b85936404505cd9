"""Boxes, compared with the elements that random programs touch."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from irkit.core import substitute, walk
from irkit.ir import (
    Const,
    Expr,
    For,
    Load,
    PrimFunc,
    Store,
    access_regions,
    as_int,
    parse,
    script,
    simplify,
)
from irkit.ir.analysis import IndexBoxes, bound_inside, box_of, boxes, merged_sides, touches
from irkit.ir.arith import Sum, loop_ranges
from irkit.ir.arith.sums import Atoms
from tests.ir.analysis.examples import MANY
from tests.ir.analysis.execution import Run, Touch
from tests.ir.analysis.programs import nests


def number(expr: Expr, touch: Touch, loop: For) -> int | None:
    """Evaluate an expression in one iteration of a loop and of those around it."""
    steps = touch.steps[: [at for at, _ in touch.steps].index(loop) + 1]
    found = substitute(expr, {around.var: Const(step, around.var.dtype) for around, step in steps})
    others = {var: Const(3, var.dtype) for var in walk(found) if getattr(var, "name", "") == "k"}
    return as_int(simplify(substitute(found, others)))


def check_boxes(func: PrimFunc) -> int:
    """Check the boxes of all loops, and return how many of them are known."""
    run, ranges, regions, sides = (
        Run(func),
        loop_ranges(func),
        access_regions(func),
        IndexBoxes(func),
    )
    known = 0
    for loop in walk(func.body, For):
        inside = [t for t in run.touches if any(each is loop for each, _ in t.steps)]
        inner = bound_inside(loop.body)
        for buffer in (func.params[0], *(b for b in {t.memory for t in inside} if b.name == "U")):
            for kind, part in ((Load, regions.reads), (Store, regions.writes)):
                found = touches(loop.body, buffer, kind)
                assert found is not None
                mine = [t for t in inside if t.memory is buffer and t.writes == (kind is Store)]
                assert found or not mine
                (whole,) = box_of(found, ranges) if found else (None,)
                side = merged_sides(sides.side(access.node.indices[0], inner) for access in found)
                known += (whole is not None) + (side is not None)
                spans = [(r.begins[0], r.extents[0]) for r in part(loop.body) if r.buffer is buffer]
                for touch in mine:
                    at = touch.at % (1 << 20)
                    if whole is not None:
                        low, high = number(whole.low, touch, loop), number(whole.high, touch, loop)
                        assert low is not None
                        assert high is not None
                        assert low <= at <= high
                    if side is not None:
                        corner = number(sides.sums.expr(side.corner), touch, loop)
                        assert corner is not None
                        assert corner + side.low <= at <= corner + side.high
                    begins = [(number(b, touch, loop), number(e, touch, loop)) for b, e in spans]
                    assert any(
                        b is not None and e is not None and b <= at < b + e for b, e in begins
                    )
    return known


@MANY
@given(nests())
def test_every_element_that_a_loop_touches_is_in_its_boxes(func: PrimFunc) -> None:
    check_boxes(func)


FACTORS = st.tuples(*[st.integers(-3, 3)] * 4)


@MANY
@given(FACTORS, st.integers(1, 4), st.integers(1, 3), st.booleans())
def test_the_box_of_a_linear_index_is_exact(
    factors: tuple[int, ...], outer: int, inner: int, triangular: bool
) -> None:
    a, b, c, d = factors
    end = f"i + {inner}" if triangular else str(inner)
    func = parse(
        "def f(A: i64[64]):\n    for o in serial(0, 3):\n"
        f"        for i in serial(1, {outer + 1}):\n"
        f"            for j in serial(0, {end}):\n"
        f"                x: i64 = j * ({c})\n"
        f"                A[o * ({a}) + i * ({b}) + x + ({d})] = 0\n"
    )
    loop = next(walk(func.body, For))
    found = touches(loop.body, func.params[0], Store)
    assert found is not None
    (side,) = box_of(found, loop_ranges(func))
    assert side is not None
    mine = [touch for touch in Run(func).touches if touch.steps[0][1] == 2]
    ends = [number(end, mine[0], loop) for end in (side.low, side.high)]
    assert ends == [min(t.at for t in mine), max(t.at for t in mine)]


GUARDED = """\
def f(A: i64[64], U: i64[64]):
    for o in serial(0, 4):
        for i in serial(0, 4):
            m: i64 = i + 1
            for j in serial(0, m):
                A[o * 8 + i + j] = U[(i * 4 + j) // 2] + U[i * j]
"""


def test_a_box_follows_lets_and_bounds_what_is_not_linear() -> None:
    func = parse(GUARDED)
    loop = next(walk(func.body, For))
    shown = []
    for buffer, kind in zip(func.params, (Store, Load), strict=True):
        found = touches(loop.body, buffer, kind)
        assert found is not None
        (side,) = box_of(found, loop_ranges(func))
        assert side is not None
        shown.append((script(side.low), script(side.high)))
    assert shown == [("o * 8", "o * 8 + 6"), ("0", "9")]
    assert check_boxes(func) == 9


def test_a_box_reaches_down_where_what_is_not_linear_is_subtracted() -> None:
    func = parse(
        "def f(A: i64[64]):\n    for o in serial(0, 2):\n        for i in serial(0, 4):\n"
        "            A[o + 20 - i * i] = 0\n"
    )
    loop = next(walk(func.body, For))
    found = touches(loop.body, func.params[0], Store)
    assert found is not None
    (side,) = box_of(found, loop_ranges(func))
    assert side is not None
    assert (script(side.low), script(side.high)) == ("o + 11", "o + 20")
    assert check_boxes(func) == 4


def swapped(sums: Atoms, found: Sum | None, loop: For, *, upwards: bool) -> Sum | None:
    return AT_END(sums, found, loop, upwards=not upwards)


AT_END = boxes._at_end  # pyright: ignore[reportPrivateUsage] -- planted bugs call it
SEVERAL = GUARDED + "        U[o + 5] = U[o + 2] + U[o + 7] + U[o]\n"


def check_several() -> None:
    check_boxes(parse(SEVERAL))
    test_a_box_follows_lets_and_bounds_what_is_not_linear()


@pytest.mark.parametrize(
    "bug",
    [
        (boxes, "_at_end", swapped),
        (boxes, "joined", lambda a, b, ranges: a),
        (boxes, "distance", lambda a, b: 0),
        (Sum, "exact", lambda found, spans: (0, 0)),
        (boxes.AccessFinder, "_with_values", lambda finder, loop: loop),
    ],
    ids=["ends swapped", "first box", "no distance", "no reach", "lets forgotten"],
)
def test_a_planted_bug_in_boxes_is_found(bug: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_boxes(parse(SEVERAL)) > 0
    where, name, wrong = bug
    monkeypatch.setattr(where, name, wrong)
    with pytest.raises(AssertionError):
        check_several()
