"""One pass tried on one program, contract by contract."""

import inspect
import traceback
from collections.abc import Iterator
from pathlib import Path

from irkit.core import Function, IRKitError, Node, Recorder, Span, symbols_bound, walk
from irkit.debug.check.check import verdicts
from irkit.debug.check.options import CheckOptions
from irkit.debug.contracts.breach import Breach, Contract
from irkit.debug.contracts.levels import equal_structure, level_of
from irkit.debug.contracts.process_state import ProcessState
from irkit.debug.isolation.trace_step import trace_step
from irkit.ir import Seq
from irkit.transform import IR, AnyPass, apply_pass, functions_of


class ContractTrial:
    """One pass tried on one program. ``unknown`` says why its numbers could not be compared, if
    so."""

    def __init__(self, p: AnyPass, at: int, ir: IR, samples: int, idempotent: bool) -> None:
        self.p, self.at, self.ir, self.samples = p, at, ir, samples
        self.idempotent = idempotent
        self.text = ir.script()
        self.recorder = Recorder()
        self.after: IR = ir
        self.unknown = ""
        self.state = ProcessState()
        made, self.error = self._applied(ir, self.recorder)
        if made is not None:
            self.after = made

    def _applied(self, ir: IR, recorder: Recorder) -> tuple[IR | None, str]:
        """Run the pass; return its result, or what it raised."""
        try:
            return apply_pass(self.p, ir, recorder), ""
        except (Exception, SystemExit) as error:  # A pass can raise anything.
            return None, raised_by(self.p, error)

    def breach(self, contract: Contract, message: str) -> Breach:
        return Breach(contract, str(self.p), self.at, message)

    def breaches(self) -> Iterator[Breach]:
        """Yield the contracts broken; a result that does not verify is not tried further."""
        if self.error:
            yield self.breach("raises nothing", self.error)
            return
        if self.ir.script() != self.text:
            yield self.breach("input untouched", "the input prints differently afterwards")
        invalid = list(self._invalid())
        yield from invalid
        if invalid:
            return
        yield from self._untruthful()
        yield from self._unrepeatable()
        yield from self._lost_spans()
        if self.after is not self.ir:
            yield from self._different_results()

    def _invalid(self) -> Iterator[Breach]:
        if not isinstance(self.after, self.p.level):
            yield self.breach("verifies", f"it returns a {type(self.after).__name__}")
            return
        for func in functions_of(self.after):
            level = level_of(func)
            try:
                own = level.verify(func)
            except Exception as error:  # For example, a statement in place of an expression.
                message = f"the result cannot be verified: {type(error).__name__}: {error}"
                yield self.breach("verifies", message)
                return
            facts = [fact for fact in self.p.gives if fact.level == level.name]
            own = own or [problem for fact in facts for problem in fact.problems(func)]
            yield from (self.breach("verifies", str(problem)) for problem in own[:3])
        if isinstance(self.ir, Function) and isinstance(self.after, Function):
            before, after = ((f.script().partition("\n")[0]) for f in (self.ir, self.after))
            if getattr(self.ir, "params", ()) != getattr(self.after, "params", ()):
                yield self.breach("signature", f"{before} became {after}")

    def _untruthful(self) -> Iterator[Breach]:
        if self.after is self.ir:
            if self.recorder.count:
                count = self.recorder.count
                yield self.breach("truthful", f"it reports {count} rewrites but changes nothing")
        elif self.after.script() == self.text and equal_structure(self.ir, self.after):
            yield self.breach("truthful", "it returns an equal copy of its input")

    def _unrepeatable(self) -> Iterator[Breach]:
        text = self.after.script()
        again, error = self._applied(self.ir, Recorder())
        left = self._left_behind()
        if left:
            yield self.breach("process untouched", f"it changes {left}")
        if again is None:
            yield self.breach("raises nothing", f"in a second run, {error}")
            return
        if again.script() != text:
            yield self.breach("deterministic", "a second run gives another result")
        if self.idempotent:
            own, error = self._applied(self.after, Recorder())
            if own is None:
                yield self.breach("raises nothing", f"on its own result, {error}")
            elif own is not self.after:
                yield self.breach("idempotent", "it changes its own result")
        if self.recorder.count:
            yield from self._unswitchable()

    def _left_behind(self) -> str:
        """Return what the pass changes in its process, if it does so again from the same state:
        what the first run alone changes is due to what it imports, and stays."""
        first = self.state.changes()
        if not first:
            return ""
        left = ProcessState()
        self.state.restore()
        self._applied(self.ir, Recorder())
        second = self.state.changes()
        both = [name + text for name, text in first.items() if name in second]
        (self.state if both else left).restore()
        return ", ".join(both)

    def _unswitchable(self) -> Iterator[Breach]:
        off = Recorder(frozenset(range(self.recorder.count + 1000)))
        left, error = self._applied(self.ir, off)
        if left is None:
            yield self.breach("switchable", f"with all rewrites off, {error}")
        elif not equal_structure(left, self.ir):
            yield self.breach("switchable", "with all rewrites off it still changes the program")

    def _lost_spans(self) -> Iterator[Breach]:
        before = [span for _, span in _spans(self.ir)]
        if any(span is None for span in before):
            return
        owners: list[Node] = list(functions_of(self.ir))
        owners += [symbol for func in functions_of(self.ir) for symbol in symbols_bound(func)]
        known = {*before, *(getattr(owner, "span", None) for owner in owners)}
        for node, span in _spans(self.after):
            if span is None:
                yield self.breach("provenance", f"a {type(node).__name__} has no span")
                return
            if known.isdisjoint(span.chain()):
                yield self.breach("provenance", f"{span} is nowhere in the input")
                return

    def _different_results(self) -> Iterator[Breach]:
        options = CheckOptions(samples=self.samples)
        step = trace_step(
            level_of(functions_of(self.ir)[0]),
            self.ir,
            name=self.p.name,
            pass_text=str(self.p),
            options=dict(self.p.options),
            after=self.after,
            changes_rounding=self.p.changes_rounding,
        )
        for verdict in verdicts([step], options):
            if verdict.is_wrong:
                contract: Contract = "no new race" if verdict.status == "races" else "same numbers"
                yield self.breach(contract, verdict.wrong_element or verdict.message)
            elif not verdict.ok:
                self.unknown = verdict.message or verdict.status


def raised_by(p: AnyPass, error: BaseException) -> str:
    """Return what a pass raised, and in which line of it."""
    said = error.message if isinstance(error, IRKitError) else str(error)
    frames = traceback.extract_tb(error.__traceback__)
    home = inspect.unwrap(p.function).__code__.co_filename
    own = [frame for frame in frames if frame.filename == home]
    where = f" ({Path(home).name}:{own[-1].lineno}, in {own[-1].name})" if own else ""
    return f"{type(error).__name__}: {said}{where}"


def _spans(ir: IR) -> Iterator[tuple[Node, Span | None]]:
    for func in functions_of(ir):
        for node in walk(func):
            # A sequence only groups statements, and has no span.
            if hasattr(node, "span") and not isinstance(node, (Function, Seq)):
                yield node, getattr(node, "span", None)
