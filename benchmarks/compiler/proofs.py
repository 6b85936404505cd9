"""Proofs of what the simplifier claims: over random programs, and over the kernels of a network.

``python -m benchmarks.compiler.proofs [PROGRAMS]`` records every rewrite of the simplifier while
random programs (1,000 by default) are scheduled and lowered, and while squeezenet is compiled, and
proves each. As a control, ranges of variables are left out: what needed them must be refuted.
"""

import sys
from collections import Counter
from collections.abc import Iterable
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
from irkit.proof import Proved, Prover, Refuted, Unknown, claim_text

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
    programs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{programs} programs:", measure(claims_of_programs(programs)), flush=True)
    print("squeezenet:", measure(claims_of_network()))
