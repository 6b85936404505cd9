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


def in_turn(
    ours: Thunk, *peers: Thunk, repeats: int = 30, warm: int = 3, pause: float = 0.0
) -> list[tuple[float, float]]:
    """Time several things in turn; return for each its median and the median of ours / it.

    ``pause`` comes before each: threads that wait for the next call of a peer may keep a core busy.

    Units: seconds, and a ratio.
    """
    runs = (ours, *peers)
    for _ in range(warm):
        for run in runs:
            run()

    def timed(run: Thunk) -> float:
        if pause:
            time.sleep(pause)
        return once(run)

    rounds = [[timed(run) for run in runs] for _ in range(repeats)]
    return [
        (
            statistics.median(times[which] for times in rounds),
            statistics.median(times[0] / times[which] for times in rounds),
        )
        for which in range(len(runs))
    ]


def per_call(run: Thunk, *, calls: int = 20_000, repeats: int = 7) -> float:
    """Return the time of a call: the best of several rows of many calls. Units: seconds."""

    def row() -> float:
        start = time.perf_counter()
        for _ in range(calls):
            run()
        return (time.perf_counter() - start) / calls

    return min(row() for _ in range(repeats))
