"""Linear forms, compared with the values of random expressions."""

from hypothesis import given

from irkit.core import equal
from irkit.ir import I8, I32, I64, Buffer, Expr, Interval, Var, cast, linear, minimum
from irkit.ir.arith import IndexSums, Sum
from tests.ir.arith.test_soundness import (
    FAST,
    PROGRAMS,
    Case,
    Env,
    Program,
    cases,
    environments,
    index,
    value,
    wrapped,
)

A, J, N = Var("a"), Var("j"), Var("n")
RANGES = {A: Interval(0, 7), J: Interval(0, 7)}


def total(sums: IndexSums, found: Sum, env: Env) -> int:
    terms = (c * value(sums.atom(product), env) for product, c in found.terms.items())
    return sum(terms, found.constant)


@FAST
@given(cases(), PROGRAMS)
def test_a_linear_form_is_its_expression_modulo_the_size_of_its_type(
    case: Case, program: Program
) -> None:
    expr, ranges = case
    for each in (expr, index(program[:8], expr.dtype, [*ranges])):
        form = linear(each)
        assert form is not None
        for env in environments(ranges):
            terms = [c * value(atom, env) for atom, c in form.terms]
            assert wrapped(sum(terms, form.constant), expr.dtype) == value(each, env)
            assert value(form.expr(), env) == value(each, env)


@FAST
@given(cases(), PROGRAMS)
def test_the_sum_of_an_index_is_its_value(case: Case, program: Program) -> None:
    expr, ranges = case
    held = Var("held", expr.dtype)
    sums = IndexSums(ranges, {held: expr})
    narrow = index(program[:6], expr.dtype, [*ranges, held])
    wide = index(program[:6], I64, [cast(held, I64), cast(narrow, I64)])
    for env in environments(ranges):
        env = {**env, held: value(expr, env)}
        for each in (expr, held, narrow, wide):
            found, wanted = total(sums, sums.sum_of(each), env), value(each, env)
            # 64-bit indices are assumed not to wrap around.
            assert (wrapped(found, I64) if each.dtype == I64 else found) == wanted


def test_an_index_is_read_through_lets_casts_and_tiles() -> None:
    small, let = Var("small", I32), Var("let")
    sums = IndexSums({**RANGES, small: Interval(0, 99)}, {let: A * 8 + J})

    def is_sum(expr: Expr, wanted: Expr) -> bool:
        return sums.sum_of(expr).key == sums.sum_of(wanted).key

    assert is_sum(let // 8, A)
    assert is_sum(let % 8, J)
    assert is_sum((let + 1) * N - N, A * N * 8 + J * N)
    assert is_sum(cast(small * 2 + 1, I64), cast(small, I64) * 2 + 1)
    assert sums.sum_of(let - J).terms == sums.sum_of(A).scaled(8).terms
    assert equal(sums.expr(sums.sum_of(let + 1)), A * 8 + J + 1)


def test_a_sum_that_can_wrap_around_is_an_atom() -> None:
    small = Var("small", I8)
    sums = IndexSums({})
    (product,) = sums.sum_of(small + 1).terms
    assert sums.atom(product) == small + 1
    assert sums.sum_of(cast(small + 1, I64)).key == sums.sum_of(small + 1).key


def test_a_value_held_in_a_variable_is_not_one_that_is_loaded_now() -> None:
    held = Var("held")
    load = Buffer("A", (N,), I64)[0]
    sums = IndexSums({}, {held: load})
    assert sums.sum_of(minimum(held, 3)).key != sums.sum_of(minimum(load, 3)).key
    assert sums.sum_of(minimum(held, 3)).key == sums.sum_of(minimum(3, held)).key
