"""One level of parallel loops stays, and siblings do not matter."""

from irkit.core import Span, walk
from irkit.ir import For, no_nested_parallel_loops, parse
from irkit.passes.loop import serialize_inner_parallel_loops

NESTED = """def f(A: f32[4, 4, 4]):
    for i in serial(0, 4):
        for j in parallel(0, 4):
            for k in serial(0, 4):
                for l in parallel(0, 2):
                    A[i, j, k] = f32(1.0)
    for m in parallel(0, 4):
        A[m, 0, 0] = f32(2.0)
"""


def test_only_inner_parallel_loops_become_serial() -> None:
    func = parse(NESTED)
    assert no_nested_parallel_loops.predicate(func)
    after = serialize_inner_parallel_loops(func)
    kinds = [(loop.var.name, loop.kind) for loop in walk(after, on=For)]
    assert kinds == [
        ("i", "serial"),
        ("j", "parallel"),
        ("k", "serial"),
        ("l", "serial"),
        ("m", "parallel"),
    ]
    assert not no_nested_parallel_loops.predicate(after)


def test_parallel_loops_side_by_side_stay() -> None:
    func = parse(NESTED.replace("parallel(0, 2)", "serial(0, 2)"))
    assert serialize_inner_parallel_loops(func) is func


def test_the_line_of_a_changed_loop_is_kept() -> None:
    after = serialize_inner_parallel_loops(parse(NESTED, file="nest.irs"))
    (inner,) = [loop for loop in walk(after, on=For) if loop.var.name == "l"]
    assert inner.span == Span("text", "", "nest.irs", 5)
