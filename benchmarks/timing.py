"""Interleaved timing: two functions measured in turn in one process, so drift affects both."""

import statistics
import time
from collections.abc import Callable

Thunk = Callable[[], object]


def once(run: Thunk) -> float:
    """Time one call. Units: seconds."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def median_of(run: Thunk, *, repeats: int = 30, warm: int = 3) -> float:
    """Return the median of several calls, after some that do not count. Units: seconds."""
    for _ in range(warm):
        run()
    return statistics.median(once(run) for _ in range(repeats))


def paired(
    ours: Thunk, peer: Thunk, *, repeats: int = 30, warm: int = 3
) -> tuple[float, float, float]:
    """Time two functions in turn; return both medians and the median of the ratios ours / peer.

    Units: seconds.
    """
    for _ in range(warm):
        ours()
        peer()
    rounds = [(once(ours), once(peer)) for _ in range(repeats)]
    a = statistics.median(first for first, _ in rounds)
    b = statistics.median(second for _, second in rounds)
    return a, b, statistics.median(first / second for first, second in rounds)


def per_call(run: Thunk, *, calls: int = 20_000, repeats: int = 7) -> float:
    """Return the time of a call: the best of several rows of many calls. Units: seconds."""

    def row() -> float:
        start = time.perf_counter()
        for _ in range(calls):
            run()
        return (time.perf_counter() - start) / calls

    return min(row() for _ in range(repeats))
