"""Assertions through a step: where one fails before, one that also fails before fails after."""

import pytest

from tests.debug.check.verdict_of_pair import judged

HEAD = "def f(A: i32[n], B: i32[4], C: i32[n]):\n"
LOOP = "    for i in serial(0, n):\n        C[i] = A[i] * 2\n"
SIZE = '    assert n <= 1000, "size"\n'
VALUE = '    assert B[0] > 7, "value"\n'
RARE = '    assert B[1] * 3 + 5 != 77777, "rare"\n'
SCALAR = '    assert B[2] * 3 < 40, "scalar"\n'
ALWAYS = '    assert n >= 0, "always"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (SIZE + LOOP, LOOP),
        (VALUE + LOOP, LOOP),
        (RARE + LOOP, LOOP),
        (SIZE + VALUE + LOOP, SIZE + LOOP),
        (SIZE + LOOP, SIZE.replace("1000", "1001") + LOOP),
        (VALUE + LOOP, VALUE.replace("> 7", ">= 7") + LOOP),
        (VALUE + LOOP, VALUE.replace("> 7", "> 8") + LOOP),
        (RARE + LOOP, RARE.replace("77777", "77780") + LOOP),
        (SCALAR + LOOP, SCALAR.replace("< 40", "<= 42") + LOOP),
    ],
)
def test_a_step_that_loses_or_moves_an_assertion_is_wrong(before: str, after: str) -> None:
    found = judged((HEAD + before, HEAD + after))
    assert found.status == "failed"
    assert "assertion" in found.message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (VALUE + LOOP, VALUE.replace('"value"', '"other words"') + LOOP),
        (SIZE + VALUE + LOOP, VALUE + SIZE + LOOP),
        (VALUE + LOOP, LOOP + VALUE),
        (ALWAYS + LOOP, LOOP),
        (VALUE + LOOP, VALUE.replace("B[0] > 7", "7 < B[0]") + LOOP),
    ],
)
def test_text_order_and_what_was_stored_are_free(before: str, after: str) -> None:
    assert judged((HEAD + before, HEAD + after)).status == "same"


def test_an_assertion_that_guards_an_access_must_stay() -> None:
    guarded = '    assert B[0] < n, "end"\n    assert B[0] >= 0, "begin"\n    C[B[0]] = A[0]\n'
    without = guarded.replace('    assert B[0] < n, "end"\n', "")
    assert judged((HEAD + guarded, HEAD + without)).is_wrong


def test_another_failure_before_says_nothing() -> None:
    outside = "    C[B[0]] = 1\n"
    assert judged((HEAD + outside, HEAD + outside.replace("= 1", "= 0 + 1"))).status == "same"
