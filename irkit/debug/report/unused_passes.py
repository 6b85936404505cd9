"""Passes of a pipeline that did nothing."""

from collections.abc import Iterable

import msgspec

from irkit.core import IRModule
from irkit.transform import AnyPass, Pipeline, Step


class UnusedPass(msgspec.Struct, frozen=True):
    """A pass at a position of a pipeline that never ran, or never changed anything in ``runs``."""

    of: AnyPass
    level: str
    phase: int
    phase_name: str
    runs: int

    def __str__(self) -> str:
        where = f"pass '{self.of}' in phase {self.phase} {self.phase_name}"
        if self.runs:
            times = "once" if self.runs == 1 else f"{self.runs} times"
            return f"{where} ran {times} and never changed anything"
        takes = "a module" if self.of.level is IRModule else f"a {self.of.level.__name__}"
        return f"{where} never ran: it was given no function, and takes {takes}"


def unused_passes(steps: Iterable[Step], pipelines: Iterable[Pipeline]) -> list[UnusedPass]:
    """Return the passes of pipelines that, according to their steps, did nothing.

    A pass that occurs in a phase twice with the same options counts once.
    """
    runs: dict[tuple[str, int, str], int] = {}
    changed: set[tuple[str, int, str]] = set()
    for step in steps:
        key = (step.level.name, step.phase, step.pass_text)
        runs[key] = runs.get(key, 0) + 1
        if step.changed:
            changed.add(key)
    found: dict[tuple[str, int, str], UnusedPass] = {}
    for pipeline in pipelines:
        for phase in pipeline.phases:
            for p in phase.passes:
                key = (pipeline.level.name, phase.number, str(p))
                if key not in changed:
                    unused = UnusedPass(p, key[0], phase.number, phase.name, runs.get(key, 0))
                    found.setdefault(key, unused)
    return list(found.values())
