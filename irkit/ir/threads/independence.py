"""Whether iterations of loops that have no order, or threads between two barriers, can meet.

Two meet if they touch the same element, one of them writing. The answer is conservative: "may meet"
can be wrong, "independent" cannot.
"""

import msgspec

from irkit.core import analysis, deep_recursion, walk
from irkit.ir.analysis import axis_values, dependences, memory_owners, uses_of
from irkit.ir.arith import IndexSums, loop_ranges
from irkit.ir.buffer import Buffer
from irkit.ir.build import is_block_loop, trip_count
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import For, Let
from irkit.ir.threads.barriers import BarrierFinder, outermost_nests, stands_twice
from irkit.ir.threads.conflicts import ThreadConflicts
from irkit.ir.threads.guarded_conflicts import meet_under_conditions

UNORDERED = ("parallel", "vectorized")


class LoopIndependence(msgspec.Struct, frozen=True):
    """What is known about a loop without an order, or about a nest of threads by its outermost
    loop: why two iterations or threads may meet; an empty ``reason`` if they certainly do not."""

    loop: For
    reason: str

    @property
    def holds(self) -> bool:
        """Return True if any order of the iterations, or of the threads between two barriers,
        gives the same result."""
        return not self.reason


@analysis
def independence(func: PrimFunc) -> tuple[LoopIndependence, ...]:
    """Return, for each parallel or vectorized loop, each loop over blocks and each nest of threads,
    whether its iterations or threads certainly never meet."""
    alone = [loop for loop in walk(func.body, For) if loop.kind in UNORDERED or is_block_loop(loop)]
    nests = outermost_nests(func.body)
    found = [LoopIndependence(loop, _carries(func, loop)) for loop in alone]
    with deep_recursion:
        conflicts = ThreadConflicts(func) if nests else None
        for nest in nests:
            assert conflicts is not None
            found.append(LoopIndependence(nest, _meeting(nest, conflicts)))
    return tuple(found)


def _carries(func: PrimFunc, loop: For) -> str:
    """Return why iterations of a loop may meet, or an empty string."""
    known = dependences(func)
    reason = known.carried(loop)
    if reason is None or known.has_effects(loop):
        return reason or ""
    sums, memory, own = _sums(func), uses_of(func).memory, memory_owners(func).own(loop)
    meet = meet_under_conditions(loop, trip_count(loop), sums, memory, own)
    return reason if meet else ""


@analysis
def _sums(func: PrimFunc) -> IndexSums:
    lets = {let.var: let.value for let in walk(func.body, Let)}
    return IndexSums(loop_ranges(func), lets | axis_values(func))


def met_memory(func: PrimFunc, loop: For) -> tuple[Buffer, ...]:
    """Return the memory of which two iterations of a loop may touch the same element, one of them
    writing."""
    found = dependences(func).met(loop)
    if not found:
        return ()
    count, sums, memory = trip_count(loop), _sums(func), uses_of(func).memory
    own = memory_owners(func).own(loop)
    return tuple(
        each for each in found if meet_under_conditions(loop, count, sums, memory, own, only=each)
    )


def _meeting(nest: For, conflicts: ThreadConflicts) -> str:
    """Return where two threads of a nest may meet, or an empty string."""
    if stands_twice(nest):
        return "a statement stands in several places"
    finder = BarrierFinder(conflicts)
    finder.visit(nest, ())
    if finder.before:
        span = next(iter(finder.before.values()))
        where = "" if span is None else f" before {span}"
        return f"threads may touch the same element with no barrier{where}"
    if finder.meet_inside():
        return "threads may touch the same element in one statement"
    return ""
