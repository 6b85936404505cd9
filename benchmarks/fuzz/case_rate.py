"""Fuzzing: cases a second on one core, by kind, and the time of each tier.

Rates are by processor time, so other load on the machine matters little. One case in ten also runs
after each pass, and every second one checks an invariant.
"""

import os
import time

import numpy as np

from irkit.debug import GuardedMemory, input_sets
from irkit.fuzz.campaign import Draw
from irkit.fuzz.campaign.engine import asked_of
from irkit.fuzz.campaign.tally import CampaignTally
from irkit.fuzz.campaign.worker import run_case
from irkit.fuzz.generators import KINDS, Kind
from irkit.fuzz.judge import INVARIANTS
from irkit.ir import parse

CASES = int(os.environ.get("IRKIT_FUZZ_CASES", "300"))
WANTED = 40.0


def cases_of(kind: Kind) -> None:
    """Run cases of a kind in this process, and print how many run in a second."""
    tally = CampaignTally()
    for number in range(-10, CASES):
        draw = Draw(kind, 5, abs(number))
        ran = run_case(draw, asked_of(draw, 1))
        if number >= 0:  # The first cases load modules that all need.
            tally.add(draw, ran, is_loop=True)
    rate = tally.cases / tally.processor
    tiers = ", ".join(f"{tier} {1e3 * tally.median(tier):.2f}" for tier in tally.tiers)
    wrong = tally.cases - tally.statuses["ok"] - tally.statuses["invalid"]
    mark = f" (at least {WANTED:g})" if kind == "programs" else ""
    print(
        f"{kind}: {rate:.1f} cases a second{mark}, {tally.valid_share:.1%} valid, {wrong} wrong; "
        f"medians in ms: whole {1e3 * tally.median('whole'):.1f}, {tiers}"
    )


def guard_pages() -> None:
    """Time putting arrays between guard pages."""
    func = parse("def f(A: f32[64], B: f32[64], C: f32[64]):\n    A[0] = B[0]\n")
    args, yard = input_sets(func, samples=1)[0].args, GuardedMemory()
    rounds: list[float] = []
    for _ in range(500):
        started = time.perf_counter()
        with yard.placing(func, args, "end"):
            pass
        rounds.append(time.perf_counter() - started)
    print(f"guard pages: {1e6 * float(np.median(rounds)) / len(args):.1f} us an array")


def main() -> None:
    """Measure every kind."""
    print(f"fuzzing: {CASES} cases of a kind, {len(INVARIANTS)} invariants in turn")
    for kind in KINDS:
        cases_of(kind)
    guard_pages()


if __name__ == "__main__":
    main()
