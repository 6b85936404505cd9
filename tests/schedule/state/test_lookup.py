"""Looking up statements: paths of any depth, and errors that list the known names."""

import pytest

from irkit.core import ScheduleError
from irkit.ir import I64, Const, Evaluate, For, PrimFunc, Stmt, Var, seq
from irkit.schedule import Schedule
from irkit.schedule.state.lookup import path_to
from tests.schedule.kernels import chain


def test_the_error_for_an_unknown_block_lists_the_known_ones() -> None:
    with pytest.raises(ScheduleError, match="B, C, D"):
        Schedule(chain(8)).get_block("E")


def test_the_path_to_a_statement_has_everything_around_it_and_nothing_beside_it() -> None:
    target: Stmt = Evaluate(Const(0, I64))
    around: list[Stmt] = [target]
    for at in range(20_000):
        if at % 2:
            around.append(For(Var("i"), Const(0, I64), Const(2, I64), around[-1]))
        else:
            around.append(seq(For(Var("j"), Const(0, I64), Const(2, I64), seq()), around[-1]))
    func = PrimFunc("f", (), around[-1])
    assert path_to(func, target) == around[::-1]
    with pytest.raises(AssertionError, match="not part of the function"):
        path_to(func, Evaluate(Const(0, I64)))
