"""Proofs of what the simplifier claims, and of steps: over random programs, and over the kernels of
a network.

``python -m benchmarks.compiler.proofs [PROGRAMS]`` records every rewrite of the simplifier while
random programs (1,000 by default) are scheduled and lowered, and while squeezenet is compiled, and
proves each. As a control, ranges of variables are left out: what needed them must be refuted.

``python -m benchmarks.compiler.proofs steps [PROGRAMS]`` proves each step of random programs (400
by default) and of squeezenet that changes a loop function, and prints the share for each pass.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from time import process_time

import onnx

from irkit.debug import scheduled_steps
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.generators.sample import LOOP_SAMPLES, Unusable
from irkit.fuzz.picks import picks_of
from irkit.ir import PrimFunc
from irkit.ir.arith import Claim, recording_claims
from irkit.phases import compile
from irkit.proof import Proved, Prover, Refuted, Unknown, claim_text, prove_step
from irkit.transform import Step

LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"
SHOWN = 12


def claims_of_programs(count: int) -> list[Claim]:
    """Return what the simplifier claims while random programs are scheduled and lowered."""
    with recording_claims() as found:
        for seed in range(count):
            try:
                sample = draw_sample(LOOP_SAMPLES[seed % len(LOOP_SAMPLES)], picks_of(seed))
            except Unusable:
                continue
            assert isinstance(sample.ir, PrimFunc)
            for _ in scheduled_steps(sample.ir, sample.schedule, sample.pipeline):
                pass
    return found


def claims_of_network(name: str = "squeezenet") -> list[Claim]:
    """Return what the simplifier claims while a network is compiled."""
    with recording_claims() as found:
        compile(str(LIGHT / f"light_{name}.onnx"))
    return found


def steps_of_programs(count: int) -> Iterator[Step]:
    """Yield the steps of random programs that are scheduled and lowered."""
    for seed in range(count):
        try:
            sample = draw_sample(LOOP_SAMPLES[seed % len(LOOP_SAMPLES)], picks_of(seed))
        except Unusable:
            continue
        assert isinstance(sample.ir, PrimFunc)
        yield from scheduled_steps(sample.ir, sample.schedule, sample.pipeline)


def measure_steps(steps: Iterable[Step]) -> str:
    """Prove the steps that change a loop function; print a row for each pass, and the reasons why
    others are not proved, and return the figures."""
    prover = Prover()
    found: dict[str, Counter[str]] = {}
    missing, times = Counter[str](), list[float]()
    for step in steps:
        before, after = step.before, step.after
        if not (step.changed and isinstance(before, PrimFunc) and isinstance(after, PrimFunc)):
            continue
        started = process_time()
        proof = prove_step(before, after, prover)
        times.append(process_time() - started)
        outcome = "all" if proof.proved else "sizes" if proof.sizes else "not proved"
        found.setdefault(step.name, Counter())[outcome] += 1
        if outcome == "not proved":
            missing[f"{step.name}: {proof.message.partition('; executed, ')[2]}"] += 1
    for name, row in sorted(found.items()):
        print(f"  {name}: {row['all']} + {row['sizes']} of {row.total()}")
    print(*[f"  {number} {text}" for text, number in missing.most_common(SHOWN)], sep="\n")
    total: Counter[str] = sum(found.values(), Counter[str]())
    return (
        f"{total.total()} steps: {total['all']} proved for all values, {total['sizes']} for some "
        f"sizes, {total['not proved']} not proved; median {median(times) * 1e3:.1f} ms, longest "
        f"{max(times):.2f} s, {sum(times):.0f} s in all"
    )


def measure(claims: Iterable[Claim]) -> str:
    """Prove claims; print those that are not proved, and return the figures."""
    prover, control = Prover(), Prover(retries=0)
    found, without = Counter[str](), Counter[str]()
    started = process_time()
    shown = set[str]()
    for claim in claims:
        outcome = prover.prove(claim)
        found[type(outcome).__name__] += 1
        if isinstance(outcome, Proved) and claim.ranges:
            bare = Claim(claim.before, claim.after, {}, claim.facts)
            without[type(control.prove(bare)).__name__] += 1
        elif not isinstance(outcome, Proved) and len(shown) < SHOWN:
            shown.add(f"  {claim_text(claim)}: {outcome}")
    print(*sorted(shown), sep="\n")
    total = found.total()
    refuted, unknown = without[Refuted.__name__], without[Unknown.__name__]
    needed = refuted + unknown
    return (
        f"{total} rewrites, {len(prover.times)} distinct: "
        f"{found[Proved.__name__]} proved ({found[Proved.__name__] / total:.2%}), "
        f"{found[Refuted.__name__]} refuted, {found[Unknown.__name__]} unknown; "
        f"median {median(prover.times) * 1e3:.1f} ms, longest {max(prover.times):.2f} s, "
        f"{process_time() - started:.0f} s in all\n"
        f"  without ranges: of {without.total()} that have any, {needed} are not proved; "
        f"{refuted} are refuted ({refuted / max(needed, 1):.0%})"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["steps"]:
        programs = int(sys.argv[2]) if len(sys.argv) > 2 else 400
        print(f"{programs} programs:", measure_steps(steps_of_programs(programs)), flush=True)
        trace = compile(str(LIGHT / "light_squeezenet.onnx")).trace
        assert trace is not None
        print("squeezenet:", measure_steps(trace.steps))
        sys.exit()
    programs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{programs} programs:", measure(claims_of_programs(programs)), flush=True)
    print("squeezenet:", measure(claims_of_network()))
