"""Malformed files of one kind by the thousand.

``python -m benchmarks.fuzz.malformed_input text 100000 [first]`` prints the outcomes, examples of
each, the slowest, and the peak of memory; it exits with 1 if an outcome is wrong. Traces are also
shown in every view of the inspector. `irkit fuzz` draws such text and models too.
"""

import sys
import time
from contextlib import suppress

from benchmarks.fuzz.malformed_batches import MALFORMED_KINDS, Batches, MalformedKind
from benchmarks.fuzz.malformed_traces import look_at_trace

_REPORT_INTERVAL = 30.0


def main(kind: MalformedKind, count: int, first: int = 0) -> int:
    """Try files of a kind, and print the outcomes."""
    begin = reported = time.monotonic()
    done = 0
    # If it is stopped early, it still prints the results so far.
    with (
        suppress(KeyboardInterrupt),
        Batches(kind, attempt=look_at_trace if kind == "trace" else None) as sweep,
    ):
        for done, (number, verdict) in enumerate(sweep.run(range(first, first + count)), 1):
            if verdict.status == "wrong":
                print(f"WRONG {kind} {number}: {verdict.what}: {verdict.message}", flush=True)
            if time.monotonic() - reported > _REPORT_INTERVAL:
                reported = time.monotonic()
                print(f"{done} in {reported - begin:.0f} s, {sweep.wrong} wrong", flush=True)
    took = time.monotonic() - begin
    print(f"{kind}: {done} in {took:.0f} s, peak {sweep.peak / (1 << 20):.0f} MiB")
    for (status, what), found in sweep.counts.most_common():
        print(f"  {found:7} {100 * found / max(done, 1):6.2f} %  {status}: {what}")
        if status in ("excluded", "wrong"):
            for number, verdict in sweep.examples[status, what]:
                print(f"          {number}: {verdict.message[:300]!r}")
    for status, (seconds, number) in sweep.slowest.items():
        print(f"  slowest {status}: {seconds:.2f} s, number {number}")
    return 1 if sweep.wrong else 0


if __name__ == "__main__":
    named: MalformedKind = next(kind for kind in MALFORMED_KINDS if kind == sys.argv[1])
    sys.exit(main(named, int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0))
