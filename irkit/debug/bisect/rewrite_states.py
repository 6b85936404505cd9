"""The program after each rewrite of a pass, which runs again with the later ones switched off."""

from collections.abc import Iterator

import msgspec

from irkit.core import Application, Remark
from irkit.debug.bisect.rewrite_search import CallerSpanRecorder
from irkit.transform import IR, AnyPass, apply_pass

_SPARE = 1000
"""Rewrites that a pass may try when others are off, beyond those of its whole run."""


class RewriteState(msgspec.Struct, frozen=True):
    """The program after the first rewrites of a pass; ``rewrites`` are those since the state
    before."""

    rewrites: tuple[Application, ...]
    ir: IR


class RewriteStates:
    """The rewrites of one pass on one program, in order, and its remarks.

    ``ir`` is the result of the whole pass. An atomic pass reports no rewrites. Raises: what the
    pass raises.
    """

    def __init__(self, p: AnyPass, before: IR) -> None:
        self.p, self.before = p, before
        recorder = CallerSpanRecorder(keep=True)
        self.ir: IR = apply_pass(p, before, recorder)
        self.rewrites = tuple(recorder.applications)
        self.remarks: tuple[Remark, ...] = tuple(recorder.remarks)

    def after(self, count: int) -> IR | None:
        """Return the program after the first ``count`` rewrites; None if the pass cannot stop
        there."""
        if count == len(self.rewrites):
            return self.ir
        off = frozenset(range(count, len(self.rewrites) + _SPARE))
        try:
            return apply_pass(self.p, self.before, CallerSpanRecorder(off))
        except (Exception, SystemExit):
            return None

    def states(self, first: int, last: int, most: int) -> Iterator[RewriteState]:
        """Yield at most ``most`` states after rewrites ``first`` to ``last``, from 1, each after
        about as many as the others."""
        size = -(-(last - first + 1) // most)
        done = first - 1
        for count in (*range(first - 1 + size, last, size), last):
            ir = self.after(count)
            if ir is not None:
                yield RewriteState(self.rewrites[done:count], ir)
                done = count
