"""The pass, the rewrites or the schedule step that break a program."""

from difflib import unified_diff

import msgspec

from irkit.core import Application, Names
from irkit.debug.check.verdict import Trust, Verdict
from irkit.ir import PrimFunc, listing
from irkit.schedule import TraceStep
from irkit.transform import IR, AnyPass

MAX_LINES = 60


class Culprit(msgspec.Struct, frozen=True):
    """The pass that breaks a program and the rewrites to blame, or the schedule step.

    ``run`` is the pass or step, None if code generation is at fault, and ``before`` its input;
    ``good`` and ``bad`` are its results without and with the guilty rewrites (``bad`` is None if
    there was no result). Without ``rewrites``, ``note`` gives the reason. ``of`` counts all
    rewrites of the pass. ``trust`` says how many mutants of ``good`` the inputs tell from it, where
    that was asked: how sure it is that the other rewrites are right.
    """

    verdict: Verdict
    run: AnyPass | TraceStep | None
    before: IR
    rewrites: tuple[Application, ...] = ()
    of: int = 0
    good: IR | None = None
    bad: IR | None = None
    note: str = ""
    trust: Trust | None = None

    def __str__(self) -> str:
        lines = [str(self.verdict)]
        if isinstance(self.run, TraceStep):
            lines += [f"  the step is from {self.run.where}"] if self.run.where else []
        elif self.run is not None:
            lines.append(f"  the pass is {self.run.origin}")
        lines += [f"  {self.note}"] if self.note else []
        for each in self.rewrites:
            span = each.span
            place = f" ({span.file}:{span.line})" if span is not None else ""
            lines.append(f"rewrite {each.number + 1} of {self.of}: {each.rule}{place}")
        lines += [f"  without it, {self.trust}"] if self.trust is not None else []
        lines += _cut(self.diff())
        return "\n".join(lines)

    def diff(self) -> list[str]:
        """Return what the guilty rewrites change, as lines of a unified diff."""
        if self.good is None or self.bad is None:
            return []
        names = Names()  # One table, so that unchanged symbols have the same name in both.
        good, bad = _printed(self.good, names), _printed(self.bad, names)
        return list(unified_diff(good, bad, "without it", "with it", lineterm="", n=2))


def _printed(ir: IR, names: Names) -> list[str]:
    # As the inspector prints it, so that it finds the lines.
    if isinstance(ir, PrimFunc):
        return listing(ir, names=names).lines
    return ir.script(names=names).splitlines()


def _cut(lines: list[str]) -> list[str]:
    more = len(lines) - MAX_LINES
    return [*lines[:MAX_LINES], f"... and {more} more lines"] if more > 0 else lines
