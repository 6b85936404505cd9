"""What the simplifier claims while passes run: it is proved, and what it assumes holds at run time.

The assumptions of a claim become assertions in the program in front of the statement that it is
about, and the interpreter runs them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import cast

import pytest

from irkit.core import children, rewrite, walk
from irkit.debug import InterpreterExecutor, scheduled_steps
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.generators.sample import LOOP_SAMPLES, Sample, Unusable
from irkit.fuzz.picks import picks_of
from irkit.ir import Assert, Block, Expr, Interval, PrimFunc, StepLimit, Stmt, const, ge, le, seq
from irkit.ir.arith import Claim, ranges, recording_claims
from irkit.proof import Proved, Prover, Refuted, claim_text
from irkit.transform import Step

ASSUMED = "assumed, and false: "
MAX_STEPS = 300_000


def steps_with_claims(seeds: Iterable[int]) -> Iterator[tuple[Sample, Step, list[Claim]]]:
    """Schedule and lower drawn programs; yield each step with what was claimed during it."""
    for seed in seeds:
        with recording_claims() as found:
            try:
                sample = draw_sample(LOOP_SAMPLES[seed % len(LOOP_SAMPLES)], picks_of(seed))
            except Unusable:
                continue
            found.clear()
            steps = scheduled_steps(cast(PrimFunc, sample.ir), sample.schedule, sample.pipeline)
            for step in steps:
                yield sample, step, list(found)
                found.clear()


def assumptions(claim: Claim) -> list[Expr]:
    made = [fact for fact in claim.facts if fact.dtype.lanes == 1]
    for var, known in claim.ranges.items():
        made += [] if known.low is None else [ge(var, const(known.low, var.dtype))]
        made += [] if known.high is None else [le(var, const(known.high, var.dtype))]
    return made


def with_assertions(func: PrimFunc, claims: list[Claim]) -> tuple[PrimFunc, int]:
    """Assert what claims assume, in front of the statements whose expressions they are about."""
    about: dict[int, list[Claim]] = {}
    for claim in claims:
        about.setdefault(id(claim.before), []).append(claim)
    # An expression that statements share was simplified at one of them.
    places = Counter(id(child) for stmt in walk(func.body, Stmt) for child in children(stmt))
    count = 0

    def asserted(stmt: Stmt) -> Stmt | None:
        nonlocal count
        own = [] if isinstance(stmt, Block) else children(stmt)
        alone = [id(child) for child in own if places[id(child)] == 1]
        made = [each for key in alone for each in about.get(key, [])]
        count += len(made)
        conds = [(cond, claim_text(claim)) for claim in made for cond in assumptions(claim)]
        checks = [Assert(cond, ASSUMED + text.replace("{}", "")) for cond, text in conds]
        return seq(*checks, stmt) if checks else None

    return rewrite(func, asserted, on=Stmt), count


def violations(seeds: Iterable[int]) -> tuple[list[str], int]:
    """Return the assumptions that were false when they were run, and the number of claims run."""
    executor = InterpreterExecutor(MAX_STEPS)
    found: list[str] = []
    total = 0
    for sample, step, claims in steps_with_claims(seeds):
        if not claims or not isinstance(step.before, PrimFunc) or not sample.inputs:
            continue
        func, count = with_assertions(step.before, claims)
        if func is step.before:
            continue
        try:
            outcome = executor.run(func, sample.inputs[0].copied())
        except StepLimit:
            continue
        total += count
        if ASSUMED in outcome.error:
            found.append(f"{step.pass_text}: {outcome.error}")
    return found, total


def test_what_is_assumed_holds_at_run_time() -> None:
    found, total = violations(range(60))
    assert found == []
    assert total > 50


@pytest.mark.long
def test_what_is_assumed_holds_in_many_programs() -> None:
    found, total = violations(range(1000, 4000))
    assert found == []
    assert total > 10_000


def test_a_range_that_is_too_small_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ranges._of_loop

    def small(loop: object, known: object) -> Interval:
        found = right(loop, known)  # type: ignore[arg-type]
        assert found.low is not None
        high = None if found.high is None else max(found.low, found.high - 1)
        return Interval(found.low, high)

    monkeypatch.setattr(ranges, "_of_loop", small)
    found, _ = violations(range(20))
    assert found


def test_the_claims_of_drawn_programs_are_proved() -> None:
    prove_all(range(25), at_least=200)


@pytest.mark.long
def test_the_claims_of_many_programs_are_proved() -> None:
    prove_all(range(10_000, 12_000), at_least=20_000)


def prove_all(seeds: range, at_least: int) -> None:
    prover = Prover()
    proved = total = 0
    for _, step, claims in steps_with_claims(seeds):
        for claim in claims:
            found = prover.prove(claim)
            assert not isinstance(found, Refuted), f"{step.pass_text}: {claim_text(claim)}: {found}"
            proved += isinstance(found, Proved)
            total += 1
    assert total >= at_least
    assert proved >= 0.97 * total
