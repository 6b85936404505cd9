"""Where the time of a function goes: each of its loops, timed as native code by clocks in it.

The function is compiled twice, with clocks and without, and both are called in turn, so the profile
says what the clocks themselves cost. One thread runs: the times of the loops add up.
"""

from collections.abc import Sequence
from statistics import median
from time import perf_counter
from typing import Any

import msgspec

from irkit.core import IRKitError, Target
from irkit.ir import For, PrimFunc, listing, no_blocks, parse
from irkit.passes.loop import loops_worth_timing, time_loops
from irkit.runtime import ClockReading, Kernel, build_kernels, num_threads, set_num_threads

FEWEST_CALLS = 5
_NOW = "def irkit_now():\n    evaluate(stop_clock(0))\n"


class LoopTime(msgspec.Struct, frozen=True):
    """Time of one loop; ``depth`` is the number of timed loops around it.

    ``line`` is that of the printed function, from 1. Units: seconds of one call of the function,
    all runs of the loop together; ``own`` is without the loops inside it; iterations of one call.
    """

    var: str
    kind: str
    line: int
    depth: int
    seconds: float
    own: float
    iterations: float


class LoopProfile(msgspec.Struct, frozen=True):
    """Times of the loops of a function that run long enough, in the order of the text.

    Units: seconds of one call, the medians; ``plain`` is without clocks and ``timed`` with them.
    """

    function: str
    plain: float
    timed: float
    calls: int
    loops: tuple[LoopTime, ...]

    @property
    def overhead(self) -> float:
        """Return what the clocks cost, as a share of the time without them."""
        return self.timed / self.plain - 1 if self.plain else 0.0

    def __str__(self) -> str:
        lines = [f"{'%':>6}  {'us':>10}  {'ns/iteration':>12}  loop"]
        for each in self.loops:
            share = 100 * each.seconds / self.timed if self.timed else 0.0
            every = each.seconds / each.iterations * 1e9 if each.iterations else 0.0
            name = f"{'  ' * each.depth}{each.var} (line {each.line}, {each.kind})"
            lines.append(f"{share:6.1f}  {each.seconds * 1e6:10.2f}  {every:12.2f}  {name}")
        lines.append(
            f"{self.plain * 1e6:.2f} us a call on one thread, "
            f"{self.timed * 1e6:.2f} with clocks ({100 * self.overhead:+.0f} %)"
        )
        return "\n".join(lines)


def profile_loops(
    func: PrimFunc, args: Sequence[Any], *, seconds: float = 1.0, least_work: int | None = None
) -> LoopProfile:
    """Time the loops of a lowered function on arguments, which its calls may change.

    ``least_work`` is that of the pass ``time_loops``. Raises: IRKitError if the function has
    blocks, or cannot be called.
    """
    if no_blocks.problems(func):
        raise IRKitError("loops with blocks cannot be timed", hint="Lower the function first.")
    options = {} if least_work is None else {"least_work": least_work}
    timed = time_loops(func, **options)
    given = func.name
    plain_kernel, kernel = _built(func), _built(timed.replace(name=f"{given}_timed"))
    (ticks,) = build_kernels([parse(_NOW)], Target())
    before = num_threads()
    set_num_threads(1)
    try:
        plain, found, readings, rate = _measured(plain_kernel, kernel, ticks, args, seconds)
    finally:
        set_num_threads(before)
    loops = loops_worth_timing(func, **options)
    lines = listing(func).starts
    # Medians, since another program can stop this one inside any call.
    times = [max(0.0, median([ticks for ticks, _ in each])) / rate for each in readings]
    own = list(times)
    for at, (_, around) in enumerate(loops):
        if around is not None:
            own[around] -= times[at]
    made = tuple(
        LoopTime(
            loop.var.name,
            loop.kind,
            lines.get(id(loop), 0),
            _depth(loops, at),
            times[at],
            max(0.0, own[at]),
            median([iterations for _, iterations in readings[at]]),
        )
        for at, (loop, _) in enumerate(loops)
    )
    return LoopProfile(given, median(plain), median(found), len(found), made)


def _built(func: PrimFunc) -> Kernel:
    return build_kernels([func], Target())[0]


def _depth(loops: Sequence[tuple[For, int | None]], at: int) -> int:
    depth = 0
    around = loops[at][1]
    while around is not None:
        depth += 1
        around = loops[around][1]
    return depth


def _measured(
    plain: Kernel, timed: Kernel, ticks: Kernel, args: Sequence[Any], seconds: float
) -> tuple[list[float], list[float], list[list[tuple[int, int]]], float]:
    """Call both kernels in turn; return their times, what each clock counted in each call, and the
    ticks of a second."""
    plain(*args)
    timed(*args)
    clocks = timed.clocks if timed.func.body is not plain.func.body else None
    times: tuple[list[float], list[float]] = ([], [])
    readings: list[tuple[ClockReading, ...]] = []
    began, first = perf_counter(), _now(ticks)
    until = began + seconds
    while len(times[1]) < FEWEST_CALLS or perf_counter() < until:
        if clocks is not None:
            clocks.reset()
        for kernel, found in zip((plain, timed), times, strict=True):
            start = perf_counter()
            kernel(*args)
            found.append(perf_counter() - start)
        readings.append(() if clocks is None else clocks.read())
    rate = (_now(ticks) - first) / (perf_counter() - began)
    if rate <= 0:
        raise IRKitError("this processor has no clock that a program may read")
    pairs = [[(each.ticks, each.iterations) for each in call] for call in readings]
    return times[0], times[1], [list(each) for each in zip(*pairs, strict=True)], rate


def _now(kernel: Kernel) -> int:
    clocks = kernel.clocks
    clocks.reset()
    kernel()
    return clocks.read()[0].ticks
