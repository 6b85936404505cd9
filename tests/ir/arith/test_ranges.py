"""The ranges of loop variables, axes and dimensions."""

from irkit.ir import (
    F32,
    I64,
    Axis,
    Block,
    Buffer,
    Expr,
    For,
    Interval,
    Let,
    PrimFunc,
    Stmt,
    Var,
    const,
    loop_ranges,
    lt,
    prove,
    seq,
)

A, J, K, N = (Var(name) for name in "ijkn")


def loop(var: Var, end: Expr | int, body: Stmt | None = None, begin: Expr | int = 0) -> For:
    def number(value: Expr | int) -> Expr:
        return value if isinstance(value, Expr) else const(value, I64)

    return For(var, number(begin), number(end), seq() if body is None else body)


def test_a_loop_bounds_its_variable_and_those_inside() -> None:
    found = loop_ranges(loop(A, 10, loop(J, A + 1, begin=A // 2)))
    assert found == {A: Interval(0, 9), J: Interval(0, 9)}


def test_a_symbolic_extent_has_no_upper_limit() -> None:
    func = PrimFunc("f", (Buffer("X", (N,), F32),), loop(A, N))
    assert loop_ranges(func) == {N: Interval(0, None), A: Interval(0, None)}


def test_a_split_symbolic_loop_leaves_room_for_its_index() -> None:
    func = PrimFunc("f", (Buffer("X", (N,), F32),), loop(A, (N + 15) // 16, loop(J, 16)))
    ranges = loop_ranges(func)
    assert prove(lt(A * 16 + J - J, A * 16 + 1), ranges)


def test_a_loop_that_never_runs_has_a_well_formed_range() -> None:
    assert loop_ranges(loop(A, 0)) == {A: Interval(0, 0)}


def test_an_axis_lies_in_its_extent_unless_its_predicate_checks_it() -> None:
    axis = Axis(K, const(17, I64), A * 8 + J)
    inside = lt(A * 8 + J, 17)
    for predicate, high in ((inside, 16), (lt(K, 17), 23)):
        block = Block("B", (axis,), seq(), predicate=predicate)
        assert loop_ranges(loop(A, 3, loop(J, 8, block)))[K] == Interval(0, high)


def test_a_let_has_the_range_of_its_value() -> None:
    assert loop_ranges(loop(A, 4, Let(J, A * 2, seq())))[J] == Interval(0, 6)


def test_ranges_of_a_function_are_cached_and_changing_the_result_does_not_matter() -> None:
    func = PrimFunc("f", (), loop(A, 4))
    first = loop_ranges(func)
    first.clear()
    assert loop_ranges(func) == {A: Interval(0, 3)}


def test_outer_ranges_count_inside() -> None:
    found = loop_ranges(loop(A, N), {N: Interval(1, 8)})
    assert found[A] == Interval(0, 7)
