"""Count the applications of rewrite rules and collect remarks: the only context variable of irkit.

A pipeline sets the recorder around each pass, and :func:`irkit.core.rewrite` reports to it. A
bisection finds the rewrite at fault by disabling applications by number.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec

from irkit.core.node import Node
from irkit.core.span import Span


class Application(msgspec.Struct, frozen=True):
    """One firing of a rule: its number within the pass, the rule's name and definition, and the
    nodes before and after."""

    number: int
    rule: str
    before: Node
    after: Node
    span: Span | None = None


class Remark(msgspec.Struct, frozen=True):
    """A note that a pass left on a node, such as why it did not transform it."""

    node: Node
    text: str


class Recorder:
    """Record of one pass run; ``disabled`` are the numbers of applications that must not happen."""

    def __init__(self, disabled: frozenset[int] = frozenset(), *, keep: bool = False) -> None:
        self.disabled = disabled
        self.keep = keep
        self.count = 0
        self.applications: list[Application] = []
        self.remarks: list[Remark] = []

    def allows(self, rule: str, before: Node, after: Node, span: Span | None = None) -> bool:
        """Count one application; return True if it may take place."""
        number = self.count
        self.count += 1
        if number in self.disabled:
            return False
        if self.keep:
            self.applications.append(Application(number, rule, before, after, span))
        return True


_RECORDER: ContextVar[Recorder | None] = ContextVar("irkit_recorder", default=None)


def current_recorder() -> Recorder | None:
    """Return the recorder of the running pass, or None outside a pipeline."""
    return _RECORDER.get()


def allowed(rule: str, before: Node, after: Node) -> bool:
    """Report one application of a rule to the recorder; return False if it is disabled."""
    recorder = _RECORDER.get()
    return after is not before and (recorder is None or recorder.allows(rule, before, after))


@contextmanager
def recording(recorder: Recorder) -> Generator[Recorder]:
    """Make ``recorder`` the current one within a ``with`` block."""
    token = _RECORDER.set(recorder)
    try:
        yield recorder
    finally:
        _RECORDER.reset(token)


def remark(node: Node, text: str) -> None:
    """Attach a note to a node for readers of the trace; outside a pipeline it is dropped."""
    recorder = _RECORDER.get()
    if recorder is not None:
        recorder.remarks.append(Remark(node, text))
