"""Loop nests with their sizes, and what a pass changes about them."""

import msgspec

from irkit.inspector_web import Texts
from irkit.inspector_web.views.nest import nest, nest_changes
from irkit.ir import I64, Call, Const, Evaluate, For, PrimFunc, Stmt, Var, parse
from irkit.phases import trace
from irkit.transform import Trace
from tests.inspector_web.views.shapes_programs import part_of
from tests.passes.loop.kernels import kernel


def test_a_matmul_has_the_expected_bytes_and_operations() -> None:
    rows = nest(part_of(kernel("MATMUL")))
    whole = rows[0]
    products = 6 * 8 * 5
    assert whole.flops == 2 * products
    assert whole.read == 4 * 3 * products
    assert whole.written == 4 * (products + 6 * 8)
    assert [(row.name, row.extent, row.trips) for row in rows if row.kind == "loop"] == [
        ("i", 6, 6), ("j", 8, 48), ("k", 5, 240),
    ]  # fmt: skip
    msgspec.json.encode(rows)


LANES = """
def f(A: f32[8], B: f32[8]):
    B[ramp(0, 1, 8)] = A[ramp(0, 1, 8)] + broadcast(f32(1.0), 8)
"""


def test_each_lane_counts() -> None:
    whole = nest(part_of(parse(LANES)))[0]
    assert (whole.flops, whole.read, whole.written) == (8, 32, 32)


def test_an_unknown_extent_makes_numbers_unknown() -> None:
    func = parse(
        "def f(A: f32[n], B: f32[4]):\n"
        "    for i in serial(0, n):\n"
        "        A[i] = A[i] + f32(1.0)\n"
        "    for j in serial(0, 4):\n"
        "        B[j] = f32(0.0)\n"
    )
    rows = nest(part_of(func))
    assert (rows[0].flops, rows[0].written) == (None, None)
    (known,) = [row for row in rows if row.kind == "loop" and row.extent == 4]
    assert (known.flops, known.written) == (0, 16)


def test_rows_point_at_their_lines() -> None:
    texts = Texts(Trace(trace(kernel("SOFTMAX"))))
    for step in texts.trace:
        lines = texts.lines(step.index)
        for row in nest(texts.of(step.index).parts[0][1]):
            if row.kind == "loop":
                assert f"for {row.name}" in lines[row.line - 1]


def test_the_rows_of_a_deep_nest_are_listed() -> None:
    body: Stmt = Evaluate(Call("prefetch", (), I64))
    for at in range(1_500):
        body = For(Var(f"i{at}"), Const(0, I64), Const(1, I64), body)
    rows = nest(part_of(PrimFunc("f", (), body)))
    assert [row.depth for row in rows] == list(range(1_502))
    assert [row.parent for row in rows] == list(range(-1, 1_501))


def test_the_sums_of_a_tree_are_those_of_its_children() -> None:
    rows = nest(part_of(kernel("CONV_PADDED")))
    for at, row in enumerate(rows):
        below = [other for other in rows if other.parent == at]
        if below and row.kind in ("loop", "function", "block"):
            assert row.written == sum(other.written or 0 for other in below)


def test_a_pass_changes_the_tree_where_it_changes_loops() -> None:
    texts = Texts(Trace(trace(kernel("TILED_MATMUL"))))
    for step in texts.trace:
        sides = [nest(texts.of(step.index, side).parts[0][1]) for side in ("before", "after")]
        changes = nest_changes(*sides)
        assert [each.before for each in changes if each.before] == sides[0]
        assert [each.after for each in changes if each.after] == sides[1]
        if not step.changed:
            assert {each.status for each in changes} == {"same"}
        if step.name == "vectorize-loops":
            gone = [each.before for each in changes if each.status == "removed" and each.before]
            assert "vectorized" in [row.mark for row in gone]
