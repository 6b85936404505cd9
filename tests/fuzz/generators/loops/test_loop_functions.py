"""Random functions are valid, survive a trip through text, and have no undefined behaviour."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

from irkit.core import same, walk
from irkit.fuzz import Picks, arguments, picks_of, prim_funcs
from irkit.fuzz.generators.arguments import draw_arguments
from irkit.fuzz.generators.loops.lane_loops import lane_function
from irkit.fuzz.generators.loops.loop_functions import loop_function, thread_function
from irkit.ir import (
    Allocate,
    Block,
    For,
    If,
    Let,
    PrimFunc,
    Stmt,
    View,
    interpret,
    parse,
    script,
    verify,
)
from tests.draws import few_or_all

FEW = settings(
    max_examples=few_or_all(24, 60),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@FEW
@given(prim_funcs())
def test_a_random_function_is_valid_and_survives_text(func: PrimFunc) -> None:
    assert verify(func) == []
    text = script(func)
    again = parse(text)
    assert same(again, func)
    assert script(again) == text


@FEW
@given(prim_funcs())
def test_a_random_function_runs_and_gives_the_same_again(func: PrimFunc) -> None:
    with np.errstate(all="ignore"):
        runs = [arguments(func, seed=1) for _ in range(2)]
        for args in runs:
            interpret(func, *args)
    for first, second in zip(*runs, strict=True):
        assert np.array_equal(first, second)


def wide_function(picks: Picks) -> PrimFunc:
    return loop_function(picks, wide=True)


@pytest.mark.parametrize(
    ("draw", "shows"),
    [
        (wide_function, ("where(", "strides", "serial(0, min(", "mask=")),
        (thread_function, ("strides", "(t % ", "threadIdx.z", "r2 in thread")),
        (lane_function, ("vectorized", "* i", "if i")),
    ],
)
def test_programs_that_passes_seldom_meet_are_drawn_and_run(
    draw: Callable[[Picks], PrimFunc], shows: tuple[str, ...]
) -> None:
    texts = list[str]()
    for number in range(150):
        func = draw(picks_of(number))
        assert verify(func) == []
        interpret(func, *draw_arguments(func, picks_of(number), empty=False).copied())
        texts.append(script(func))
    assert [each for each in shows if not any(each in text for text in texts)] == []


@pytest.mark.parametrize("cls", [For, Block, If, Let, Allocate, View])
def test_every_kind_of_statement_is_made(cls: type[Stmt]) -> None:
    seek = settings(FEW, phases=[Phase.generate], max_examples=few_or_all(200, 500))
    found = find(prim_funcs(), lambda func: any(True for _ in walk(func.body, cls)), settings=seek)
    assert isinstance(found, PrimFunc)


def test_blocks_can_be_left_out() -> None:
    @FEW
    @given(prim_funcs(blocks=False))
    def claim(func: PrimFunc) -> None:
        assert not list(walk(func.body, Block))

    claim()


@FEW
@given(prim_funcs())
def test_floats_stay_small_whole_numbers(func: PrimFunc) -> None:
    args = arguments(func, seed=2)
    with np.errstate(all="ignore"):
        interpret(func, *args)
    for arg in args:
        if isinstance(arg, np.ndarray) and arg.dtype.kind == "f":
            assert np.array_equal(arg, np.floor(arg))
            assert np.all(np.abs(arg) <= 1000)
