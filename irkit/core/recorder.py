"""Count the applications of rewrite rules, time the rules, and collect remarks: the only context
variable of irkit.

A pipeline sets the recorder around each pass, and :func:`irkit.core.rewrite` reports to it. A
bisection finds the rewrite at fault by disabling applications by number.
"""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Any

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


class RuleReport(msgspec.Struct):
    """What one rule did in one pass: ``hits`` are its applications, ``span`` is its place.

    A change repeated by ``fixpoint`` has a report too, with the most ``rounds`` in which it had an
    effect before one without. Units: seconds, of attempts that changed nothing too; 0.0 unless the
    recorder was timed.
    """

    rule: str
    hits: int = 0
    seconds: float = 0.0
    rounds: int = 0
    span: Span | None = None

    def add(self, other: "RuleReport") -> None:
        """Add what the rule did elsewhere."""
        self.hits += other.hits
        self.seconds += other.seconds
        self.rounds = max(self.rounds, other.rounds)
        self.span = self.span or other.span


class Recorder:
    """Record of one pass run; ``disabled`` are the numbers of applications that must not happen.

    ``keep`` keeps the applications; ``timed`` measures the time in each rule, which costs two looks
    at the clock for each node that a rule is asked about.
    """

    def __init__(
        self, disabled: frozenset[int] = frozenset(), *, keep: bool = False, timed: bool = False
    ) -> None:
        self.disabled = disabled
        self.keep = keep
        self.timed = timed
        self.count = 0
        self.applications: list[Application] = []
        self.remarks: list[Remark] = []
        self.rules: dict[str, RuleReport] = {}

    def allows(self, rule: str, before: Node, after: Node, span: Span | None = None) -> bool:
        """Count one application; return True if it may take place."""
        number = self.count
        self.count += 1
        if number in self.disabled:
            return False
        if self.keep:
            self.applications.append(Application(number, rule, before, after, span))
        self.report(rule, span).hits += 1
        return True

    def report(self, rule: str, span: Span | None = None) -> RuleReport:
        """Return the report on a rule, which grows until the end of the pass."""
        found = self.rules.get(rule)
        if found is None:
            found = self.rules[rule] = RuleReport(rule)
        if found.span is None:
            found.span = span
        return found

    def add_reports(self, reports: Iterable[RuleReport]) -> None:
        """Add what rules did under another recorder."""
        for each in reports:
            self.report(each.rule).add(each)

    def clocked(
        self, rule: str, span: Span | None, apply: Callable[[Any], Any]
    ) -> Callable[[Any], Any]:
        """Return ``apply``, measured for the report on a rule."""
        report = self.report(rule, span)

        def measured(node: Any) -> Any:
            started = perf_counter()
            try:
                return apply(node)
            finally:
                report.seconds += perf_counter() - started

        return measured


_RECORDER: ContextVar[Recorder | None] = ContextVar("irkit_recorder", default=None)


def current_recorder() -> Recorder | None:
    """Return the recorder of the running pass, or None outside a pipeline."""
    return _RECORDER.get()


def allowed(rule: str, before: Node, after: Node) -> bool:
    """Report one application of a rule to the recorder; return False if it is disabled."""
    recorder = _RECORDER.get()
    return after is not before and (recorder is None or recorder.allows(rule, before, after))


def report_rounds(change: str, rounds: int, seconds: float = 0.0) -> None:
    """Add to the report on a repeated change that it took ``rounds`` to a fixpoint."""
    recorder = _RECORDER.get()
    if recorder is not None:
        recorder.report(change).add(RuleReport(change, seconds=seconds, rounds=rounds))


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
