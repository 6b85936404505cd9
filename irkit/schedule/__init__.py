"""Schedule primitives on loop IR with blocks, one family a file.

Reading order: state (finding and replacing), loops, compute, reduction, layout; schedule puts them
behind one object.
"""

from irkit.schedule.schedule import BlockRef, LoopRef, Schedule

__all__ = ["BlockRef", "LoopRef", "Schedule"]
