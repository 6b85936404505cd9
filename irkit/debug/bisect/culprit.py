"""The pass, rewrites or schedule step that break a program."""

from difflib import unified_diff

import msgspec

from irkit.core import Application, Names
from irkit.debug.check.verdict import Verdict
from irkit.schedule import TraceStep
from irkit.transform import IR, AnyPass

MAX_LINES = 60


class Culprit(msgspec.Struct, frozen=True):
    """The pass that breaks a program, and the rewrites inside it that do; or the step of its
    schedule.

    ``run`` is the pass or step, ``before`` what it was given; ``good`` and ``bad`` are what it
    makes of that without
    and with the guilty rewrites (``bad`` is None if it made nothing). Where there are no
    ``rewrites``, ``note`` says why. ``of`` counts all that the pass made.
    """

    verdict: Verdict
    run: AnyPass | TraceStep
    before: IR
    rewrites: tuple[Application, ...] = ()
    of: int = 0
    good: IR | None = None
    bad: IR | None = None
    note: str = ""

    def __str__(self) -> str:
        lines = [str(self.verdict)]
        if not isinstance(self.run, TraceStep):
            lines.append(f"  the pass is {self.run.origin}")
        elif self.run.where:
            lines.append(f"  the step is from {self.run.where}")
        lines += [f"  {self.note}"] if self.note else []
        for each in self.rewrites:
            span = each.span
            place = f" ({span.file}:{span.line})" if span is not None else ""
            lines.append(f"rewrite {each.number + 1} of {self.of}: {each.rule}{place}")
        lines += _shortened(self.diff())
        return "\n".join(lines)

    def diff(self) -> list[str]:
        """List what the guilty rewrites change, as lines of a unified diff."""
        if self.good is None or self.bad is None:
            return []
        names = Names()  # One table, so that what did not change has its name in both.
        good, bad = _printed(self.good, names), _printed(self.bad, names)
        return list(unified_diff(good, bad, "without it", "with it", lineterm="", n=2))


def _printed(ir: IR, names: Names) -> list[str]:
    return ir.script(names=names).splitlines()


def _shortened(lines: list[str]) -> list[str]:
    more = len(lines) - MAX_LINES
    return [*lines[:MAX_LINES], f"... and {more} lines more"] if more > 0 else lines
