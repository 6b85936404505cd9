"""Many claims: what is the same is proved once, and what the simplifier claims is recorded."""

import pytest

from irkit.ir import F32, I32, Buffer, Expr, Var, lt, simplify
from irkit.ir.arith import Claim, Interval, claim_of, recording_claims
from irkit.ir.arith.sums import Atoms
from irkit.proof import Proved, Prover, Refuted, Unknown, claim_text, prove_claim
from irkit.proof.claim_key import claim_key

pytest.importorskip("z3")


def claim(first: str, second: str, high: int = 15) -> Claim:
    x, y = Var(first), Var(second)
    array = Buffer(f"{first}{second}", (x,), F32)
    before: Expr = array[(x * 16 + y) // 16]
    return claim_of(before, array[x], {y: Interval(0, high)}, [lt(x, 100), lt(-100, x)])


def test_names_do_not_matter_and_everything_else_does() -> None:
    first = claim("x", "y")
    assert claim_key(first) == claim_key(claim("a", "b"))
    others = [
        claim("x", "y", 14),
        Claim(first.after, first.before, first.ranges, first.facts),
        Claim(first.before, first.after, first.ranges, first.facts[:1]),
        Claim(first.before.replace(dtype=I32), first.after, first.ranges, first.facts),  # pyright: ignore[reportAttributeAccessIssue]
    ]
    assert len({claim_key(each) for each in (first, *others)}) == 5


def test_equal_claims_are_proved_once() -> None:
    prover = Prover()
    counted = prover.count([claim("x", "y"), claim("a", "b"), claim("x", "y", 16)])
    assert (counted.proved, counted.refuted, counted.unknown, counted.all) == (2, 1, 0, 3)
    assert len(prover.times) == len(prover.outcomes) == 2


def test_hard_claims_are_tried_again_while_there_is_time() -> None:
    x, y, z = Var("x"), Var("y"), Var("z")
    hard = claim_of(x * y // z * z + x * y % z, x * y + z * 0 + (x & y & -1 - x), {})
    prover = Prover(seconds=0.001, retry_seconds=0.001, retries=1)
    found = prover.prove(hard)
    assert isinstance(found, Unknown)
    assert found.out_of_time
    assert prover.retries == 0


def test_the_simplifier_tells_what_it_claims_and_on_what_it_rests() -> None:
    x, y = Var("x"), Var("y")
    table = {x: Interval(0, 15), y: Interval(0, 99)}
    fact = lt(y + 1, 8 + 1)
    with recording_claims() as found:
        simplify((x + y * 16) // 16, table, [fact])
        simplify(x, table)
    table[x] = Interval(0, 1000)  # What was claimed was claimed before.
    texts = [claim_text(each) for each in found]
    assert texts == [
        "y + 1 < 9 = y < 8, where 0 <= y <= 99",
        "(x + y * 16) // 16 = y, where y + 1 < 9 and 0 <= x <= 15 and 0 <= y <= 99",
    ]
    assert all(isinstance(prove_claim(each), Proved) for each in found)
    assert not isinstance(prove_claim(claim_of(found[1].before, found[1].after, {})), Proved)
    with recording_claims() as later:
        pass
    simplify(x + 0)
    assert later == []


def test_a_wrong_rule_of_the_simplifier_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = Var("x"), Var("y")
    monkeypatch.setattr(Atoms, "fits", lambda atoms, found, dtype: True)
    with recording_claims() as found:
        simplify((x * 16 + y) // 16, {y: Interval(0, 99)})
    assert [type(prove_claim(each)) for each in found] == [Refuted]
