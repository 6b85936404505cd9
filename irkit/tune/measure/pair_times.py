"""Times of two functions in turn, and what their ratios say with which confidence."""

import math
import statistics
from collections.abc import Callable, Sequence
from time import perf_counter, perf_counter_ns, thread_time_ns

import msgspec

Thunk = Callable[[], object]
CONFIDENCE = 0.95
_SAMPLE_NS = 150_000
"""Shortest time of a sample: shorter functions are called several times for one."""
_HOPELESS = 1.15
"""A candidate that was slower by this in every pair is given up."""
_SLOWER = 1.03
"""So is one whose shortest time of some is longer by this: shortest times need few samples."""
_AT_ONCE = 2.0
"""And one that takes so many times as long in the first call that is timed."""
_NO_GAIN = 1.02
"""And one that does not seem to be faster by this: less is no gain."""
_FEW, _SOME, _MORE = 3, 5, 6


class RatioInterval(msgspec.Struct, frozen=True):
    """The median of ratios, and from where to where it lies with 95 % confidence."""

    middle: float
    low: float
    high: float
    count: int


class PairTimes(msgspec.Struct, frozen=True):
    """Seconds of a call of each of two functions, and how many times faster the first is."""

    first: float
    second: float
    ratio: RatioInterval


def interval(ratios: Sequence[float]) -> RatioInterval:
    """Return the median and its confidence interval, from the order of the ratios alone: nothing is
    assumed about how they are spread. Of fewer than six it is from the least to the greatest."""
    ordered = sorted(ratios)
    count = len(ordered)
    middle = statistics.median(ordered)
    skipped, chance = 0, 0.0
    for at in range(count // 2):
        chance += math.comb(count, at) / 2**count
        if 2 * chance > 1 - CONFIDENCE:
            break
        skipped = at + 1
    low = max(0, skipped - 1)
    return RatioInterval(middle, ordered[low], ordered[count - 1 - low], count)


def paired(
    first: Thunk,
    second: Thunk,
    *,
    most: int = 15,
    fewest: int = _FEW,
    seconds: float = 0.25,
    before: Thunk | None = None,
    stop_early: bool = True,
    own_time: bool = True,
) -> PairTimes:
    """Time two functions in turn, at most so many times and about so long, but a few times.

    With ``own_time`` the time of this thread counts, without that in which the processor did
    something else: functions of one thread only. ``before`` runs before each sample, for example to
    flush caches. With ``stop_early`` a first one that cannot win any more, or not by enough, is
    given up. Units: seconds of one call.
    """
    now = thread_time_ns if own_time else perf_counter_ns
    took = [_once(first, now), _once(second, now)]
    if stop_early and before is None and took[0] > _AT_ONCE * took[1] > _AT_ONCE * _SAMPLE_NS:
        return PairTimes(took[0] * 1e-9, took[1] * 1e-9, interval([took[1] / took[0]]))
    calls = [1 if before is not None else max(1, math.ceil(_SAMPLE_NS / t)) for t in took]
    end = perf_counter() + seconds
    one: list[float] = []
    other: list[float] = []
    ratios: list[float] = []
    while len(ratios) < most and (len(ratios) < fewest or perf_counter() < end):
        order = ((first, calls[0], one), (second, calls[1], other))
        for run, count, times in order if len(ratios) % 2 else reversed(order):
            if before is not None:
                before()
            times.append(_many(run, count, now))
        ratios.append(other[-1] / one[-1])
        if stop_early and _cannot_win(ratios, min(one) / min(other)):
            break
    return PairTimes(min(one), min(other), interval(ratios))


def _cannot_win(ratios: Sequence[float], longer: float) -> bool:
    """Return True if the first is slower, in every pair or by its shortest time, which is so many
    times ``longer``, or no faster."""
    if len(ratios) >= _FEW and max(ratios) * _HOPELESS < 1:
        return True
    if len(ratios) >= _SOME and longer > _SLOWER:
        return True
    return len(ratios) >= _MORE and interval(ratios).high < _NO_GAIN


def _once(run: Thunk, now: Callable[[], int]) -> int:
    start = now()
    run()
    return max(1, now() - start)


def _many(run: Thunk, count: int, now: Callable[[], int]) -> float:
    start = now()
    for _ in range(count):
        run()
    return max(1, now() - start) / count * 1e-9
