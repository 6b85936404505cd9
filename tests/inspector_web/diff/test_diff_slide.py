"""Hunks begin at their outermost line."""

from irkit.inspector_web import diff_lines, side_by_side
from tests.inspector_web.diff.diff_programs import both

NESTS = """def f(A: f32[4], B: f32[4]):
    for i in serial(0, 4):
        A[i] = f32(0.0)
    for j in serial(0, 4):
        A[j] = f32(0.0)
    for i in serial(0, 4):
        A[i] = f32(0.0)
"""


def test_a_new_loop_begins_at_its_head() -> None:
    loop = "    for k in serial(0, 4):\n        A[0] = f32(0.0)\n"
    before, after, table = both(NESTS + loop, NESTS + loop + loop)
    rows = side_by_side(diff_lines(before, after), table)
    added = [table.lines[int(after[row.right - 1])] for row in rows if row.kind == "added"]
    assert added == loop.splitlines()
    before, after, table = both(
        "    for i in serial(0, 4):\n        A[0] = f32(0.0)\n    B[0] = f32(0.0)\n",
        "    for i in serial(0, 4):\n        A[0] = f32(0.0)\n    B[0] = f32(0.0)\n"
        "        A[0] = f32(0.0)\n    B[0] = f32(0.0)\n",
    )
    rows = side_by_side(diff_lines(before, after), table)
    heads = [table.lines[int(after[row.right - 1])] for row in rows if row.kind == "added"]
    assert heads[0] == "    B[0] = f32(0.0)"
