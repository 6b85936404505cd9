"""Facts of loop functions: what contradicts them."""

import pytest
from hypothesis import HealthCheck, given, settings

from irkit.core import Node
from irkit.fuzz import prim_funcs
from irkit.ir import (
    PrimFunc,
    flat_access,
    no_blocks,
    no_init_blocks,
    no_unrolled_loops,
    no_vectorized_loops,
    parse,
    verify,
)
from irkit.phases.default import DEFAULT
from tests.draws import few_or_all
from tests.ir.blocks import BLOCK, VALID

OTHER = parse("def g():\n    pass\n")


@pytest.mark.parametrize(
    ("fact", "line", "kept"),
    [
        (no_blocks, 'with block("b"):', "if True:"),
        (flat_access, "if A[0, 0] < f32(0.0):", "if True:"),
        (no_vectorized_loops, "for i in vectorized(0, 2):", "for i in serial(0, 2):"),
        (no_unrolled_loops, "for i in unrolled(0, 2):", "for i in serial(0, 2):"),
    ],
)
def test_a_fact_names_what_contradicts_it(fact: Node, line: str, kept: str) -> None:
    text = "def f(A: f32[2, 2], B: f32[2]):\n    {}\n        B[0] = f32(0.0)\n"
    assert len(fact.predicate(parse(text.format(line)))) == 1  # pyright: ignore
    assert fact.predicate(parse(text.format(kept))) == []  # pyright: ignore


def test_an_init_is_gone_when_no_block_has_one() -> None:
    func = parse(BLOCK.format(**VALID))
    assert [found.message for found in no_init_blocks.predicate(func)] == ["block 'A' has an init"]


@settings(
    max_examples=few_or_all(12, 30),
    deadline=None,
    derandomize=True,
    suppress_health_check=[*HealthCheck],
)
@given(prim_funcs())
def test_what_the_verifier_knows_changes_no_answer_about_flat_accesses(func: PrimFunc) -> None:
    for each in (func, *(step.after for step in DEFAULT.steps(func))):
        assert isinstance(each, PrimFunc)
        assert verify(each) == []
        known = flat_access.problems(each)
        assert verify(OTHER) == []
        assert [str(p) for p in flat_access.problems(each)] == [str(p) for p in known]
