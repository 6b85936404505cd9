"""Loops whose variable is used digit by digit: dependence is exact."""

import itertools

from hypothesis import given, settings, strategies as st

from irkit.core import Recorder, recording, walk
from irkit.ir import For, dependences, parse
from tests.draws import few_or_all

INDICES = (
    "f // 8",
    "f % 8",
    "f // 4",
    "f % 4",
    "f // 4 % 2",
    "f // 2 % 4",
    "f // 16",
    "f % 2",
    "0",
)


def carried(first: str, second: str, extent: int) -> str | None:
    func = parse(
        f"""
def g(A: f32[64, 64]):
    for f in serial(0, {extent}):
        A[{first}, {second}] = f32(f)
""".strip()
    )
    (loop,) = walk(func, on=For)
    return dependences(func).carried(loop)


def meets(first: str, second: str, extent: int) -> bool:
    places = [eval(f"({first}, {second})", {"f": f}) for f in range(extent)]
    return len(set(places)) < extent


@settings(max_examples=few_or_all(60, 150), derandomize=True, deadline=None)
@given(st.sampled_from(INDICES), st.sampled_from(INDICES), st.integers(2, 40))
def test_iterations_touch_no_common_element_if_nothing_is_carried(
    first: str, second: str, n: int
) -> None:
    if carried(first, second, n) is None:
        assert not meets(first, second, n)


def test_what_an_analysis_rewrites_is_no_rewrite_of_the_pass_that_asks() -> None:
    recorder = Recorder()
    with recording(recorder):
        assert carried("f // 8", "f % 8", 32) is None
    assert recorder.count == 0


def test_digits_that_make_up_the_whole_variable_are_independent() -> None:
    for weight, n in itertools.product((2, 4, 8), (3, 16, 32, 33)):
        assert carried(f"f // {weight}", f"f % {weight}", n) is None
    assert carried("f // 8", "f % 8 // 4 * 4 + f % 4", 32) is None
    assert carried("f // 8", "f % 4", 32) is not None


def test_digits_of_the_variable_come_before_those_of_derived_values() -> None:
    assert carried("f // 7", "f % 7 + (f // 7 * 2 + 1) // 2 * 0", 28) is None
    assert carried("f // 7 * 2 // 2 * 4", "f % 7", 28) is None
    assert carried("f // 7", "f % 7 + f // 0 % -3", 28) is None
