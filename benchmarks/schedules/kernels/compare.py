"""Time kernels against their peers in turn, and summarise the ratios."""

import math
import statistics
import sys
import traceback
from collections.abc import Iterable
from functools import partial
from typing import Any, cast

import msgspec
import numpy as np

import irkit
from benchmarks.schedules.kernels.case import Case
from benchmarks.timing import Thunk, once

_ROUND = 0.0005
"""A measurement lasts about this long. Units: seconds."""
_WARM = 4


class Measured(msgspec.Struct, frozen=True):
    """A kernel's time, its best peer, and the speed relative to that."""

    name: str
    seconds: float
    peer: str
    speed: float


def measure(case: Case, rounds: int) -> Measured:
    """Time a kernel and its peers in turn; the speed is the median of the ratios of the rounds,
    relative to the peer of the least median.

    Raises: AssertionError if the result is not that of the first peer.
    """
    kernel = irkit.build(case.func)
    ours: Thunk = partial(kernel, *case.operands)
    ours()
    _check(case)
    runs = {"irkit": ours, **case.peers}
    calls: dict[str, int] = {}
    for name, run in runs.items():
        taken = min(once(run) for _ in range(_WARM))
        calls[name] = max(1, math.ceil(_ROUND / max(taken, 1e-7)))
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            many = partial(_repeat, run, calls[name])
            run()
            times[name].append(once(many) / calls[name])
    best = min(case.peers, key=lambda name: statistics.median(times[name]))
    pairs = zip(times[best], times["irkit"], strict=True)
    speed = statistics.median(theirs / mine for theirs, mine in pairs)
    return Measured(case.name, statistics.median(times["irkit"]), best, speed)


def _repeat(run: Thunk, calls: int) -> None:
    for _ in range(calls):
        run()


def _check(case: Case) -> None:
    wanted: Any = None
    for peer in reversed(case.peers.values()):
        wanted = peer()
        if wanted is not None:
            break
    if wanted is None:
        return
    found = case.operands[-case.results :]
    all_wanted = cast("tuple[Any, ...]", wanted) if isinstance(wanted, tuple) else (wanted,)
    for one, other in zip(found, all_wanted, strict=True):
        scale = float(np.abs(np.asarray(other)).max()) or 1.0
        np.testing.assert_allclose(
            one, np.asarray(other), rtol=case.tolerance, atol=case.tolerance * scale * 0.1
        )


def summary(title: str, cases: Iterable[Case], rounds: int) -> list[Measured]:
    """Measure all cases; print the geometric mean, the 5th percentile and the ten worst."""
    found: list[Measured] = []
    for case in cases:
        try:
            one = measure(case, rounds)
        except Exception:
            traceback.print_exc()
            print(f"{case.name}: failed", flush=True)
            continue
        found.append(one)
        if "-v" in sys.argv:
            print(_line(one), flush=True)
    speeds = sorted(one.speed for one in found)
    if not speeds:
        return found
    mean = math.exp(statistics.fmean(math.log(speed) for speed in speeds))
    low = speeds[int(0.05 * len(speeds))]
    print(f"{title}: {len(speeds)} kernels, geometric mean {mean:.2f}, 5th percentile {low:.2f}")
    for one in sorted(found, key=lambda one: one.speed)[:10]:
        print(f"    {_line(one)}", flush=True)
    return found


def _line(one: Measured) -> str:
    return f"{one.speed:.2f} of {one.peer}: {one.name}, {one.seconds * 1e6:.0f} us"
