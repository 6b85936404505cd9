"""The statements of a function and the paths to them, against a plain search."""

from hypothesis import given, settings

from irkit.core import children, walk
from irkit.ir import Block, For, PrimFunc, Stmt, parse, seq, statements
from tests.draws import few_or_all
from tests.ir.analysis.programs import nests

BLOCKS = """def f(A: f32[8, 8], C: f32[8]):
    for i in serial(0, 8):
        for k in serial(0, 8):
            with block("C"):
                v = axis.spatial(8, i)
                r = axis.reduce(8, k)
                with init():
                    C[v] = f32(0.0)
                if A[v, r] > f32(0.0):
                    C[v] = C[v] + A[v, r]
"""


def paths(stmt: Stmt, around: tuple[Stmt, ...] = ()) -> list[tuple[Stmt, ...]]:
    below = [each for each in children(stmt) if isinstance(each, Stmt)]
    own = (*around, stmt)
    return [own, *(path for each in below for path in paths(each, own))]


def check(func: PrimFunc) -> None:
    table = statements(func)
    assert list(table.all) == list(walk(func.body, Stmt))
    assert list(table.blocks) == list(walk(func.body, Block))
    assert list(table.loops) == list(walk(func.body, For))
    for path in paths(func.body):
        assert tuple(table.path(path[-1])) == path
    for loop in table.loops:
        assert table.loop(loop.var) is loop


@settings(max_examples=few_or_all(12, 30))
@given(nests())
def test_all_statements_are_found_in_text_order_with_what_is_around_them(func: PrimFunc) -> None:
    check(func)


def test_a_block_and_its_parts_are_found() -> None:
    check(parse(BLOCKS))


def test_a_statement_in_two_places_counts_where_it_comes_first() -> None:
    func = parse(BLOCKS)
    inner = statements(func).loops[1]
    twice = func.replace(body=func.body.replace(body=seq(inner, inner)))
    table = statements(twice)
    assert [loop.var.name for loop in table.loops] == ["i", "k"]
    assert table.path(inner)[0] is twice.body


def test_a_statement_of_another_function_is_not_in_it() -> None:
    assert parse(BLOCKS).body not in statements(parse(BLOCKS))
