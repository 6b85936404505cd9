"""Count every application of a rewrite rule, and collect remarks: the one context variable there
is.

A pipeline sets the recorder around each pass; :func:`irkit.core.rewrite` reports to it. Switching
an application off by its number is how a bisection finds the guilty rewrite.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec

from irkit.core.node import Node
from irkit.core.span import Span


class Application(msgspec.Struct, frozen=True):
    """One firing of a rule: its number within the pass, the rule's name, the nodes before and
    after, and where the rule is written."""

    number: int
    rule: str
    before: Node
    after: Node
    span: Span | None = None


class Remark(msgspec.Struct, frozen=True):
    """What a pass had to say about a node, such as why it left it alone."""

    node: Node
    text: str


class Recorder:
    """Hold what happened while one pass ran; ``disabled`` are the application numbers that must not
    take place."""

    def __init__(self, disabled: frozenset[int] = frozenset(), *, keep: bool = False) -> None:
        self.disabled = disabled
        self.keep = keep
        self.count = 0
        self.applications: list[Application] = []
        self.remarks: list[Remark] = []

    def allows(self, rule: str, before: Node, after: Node, span: Span | None = None) -> bool:
        """Count one application and say whether it may take place."""
        number = self.count
        self.count += 1
        if number in self.disabled:
            return False
        if self.keep:
            self.applications.append(Application(number, rule, before, after, span))
        return True


_RECORDER: ContextVar[Recorder | None] = ContextVar("irkit_recorder", default=None)


def current_recorder() -> Recorder | None:
    """Return the recorder of the pass that runs now, or None outside a pipeline."""
    return _RECORDER.get()


@contextmanager
def recording(recorder: Recorder) -> Generator[Recorder]:
    """Make ``recorder`` the current one for the duration of a ``with`` block."""
    token = _RECORDER.set(recorder)
    try:
        yield recorder
    finally:
        _RECORDER.reset(token)


def remark(node: Node, text: str) -> None:
    """Say something about a node to whoever reads the trace; outside a pipeline it is dropped."""
    recorder = _RECORDER.get()
    if recorder is not None:
        recorder.remarks.append(Remark(node, text))
