"""Every set of rules in irkit obeys the laws of ``docs/rules.md``, and the check finds those that
do not."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from irkit.core import Node, Recorder, Rules, Span, recording
from irkit.ir import (
    ANY_FLOAT,
    ANY_INTEGER,
    I64,
    Add,
    Cast,
    Mul,
    PrimFunc,
    Store,
    const,
    hole,
    lt,
    peephole,
    select,
)
from irkit.passes import loop
from irkit.passes.loop.cleanup.narrow_indices import CASTS
from irkit.passes.loop.cleanup.remove_no_ops import NO_OPS
from tests.passes.rule_laws import LAWS, Change, broken_laws, drawn_programs, rewriting

ROOT = Path(__file__).parents[2]
SETS = {"casts": CASTS, "no-ops": NO_OPS}
CHANGES: dict[str, Change] = {
    **{name: rewriting(rules) for name, rules in SETS.items()},
    "remove-no-ops": loop.remove_no_ops,
}
x, y = hole("x", ANY_INTEGER), hole("y", ANY_INTEGER)
u, v = hole("u", ANY_FLOAT), hole("v", ANY_FLOAT)


@cache
def programs() -> list[PrimFunc]:
    return drawn_programs()


@pytest.mark.parametrize("name", CHANGES)
def test_a_set_of_rules_obeys_the_laws(name: str) -> None:
    broken = {law for func in programs() for law in broken_laws(CHANGES[name], func)}
    assert broken == set()


@pytest.mark.parametrize("name", SETS)
def test_the_programs_give_every_rule_something_to_do(name: str) -> None:
    hits = Counter[str]()
    for func in programs():
        with recording(Recorder()) as recorder:
            CHANGES[name](func)
        hits.update({rule: report.hits for rule, report in recorder.rules.items()})
    assert set(hits) == {rule.name for rule in SETS[name]}


def test_every_set_of_rules_is_listed_here() -> None:
    found = set[str]()
    for path in (ROOT / "irkit").rglob("*.py"):
        found |= set(re.findall(r"^([A-Z_]+) = Rules\(", path.read_text(), re.MULTILINE))
    assert found == {"CASTS", "NO_OPS"}, "add the set to SETS above"


def turn_round(node: Add) -> Node:
    return node.replace(a=node.b, b=node.a)


def widen(node: Mul) -> Node:
    return Cast(node, I64)


def forget_place(node: Store) -> Node | None:
    elsewhere = Span("text", "elsewhere")
    known = node.span is not None and node.span.name == "elsewhere"
    return None if known else node.replace(span=elsewhere)


WRONG: dict[str, tuple[str, Rules]] = {
    "bare commutativity ends nowhere": ("ends", Rules("wrong", turn_round)),
    "bare commutativity comes back": ("undone", Rules("wrong", turn_round)),
    "a detour": ("worse", Rules("wrong", peephole("zero", x - y, x + (0 - y) + 0))),
    "both ways of a pair": (
        "undone",
        Rules("wrong", peephole("add", x * 2, x + x), peephole("double", x + x, x * 2)),
    ),
    "a load twice": ("work", Rules("wrong", peephole("twice", (x + 0) * 2, x + x))),
    "another type": ("type", Rules("wrong", widen)),
    "a place of its own": ("span", Rules("wrong", forget_place)),
    "NaN": ("meaning", Rules("wrong", peephole("nan", u - u, lambda u: const(0.0, u.dtype)))),
    "-0.0": ("meaning", Rules("wrong", peephole("zero", u + 0.0, u))),
    "wrap-around": (
        "meaning",
        Rules("wrong", peephole("above", select(lt(x, x + 1), x, y), x)),
    ),
    "zero divisors": (
        "meaning",
        Rules("wrong", peephole("one", x // x, lambda x: const(1, x.dtype))),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_caught_by_its_law(name: str) -> None:
    law, rules = WRONG[name]
    assert any(law in broken_laws(rewriting(rules), func) for func in programs())


def test_every_law_catches_something_and_stands_on_the_page() -> None:
    assert {law for law, _ in WRONG.values()} == set(LAWS)
    page = (ROOT / "docs" / "rules.md").read_text()
    assert [law for law in LAWS if f"`{law}`" not in page] == []
