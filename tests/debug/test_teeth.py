"""Each planted bug is found, and the right pass named."""

import pytest

from irkit.debug import Verdict, bisect, check, contracts
from irkit.ir import PrimFunc, parse
from irkit.passes.loop import eliminate_common_subexpressions
from irkit.phases import DEFAULT
from tests.debug.bugs import BUGS, PROGRAMS, Bug
from tests.passes.loop.kernels import KERNELS


def program(name: str) -> PrimFunc:
    return parse((KERNELS | PROGRAMS)[name].strip(), file=f"{name}.irs")


def first_wrong(func: PrimFunc) -> Verdict | None:
    found = check(DEFAULT.steps(func), samples=3)
    return next((each for each in found if not each.ok), None)


@pytest.mark.parametrize("name", sorted({bug.shown_by for bug in BUGS}))
def test_the_passes_as_they_are_break_nothing(name: str) -> None:
    assert first_wrong(program(name)) is None


@pytest.mark.parametrize("bug", BUGS, ids=repr)
def test_a_planted_bug_is_found_and_the_right_pass_named(bug: Bug) -> None:
    with bug.planted():
        found = first_wrong(program(bug.shown_by))
    assert found is not None
    assert found.name == bug.blamed


def test_a_planted_bug_is_bisected_to_a_rewrite_in_its_pass() -> None:
    named = 0
    for bug in BUGS:
        func = program(bug.shown_by)
        with bug.planted():
            culprit = bisect(DEFAULT, func, samples=2)
        assert culprit is not None, bug
        assert culprit.verdict.name == bug.blamed
        named += bool(culprit.rewrites)
    # The others are in atomic passes, or raise before they report anything.
    assert named >= len(BUGS) // 2


LIE = Bug(
    "lies about changed",
    "loop.eliminate_common_subexpressions",
    "_Runs._sequence",
    "return stmt if _same_stmts(flat, stmt) else carried(flat, stmt)",
    "return carried(flat, stmt)",
    shown_by="",
)


def test_a_pass_that_lies_about_changed_is_found_by_its_contracts() -> None:
    func = parse("def f(A: f32[2], C: f32[2]):\n    C[0] = A[0]\n    C[1] = A[1]\n")
    assert contracts(eliminate_common_subexpressions, [func], hash_seeds=(), fires=0) == ()
    with LIE.planted():
        found = contracts(eliminate_common_subexpressions, [func], hash_seeds=(), fires=0)
    assert {"truthful"} <= {breach.contract for breach in found}


def test_the_catalogue_has_bugs_of_many_kinds() -> None:
    assert len(BUGS) >= 40
    assert len({bug.blamed for bug in BUGS}) >= 12
    assert len({repr(bug) for bug in BUGS}) == len(BUGS)
