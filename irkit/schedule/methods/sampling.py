"""Schedule methods that sample: a tuner varies their decisions, and a trace records them."""

import math
from collections.abc import Sequence

from irkit.core import ScheduleError
from irkit.ir import trip_count
from irkit.schedule.analysis.accesses import consumers_of
from irkit.schedule.limits import MOST_DIVISORS
from irkit.schedule.state.lookup import find_block, find_loop, loops_above
from irkit.schedule.state.references import BlockRef, Drawn, LoopRef
from irkit.schedule.trace.traced_schedule import TracedSchedule, primitive


class SamplingPrimitives(TracedSchedule):
    """Mixin with the sampling primitives; with a ``decision`` nothing is drawn."""

    @primitive
    def sample_categorical(
        self,
        candidates: Sequence[int],
        probs: Sequence[float] | None = None,
        *,
        decision: int | None = None,
    ) -> Drawn:
        """Draw one of the candidates; ``probs`` are weights, equal if not given.

        ``decision`` is the index of a candidate.
        """
        weights = [1.0] * len(candidates) if probs is None else [float(each) for each in probs]
        if not candidates or len(weights) != len(candidates):
            raise ScheduleError(
                f"sample_categorical needs a weight for each candidate: found {len(weights)} for "
                f"{len(candidates)}"
            )
        if min(weights) < 0 or not math.isfinite(sum(weights)) or sum(weights) <= 0:
            raise ScheduleError(f"weights must not be negative or all 0, found {weights}")
        if decision is None:
            decision = self._random.choices(range(len(candidates)), weights)[0]
        if not 0 <= decision < len(candidates):
            raise ScheduleError(
                f"decision {decision} is not an index of {len(candidates)} candidates"
            )
        self._drawn = decision
        return Drawn(candidates[decision])

    @primitive
    def sample_perfect_tile(
        self,
        loop: LoopRef,
        n: int,
        max_innermost_factor: int = 16,
        *,
        decision: Sequence[int] | None = None,
    ) -> list[Drawn]:
        """Draw ``n`` factors whose product is the extent of a loop, with a bound on the
        innermost."""
        node = find_loop(self._func, loop.var)
        extent = trip_count(node) or None
        if extent is None or n < 1:
            raise ScheduleError(
                f"sample_perfect_tile needs a loop of constant extent and at least one factor: "
                f"cannot tile {loop.var.name!r} into {n}",
                at=node,
            )
        factors = (
            list(decision) if decision is not None else self._tile(extent, n, max_innermost_factor)
        )
        if len(factors) != n or math.prod(factors) != extent or min(factors) < 1:
            raise ScheduleError(
                f"the factors {factors} are not {n} whose product is {extent}, the extent of "
                f"{loop.var.name!r}",
                at=node,
            )
        self._drawn = tuple(factors)
        return [Drawn(factor) for factor in factors]

    def _tile(self, extent: int, n: int, most: int) -> list[int]:
        if n == 1:
            return [extent]
        inner = self._random.choice([each for each in _divisors(extent) if each <= max(1, most)])
        rest, factors = extent // inner, [inner]
        for _ in range(n - 2):
            factors.append(self._random.choice(_divisors(rest)))
            rest //= factors[-1]
        return [rest, *reversed(factors)]

    @primitive
    def sample_partitioned_tile(
        self,
        loop: LoopRef,
        n: int,
        partition_pos: int,
        innerpart_factor: int,
        *,
        decision: Sequence[int] | None = None,
    ) -> list[Drawn]:
        """Draw the factors of a perfect tile such that ``innerpart_factor`` divides the product of
        those from ``partition_pos`` on."""
        node = find_loop(self._func, loop.var)
        extent = trip_count(node) or None
        if (
            extent is None
            or not 0 < partition_pos < n
            or innerpart_factor < 1
            or extent % innerpart_factor
        ):
            raise ScheduleError(
                f"cannot draw {n} factors of {loop.var.name!r} such that {innerpart_factor} "
                f"divides the product of those from position {partition_pos} on",
                at=node,
            )
        if decision is None:
            outer = self._random.choice(_divisors(extent // innerpart_factor))
            head = self._tile(outer, partition_pos, outer)
            factors = [*head, *self._tile(extent // outer, n - partition_pos, extent)]
        else:
            factors = list(decision)
        inner = math.prod(factors[partition_pos:])
        if len(factors) != n or math.prod(factors) != extent or inner % innerpart_factor:
            raise ScheduleError(f"the factors {factors} do not fit {loop.var.name!r}", at=node)
        self._drawn = tuple(factors)
        return [Drawn(factor) for factor in factors]

    @primitive
    def sample_compute_location(
        self, block: BlockRef, decision: int | None = None
    ) -> LoopRef | None:
        """Draw a loop of the first consumer at which to compute a block; None means the root.

        ``decision`` counts the loops around that consumer from the outermost; -1 is the root.
        """
        node = find_block(self._func, block.name)
        consumers = consumers_of(self._func, node)
        loops = loops_above(self._func, consumers[0]) if consumers else []
        around = set(loops_above(self._func, node))
        places = [-1, *(at for at, loop in enumerate(loops) if loop not in around)]
        if decision is None:
            decision = self._random.choice(places)
        if decision not in places:
            raise ScheduleError(
                f"block {block.name!r} cannot be computed at loop {decision} of its consumer; "
                f"legal decisions are {places}",
                at=node,
            )
        self._drawn = decision
        return None if decision < 0 else LoopRef(loops[decision].var)


def _divisors(number: int) -> list[int]:
    if number > MOST_DIVISORS**2:
        raise ScheduleError(f"an extent of {number} is too large for sampling factors")
    small = [each for each in range(1, math.isqrt(number) + 1) if number % each == 0]
    return small + [number // each for each in reversed(small) if each * each != number]
