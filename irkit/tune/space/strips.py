"""Strips of an outer loop: a cache tile, for what the loops inside of it read again."""

from irkit.core import ScheduleError
from irkit.schedule import LoopRef, Schedule

STRIPS = (1, 2, 4, 8, 16)
"""Tiles of a strip; 1 leaves the loop as it is."""


def strip_loop(sch: Schedule, outer: list[LoopRef], at: int, tiles: int) -> None:
    """Run some iterations of a loop around a tile innermost: ``for y: for x`` becomes
    ``for y by tiles: for x: for y in a strip``. ``outer`` are all loops around the tile.

    Raises: ScheduleError if the loops contain anything but each other.
    """
    if tiles <= 1:
        return
    if not 0 <= at < len(outer) - 1:
        raise ScheduleError(f"there is no loop {at} with another one inside it to run in strips")
    _, strip = sch.split(outer[at], [None, tiles])
    sch.reorder(*outer[at + 1 :], strip)
