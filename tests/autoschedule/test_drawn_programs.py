"""Drawn tensor expressions: the automatic schedule raises nothing and keeps what they compute."""

from collections.abc import Iterator

from irkit.autoschedule import GENERIC, Machine
from irkit.fuzz.generators import Unusable, draw_sample
from irkit.fuzz.picks import Picks
from irkit.ir import PrimFunc, is_unscheduled

MACHINES = (GENERIC, Machine.with_vectors(32), Machine.with_vectors(16))


def drawn(count: int, start: int = 0) -> Iterator[PrimFunc]:
    """Yield functions over tensor expressions that nobody has scheduled."""
    seed = start
    while count:
        seed += 1
        try:
            func = draw_sample("programs", Picks.seeded(seed)).ir
        except Unusable:
            continue
        if isinstance(func, PrimFunc) and is_unscheduled(func):
            count -= 1
            yield func
