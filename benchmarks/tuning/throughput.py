"""Candidates a second, and how well races rank: ``python -m benchmarks.tuning.throughput 20``.

The product of 512 is tuned for so many seconds; then up to 24 of its candidates, spread over all
scores, race the default for half a second each, and the two orders are compared.
"""

import sys

from benchmarks.tuning.programs import product
from irkit import tune


def main(seconds: float, jobs: int = 2) -> None:
    """Tune, measure again and print."""
    task = tune.task(product(512, 512, 512))
    with tune.Local(jobs=jobs) as way:
        result = tune.tune(task, time=seconds, measure=way)
        tried = [each for each in result.records if each.stage == "search"]
        good = sorted((each for each in tried if each.measure is not None), key=lambda e: e.score)
        step = max(1, len(good) // 24)
        chosen = good[::step][:24]
        with way.session(task) as session:
            values = [each.values for each in chosen]
            same = ranked(chosen, session.run(values, {}, seconds=0.5))
            full = ranked(chosen, session.run(values, {}, full=True, seconds=0.5))
    rate = len(tried) / result.seconds
    between = (len(tried) - 1) / (tried[-1].time - tried[0].time)
    print(
        f"{len(tried)} candidates in {result.seconds:.1f} s, {jobs} jobs: {rate:.1f} a second, "
        f"{between:.1f} from the first to the last"
    )
    print(f"rank correlation of {len(chosen)} with longer races {same:.3f}, in full {full:.3f}")
    print(
        f"{result.skipped} built and not raced; ranked with correlation {result.correlation:.2f} "
        f"before they were built, {result.built:.2f} after"
    )
    print(f"noise {100 * result.noise:.1f} %, best {result.speedup:.2f} times the default")


def ranked(records: list[tune.Record], again: list[tune.TrialOutcome]) -> float:
    """Return how well the scores of records rank what was measured again."""
    pairs = [
        (one.score, other.measure.ratio)
        for one, other in zip(records, again, strict=True)
        if other.measure is not None
    ]
    return tune.rank_correlation(*zip(*pairs, strict=True))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0)
