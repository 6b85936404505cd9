"""Whether iterations of a loop, or two statements, depend on each other through memory.

Answers are conservative: a reported dependence may not exist, but none is missed.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from irkit.core import analysis, walk
from irkit.ir.analysis.axes import axis_values
from irkit.ir.analysis.conflicts import accesses_in, accesses_of, conflict, crossing
from irkit.ir.analysis.digits import by_digits
from irkit.ir.analysis.owners import MemoryOwners
from irkit.ir.analysis.regions import access_regions
from irkit.ir.analysis.uses import uses_of
from irkit.ir.arith import IndexSums, Ranges, bounds, loop_ranges, simplify
from irkit.ir.buffer import Buffer
from irkit.ir.build import evaluates, is_hint, trip_count
from irkit.ir.expr import Expr
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Allocate, Assert, Evaluate, For, Let, Region, Stmt, Store

Kind = Literal["flow", "anti", "output"]


class Dependences:
    """Dependences between the loops and statements of one function."""

    def __init__(self, func: PrimFunc) -> None:
        self._params, self._body = (
            func.params,
            func.body,
        )  # A cached result must not hold its function.
        self._ranges = loop_ranges(func)
        lets = {let.var: let.value for let in walk(func.body, Let)}
        self._sums = IndexSums(self._ranges, lets | axis_values(func))
        self._uses = uses_of(func)
        self._owners = MemoryOwners(func)
        self._regions = access_regions(func)
        self._carried: dict[For, str | None] = {}
        self._digits: dict[For, tuple[Dependences, list[For]] | None] = {}

    def carried(self, loop: For) -> str | None:
        """Return why iterations of a loop may depend on each other, or None if they certainly do
        not.

        Independent iterations can run in any order or at the same time.
        """
        if loop not in self._carried:
            reason = self._carries(loop)
            self._carried[loop] = reason and self._digits_carry(loop, reason)
        return self._carried[loop]

    def _digits_carry(self, loop: For, reason: str) -> str | None:
        """Compare iterations digit by digit of the loop variable: two that differ have a first
        digit that differs."""
        digits = self._by_digits(loop)
        if digits is None:
            return reason
        apart, loops = digits
        return next(filter(None, map(apart._carries, loops)), None)

    def _by_digits(self, loop: For) -> "tuple[Dependences, list[For]] | None":
        """Return the dependences of the function with a nest over the digits of a loop, and the
        loops of that nest, if its body uses them."""
        if loop not in self._digits:
            nest = by_digits(PrimFunc("digits", self._params, self._body), loop)
            self._digits[loop] = None if nest is None else (Dependences(nest[0]), nest[1])
        return self._digits[loop]

    def has_effects(self, loop: For) -> bool:
        """Return True if an iteration does more than access memory."""
        # A barrier joins threads inside one iteration over blocks.
        inside = loop.kind == "thread" and loop.thread.startswith("blockIdx")
        effects = filter(_acts, walk(loop.body, Evaluate))
        return not all(inside and evaluates(stmt, "barrier") for stmt in effects)

    def _carries(self, loop: For) -> str | None:
        if self.has_effects(loop):
            return "it has an effect besides memory accesses"
        own = self._owners.own(loop)
        accesses = accesses_of(loop, self._sums, self._uses.memory)
        shared = [access for access in accesses if access.memory not in own]
        return conflict(loop, trip_count(loop), self._sums, shared, thorough=True)

    def met(self, loop: For) -> tuple[Buffer, ...]:
        """Return the memory of which two iterations of a loop may touch the same element, one of
        them writing."""
        if self.carried(loop) is None:
            return ()
        digits = self._by_digits(loop)
        own = self._owners.own(loop)
        written = {self._uses.memory(store.buffer): None for store in walk(loop.body, Store)}
        return tuple(
            memory
            for memory in written
            if memory not in own
            and self._meets(loop, memory)
            and (digits is None or any(digits[0]._meets(each, memory) for each in digits[1]))
        )

    def _meets(self, loop: For, memory: Buffer) -> bool:
        accesses = accesses_of(loop, self._sums, self._uses.memory)
        count = trip_count(loop)
        found = conflict(loop, count, self._sums, accesses, thorough=True, only=memory)
        return found is not None

    def overwritten(self, loop: For, stores: Sequence[Store]) -> str | None:
        """Return why different iterations of a loop may write the same element by some of its
        stores, or None if they certainly do not.

        It does not matter where the buffer is allocated.
        """
        writes = [
            access
            for store in stores
            for access in accesses_in(store, self._sums, self._uses.memory)
            if access.writes
        ]
        return conflict(loop, trip_count(loop), self._sums, writes, thorough=True)

    def crosses(self, loop: For, first: Stmt, second: Stmt) -> str | None:
        """Return why ``first`` must not run for all iterations of a loop before ``second`` runs for
        any, or the reverse; None if both orders certainly give the same result.

        Both are in the body of the loop, ``first`` before ``second``, and keep their own order.
        """
        parts = (first, second)
        if any(_acts(node) for part in parts for node in walk(part, (Evaluate, Assert))):
            return "it has an effect besides memory accesses"
        own = {allocate.buffer for part in parts for allocate in walk(part, Allocate)}
        one, other = (
            [a for a in accesses_in(part, self._sums, self._uses.memory) if a.memory not in own]
            for part in parts
        )
        return crossing(loop, trip_count(loop), self._sums, one, other)

    def between(self, a: Stmt, b: Stmt) -> frozenset[Kind]:
        """Return how ``b``, which runs after ``a``, may depend on it: it reads what ``a`` wrote
        (flow), writes what ``a`` read (anti), or writes what ``a`` wrote (output).

        Each variable bound around them is assumed to have the same value for both.
        """
        regions = self._regions
        pairs: tuple[tuple[Kind, tuple[Region, ...], tuple[Region, ...]], ...] = (
            ("flow", regions.writes(a), regions.reads(b)),
            ("anti", regions.reads(a), regions.writes(b)),
            ("output", regions.writes(a), regions.writes(b)),
        )
        return frozenset(
            kind
            for kind, ones, others in pairs
            if any(self._overlap(one, other) for one in ones for other in others)
        )

    def _overlap(self, a: Region, b: Region) -> bool:
        if self._uses.memory(a.buffer) is not self._uses.memory(b.buffer):
            return False
        if a.buffer is not b.buffer:
            return True
        dims = zip(a.begins, a.extents, b.begins, b.extents, strict=True)
        return not any(
            self._is_behind(begin, at, other) or self._is_behind(at, begin, extent)
            for begin, extent, at, other in dims
        )

    def _is_behind(self, begin: Expr, other: Expr, extent: Expr) -> bool:
        """Return True if ``begin`` is at least ``other + extent``."""
        if not begin.dtype == other.dtype == extent.dtype:
            return False
        gap = bounds(simplify(begin - other - extent, self._ranges), self._ranges)
        return gap.low is not None and gap.low >= 0


def _acts(stmt: Evaluate | Assert) -> bool:
    """Return True if a statement does anything that can be observed."""
    return not is_hint(stmt)


@analysis
def dependences(func: PrimFunc) -> Dependences:
    """Return how the loops and statements of a function depend on each other through memory."""
    return Dependences(func)


def lane_conflict(
    loop: For, lanes: int, ranges: Ranges, memory: Callable[[Buffer], Buffer]
) -> str | None:
    """Return why ``lanes`` successive iterations of a loop cannot run in lockstep, or None if they
    can.

    Lanes in lockstep reorder the accesses of different iterations. That is harmless unless two of
    them touch the same element, at least one writing. ``memory`` returns the buffer that a view
    shows, also for a view around the loop.
    """
    sums = IndexSums(ranges, {let.var: let.value for let in walk(loop.body, Let)})
    return conflict(loop, lanes, sums, accesses_of(loop, sums, memory))
