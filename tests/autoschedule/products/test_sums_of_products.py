"""Reductions that add up several products keep their results, and their lanes read neighbours."""

from hypothesis import given, settings, strategies as st

from irkit import te
from irkit.autoschedule import Machine, auto_schedule
from irkit.core import walk
from irkit.ir import Block, Expr, Load, PrimFunc, Var
from irkit.schedule import only_store
from tests.autoschedule.products.test_products import check
from tests.draws import few_or_all


def sums(
    rows: int, columns: int, steps: int, *, minus: bool, turned: tuple[bool, bool], same: bool
) -> PrimFunc:
    """Return the sum or difference of two products, each operand stored in either order."""
    count = rows if same else columns
    first = (steps, rows) if turned[0] else (rows, steps)
    second = (steps, count) if turned[1] else (count, steps)
    a, b = (te.placeholder(first, name=name) for name in "ab")
    c, d = (a, b) if same else (te.placeholder(second, name=name) for name in "cd")
    k = te.reduce_axis((0, steps), name="k")

    def at(of: te.Tensor, i: Expr, *, is_turned: bool) -> Expr:
        return of[k, i] if is_turned else of[i, k]

    def cell(i: Var, j: Var) -> Expr:
        last = turned[0] if same else turned[1]
        one = at(a, i, is_turned=turned[0]) * at(d, j, is_turned=last)
        two = at(c, j, is_turned=last) * at(b, i, is_turned=turned[0])
        return te.sum(one - two if minus else one + two, axis=k)

    result = te.compute((rows, count), cell, name="y")
    return te.create_prim_func([a, b, result] if same else [a, b, c, d, result])


@settings(max_examples=few_or_all(12, 40), deadline=None, derandomize=True)
@given(
    sizes=st.tuples(st.integers(1, 60), st.integers(1, 60), st.integers(1, 40)),
    minus=st.booleans(),
    turned=st.tuples(st.booleans(), st.booleans()),
    same=st.booleans(),
    vector=st.sampled_from([16, 32, 64]),
)
def test_sums_of_products_of_any_shape_are_exact(
    sizes: tuple[int, int, int],
    minus: bool,
    turned: tuple[bool, bool],
    same: bool,
    vector: int,
) -> None:
    func = sums(*sizes, minus=minus, turned=turned, same=same)
    check(func, Machine.with_vectors(vector))


def test_lanes_read_neighbours_of_a_copy_with_the_line_last() -> None:
    made = auto_schedule(sums(40, 50, 60, minus=False, turned=(False, False), same=False))
    copies = [each for each in walk(made, on=Block) if each.name in ("y_c", "y_d")]
    assert len(copies) == 2
    for copy in copies:
        store = only_store(copy)
        assert store is not None
        assert isinstance(store.value, Load)
        assert store.indices == store.value.indices[::-1]


def test_an_input_that_few_results_use_is_not_copied() -> None:
    """Seven results use an element of ``x``."""
    x, w = te.placeholder((40, 60), name="x"), te.placeholder((60, 7), name="w")
    k = te.reduce_axis((0, 60), name="k")
    y = te.compute((7, 40), lambda j, i: te.sum(x[i, k] * w[k, j] + x[i, k], axis=k), name="y")
    func = te.create_prim_func([x, w, y])
    assert not [each for each in walk(auto_schedule(func), on=Block) if each.name == "y_x"]
    check(func)
