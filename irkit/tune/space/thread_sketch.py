"""The sketch of threads: which loop of each nest runs in parallel."""

import msgspec

from irkit.autoschedule import Rule, mark_parallel_at
from irkit.schedule import Schedule
from irkit.tune.space.sketch import AutoSketch, Draws, Group, Knobs, Setting

THREADS = "threads"
"""The name of the group: there may be no block of this name, or there is no such group."""


class ThreadSketch(msgspec.Struct, frozen=True):
    """The loop so many loops inside the outermost one runs in parallel, alone or fused with the
    next one. No formula knows what that is worth: it is measured."""

    @property
    def name(self) -> str:
        return "nest"

    @property
    def knobs(self) -> Knobs:
        return {"depth": (0, 1, 2), "fused": (1, 2)}

    @property
    def start(self) -> Setting | None:
        return None

    @property
    def draws(self) -> Draws:
        return Draws()

    def allows(self, setting: Setting) -> bool:
        return True

    def cycles(self, setting: Setting) -> float:
        return 0.0

    def rule(self, setting: Setting) -> Rule | None:
        return None

    def mark(self, sch: Schedule, setting: Setting) -> None:
        """Mark the loops."""
        mark_parallel_at(sch, int(setting["depth"]), int(setting["fused"]))


def thread_group() -> Group:
    """Return what is decided about threads."""
    return Group(THREADS, (AutoSketch(0.0), ThreadSketch()))
