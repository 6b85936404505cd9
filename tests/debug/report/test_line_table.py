"""A node is found on the line where it is printed, even if a rewrite made it on the way."""

from irkit.core import rewrite, walk
from irkit.debug import NodeLines
from irkit.graph import GRAPH_LEVEL, parse as parse_graph
from irkit.ir import F32, LOOP_LEVEL, Add, Block, Const, For, If, Store, parse, script
from tests.passes.loop.kernels import KERNELS, kernel

TEXT = """\
@attrs(tuned=True)
def f(A: f32[8], C: f32[8]):
    for i in serial(0, 2):
        if i > 0:
            C[i] = A[i]
        elif i < 1:
            C[i] = A[i + 1]
    for j in serial(0, 2):
        C[j] = f32(1.0)
"""

GRAPH = """\
def main(x: f32[4]):
    y: f32[4] = relu(x)
    z: f32[4] = add(x, y)
    return z
"""


def test_statements_and_their_expressions_have_a_line() -> None:
    func = parse(TEXT)
    assert script(func) == TEXT
    lines = NodeLines(LOOP_LEVEL, func)
    assert lines.of(func) == 2
    assert [lines.of(loop) for loop in walk(func, For)] == [3, 8]
    assert [lines.of(branch) for branch in walk(func, If)] == [4, 6]
    assert [lines.of(store) for store in walk(func, Store)] == [5, 7, 9]
    assert [lines.of(add) for add in walk(func, Add)] == [7]


def test_a_node_made_by_a_rewrite_is_found_by_what_it_introduces_or_by_its_span() -> None:
    func = parse(TEXT)
    changed = rewrite(func, lambda store: store.replace(value=Const(1.0, F32)), on=Store)
    lines = NodeLines(LOOP_LEVEL, func)
    assert [lines.of(loop) for loop in walk(changed, For)] == [3, 8]
    assert [lines.of(store) for store in walk(changed, Store)] == [5, 7, 9]
    assert lines.of(Const(123.0, F32)) == 0


def test_every_loop_block_and_store_of_the_kernels_is_on_its_line() -> None:
    for name in KERNELS:
        func = kernel(name)
        text = script(func).splitlines()
        lines = NodeLines(LOOP_LEVEL, func)
        for node in walk(func, (For, Block, Store)):
            line = text[lines.of(node) - 1]
            match node:
                case For(var):
                    assert f"for {var.name}" in line
                case Block():
                    assert f'block("{node.name}"' in line
                case _:
                    assert " = " in line or "store(" in line


def test_bindings_of_a_graph_have_a_line() -> None:
    func = parse_graph(GRAPH)
    lines = NodeLines(GRAPH_LEVEL, func)
    assert [lines.of(bind) for bind in func.body.bindings] == [2, 3]
    assert [lines.of(bind.step) for bind in func.body.bindings] == [2, 3]
    assert lines.of(func) == 1
