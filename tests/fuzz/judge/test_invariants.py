"""Say that there is a change, where there is none."""

import pytest

from irkit.core import rewrite
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.judge import INVARIANTS, judge
from irkit.fuzz.picks import picks_of
from irkit.ir import Add, PrimFunc
from irkit.phases import DEFAULT
from irkit.transform import define_pass
from tests.fuzz.judge.judge_programs import sample_of


@define_pass()
def copy_everything(func: PrimFunc) -> PrimFunc:
    """Say that there is a change, where there is none."""
    return func.copied()


@define_pass(idempotent=True)
def exchange_operands(func: PrimFunc) -> PrimFunc:
    """Exchange what is added, each time anew."""
    return rewrite(func, lambda node: Add(node.b, node.a, node.dtype), on=Add)


def test_a_pass_that_lies_about_a_change_breaks_a_promise() -> None:
    sample = sample_of(DEFAULT.insert(copy_everything, phase=2))
    assert judge(sample).ok
    assert judge(sample, thorough=True).named == "copy-everything"


def test_a_promise_may_be_asked_of_one_pass_whatever_the_number() -> None:
    sample = sample_of(DEFAULT.insert(exchange_operands, phase=1))
    asked = ("passes keep contracts",)
    for number in range(4):
        found = judge(sample, invariants=asked, number=number, about="exchange-operands")
        assert (found.status, found.named) == ("broken", "exchange-operands")
        assert judge(sample, invariants=asked, number=number, about="lower-blocks").ok


@pytest.mark.parametrize("name", INVARIANTS)
def test_the_promises_are_kept(name: str) -> None:
    for number in range(3):
        found = judge(draw_sample("programs", picks_of(number)), invariants=[name], number=number)
        assert found.ok, found.message
        assert found.checks == (name,)
