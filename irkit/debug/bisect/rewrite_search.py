"""Search for the guilty rewrites of one pass.

The recorder numbers the rewrites of a pass and can switch them off by number. With the first k on
and the rest off, some smallest k breaks the program; halving finds it. If the program does not
verify for some k in between, those rewrites depend on each other: they are taken as one group,
which is then reduced as in delta debugging.
"""

import inspect
from enum import Enum

import msgspec

from irkit.core import Function, IRModule, Level, Node, Problem, Recorder, Span
from irkit.debug.bisect.culprit import Culprit
from irkit.debug.check.graphs.graph_subject import GraphSubject, graph_of
from irkit.debug.check.options import CheckOptions
from irkit.debug.check.subject import Subject
from irkit.debug.check.verdict import WRONG, Verdict
from irkit.debug.execution.native_worker import NativeWorker
from irkit.ir import PrimFunc
from irkit.transform import IR, AnyPass, Apply, Attempt, Fact, PassHalted, functions_of

MAX_RUNS = 200
_SPARE = 1000


class _Outcome(Enum):
    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"


class CallerSpanRecorder(Recorder):
    """A recorder that uses the caller's line for rewrites whose rule has no span."""

    def allows(self, rule: str, before: Node, after: Node, span: Span | None = None) -> bool:
        frame = inspect.currentframe()
        while span is None and frame is not None:
            # Skip the frames between the rule and this recorder.
            if not frame.f_globals.get("__name__", "").startswith(("irkit.core", __name__)):
                span = Span("python", rule, frame.f_code.co_filename, frame.f_lineno)
            frame = frame.f_back
        return super().allows(rule, before, after, span)


class RewriteSearch:
    """The search for the guilty rewrites of one pass on one program."""

    def __init__(
        self,
        level: Level,
        facts: tuple[Fact, ...],
        p: AnyPass,
        before: IR,
        verdict: Verdict,
        options: CheckOptions,
        apply: Apply,
    ) -> None:
        self.apply, self.halted = apply, ""
        self.level, self.p, self.before, self.verdict = level, p, before, verdict
        self.blank = Verdict(
            verdict.index, verdict.function, verdict.phase, verdict.name, verdict.pass_text, "same"
        )
        self.runs = self.total = 0
        worker = NativeWorker(options.seconds)
        self.subjects = {
            name: Subject(func, options, worker) for name, func in _loop_functions(before).items()
        }
        self.graph: GraphSubject | None = None
        if not self.by_verifier and graph_of(before) is not None:
            self.graph = GraphSubject(before, options, worker)
        self.facts = facts if verdict.how == "" else ()
        self._known: dict[frozenset[int], _Outcome] = {}

    @property
    def by_verifier(self) -> bool:
        """Return True if the result did not verify, or there was none."""
        return self.verdict.how == ""

    def culprit(self) -> Culprit:
        """Run the search and return its result."""
        culprit = Culprit(self.verdict, self.p, self.before)
        self.total = self._run(frozenset())[0].count
        if self.halted or not self.total:
            note = "the pass reports no rewrites, so the search ends here"
            if self.halted:
                note = f"the pass {self.halted}, so its rewrites cannot be told apart"
            return msgspec.structs.replace(culprit, note=note)
        culprit = msgspec.structs.replace(culprit, of=self.total)
        if self._outcome(set()) is not _Outcome.GOOD:
            note = "the pass breaks the program even with all its rewrites switched off"
            return msgspec.structs.replace(culprit, note=note)
        low, high = self._halve(self.total)
        first = set(range(low))
        guilty = self._shrink(first, set(range(low, high)))
        return self._found_rewrites(culprit, first, guilty)

    def _found_rewrites(self, culprit: Culprit, first: set[int], guilty: set[int]) -> Culprit:
        _, good = self._run(self._all_but(first))
        recorder, bad = self._run(self._all_but(first | guilty))
        rewrites = tuple(each for each in recorder.applications if each.number in guilty)
        note = (
            "the pass is atomic: its rewrites are switched on or off together"
            if self.p.atomic
            else ""
        )
        return msgspec.structs.replace(culprit, rewrites=rewrites, good=good, bad=bad, note=note)

    def _halve(self, total: int) -> tuple[int, int]:
        """Return k and m: the first k rewrites are good, the first m bad, all between undecided."""
        low: int = 0
        high: int = total
        skipped: set[int] = set()
        while self.runs < MAX_RUNS:
            left = [k for k in range(low + 1, high) if k not in skipped]
            if not left:
                break
            middle = left[len(left) // 2]
            match self._outcome(set(range(middle))):
                case _Outcome.GOOD:
                    low = middle
                case _Outcome.BAD:
                    high = middle
                case _Outcome.SKIP:
                    skipped.add(middle)
        return low, high

    def _shrink(self, on: set[int], group: set[int]) -> set[int]:
        """Shrink a group that breaks the program: drop halves, then single rewrites."""
        size = len(group) // 2
        while size and self.runs < MAX_RUNS:
            order = sorted(group)
            for at in range(0, len(order), size):
                rest = group - set(order[at : at + size])
                if rest and self._outcome(on | rest) is _Outcome.BAD:
                    group = rest
            size //= 2
        return group

    def _all_but(self, on: set[int]) -> frozenset[int]:
        # With some rewrites off, a pass can try others that it did not reach before.
        return frozenset(range(self.total + _SPARE)) - on

    def _run(self, disabled: frozenset[int]) -> tuple[CallerSpanRecorder, IR | None]:
        recorder = CallerSpanRecorder(disabled, keep=True)
        attempt = Attempt(
            level=self.level,
            passes=((self.verdict.phase, "", self.p),),
            at=0,
            index=self.verdict.index,
            function=self.verdict.function,
            before=self.before,
            facts=(),
            keep=True,
            disabled=disabled,
        )
        try:
            after = self.apply(attempt, recorder)
            return recorder, after if isinstance(after, (Function, IRModule)) else None
        except PassHalted as error:
            self.halted = self.halted or error.message
            return recorder, None
        except (Exception, SystemExit):
            return recorder, None  # The rewrites before the exception are recorded.

    def _outcome(self, on: set[int]) -> _Outcome:
        """Run the pass with some rewrites on and all others off, and judge the result."""
        key = frozenset(on)
        if key not in self._known:
            self.runs += 1
            self._known[key] = self._judge(on)
        return self._known[key]

    def _judge(self, on: set[int]) -> _Outcome:
        _, after = self._run(self._all_but(on))
        if after is None or self._problems(after):
            return _Outcome.BAD if self.by_verifier else _Outcome.SKIP
        if self.by_verifier:
            return _Outcome.GOOD
        if self.graph is not None:
            rounds = self.p.changes_rounding
            status = self.graph.compare_step(after, changes_rounding=rounds)["status"]
            return _Outcome.BAD if status in WRONG else _Outcome.GOOD
        for name, func in _loop_functions(after).items():
            subject = self.subjects.get(name)
            if subject is not None and subject.func is not func:
                verdict = subject.verdict(
                    self.blank,
                    subject.func,
                    func,
                    changes_rounding=self.p.changes_rounding,
                )
                if verdict.is_wrong:
                    return _Outcome.BAD
        return _Outcome.GOOD

    def _problems(self, after: IR) -> list[Problem]:
        found: list[Problem] = []
        for func in functions_of(after):
            if isinstance(func, self.level.functions):
                found += self.level.verify(func)
                found += [] if found else [p for fact in self.facts for p in fact.problems(func)]
        return found


def _loop_functions(ir: IR) -> dict[str, PrimFunc]:
    functions = ir.functions if isinstance(ir, IRModule) else {ir.name: ir}
    return {name: func for name, func in functions.items() if isinstance(func, PrimFunc)}
