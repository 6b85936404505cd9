"""What every pass promises, whoever wrote it: tried on programs.

A breach says which promise is broken, on which program, and how.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from irkit.core import (
    Function,
    IRKitError,
    IRModule,
    Level,
    Node,
    Recorder,
    Span,
    symbols_bound,
    walk,
)
from irkit.debug.check import Options, Verdict, verdicts
from irkit.debug.contract_child import Job, outcomes
from irkit.graph import GRAPH_LEVEL, GraphFunc
from irkit.ir import LOOP_LEVEL, Seq
from irkit.transform import IR, AnyPass, Step, apply_pass

Contract = Literal[
    "verifies",
    "signature",
    "same numbers",
    "idempotent",
    "deterministic",
    "truthful",
    "provenance",
    "input untouched",
    "switchable",
    "fires",
]


class Breach(msgspec.Struct, frozen=True):
    """A promise that a pass broke, on the program of a number (-1: on all of them)."""

    contract: Contract
    of: str
    program: int
    message: str

    def __str__(self) -> str:
        where = f" on program {self.program}" if self.program >= 0 else ""
        return f"'{self.of}' is not {self.contract}{where}: {self.message}"


def contracts(
    p: AnyPass,
    programs: Iterable[IR],
    *,
    hash_seeds: Sequence[int] = (1, 2),
    fires: int = 1,
    samples: int = 3,
    idempotent: bool | None = None,
) -> tuple[Breach, ...]:
    """Try a pass on programs, and list the promises it breaks.

    Each pass: leaves what verifies, with the facts that it gives, and the same signature; gives the
    same numbers; gives the same again, in another process under each of ``hash_seeds`` too; gives
    back the very same object if and only if nothing changed; keeps spans; does not touch its input;
    does nothing with all its rewrites switched off; changes at least ``fires`` programs; and does
    nothing the second time, if it says so or ``idempotent`` does. Programs that lack what the pass
    needs are passed over. Raises: IRKitError if none is left, or the pass cannot be found by
    another
    process (``hash_seeds=()`` does without).
    """
    usable = [(at, ir) for at, ir in enumerate(programs) if _is_for(p, ir)]
    if not usable:
        raise IRKitError(f"no program has what pass {p.name!r} needs, so that nothing was tried")
    found: list[Breach] = []
    fired = 0
    claimed = p.idempotent if idempotent is None else idempotent
    for at, ir in usable:
        trial = _Trial(p, at, ir, samples, claimed)
        found += trial.breaches()
        fired += trial.after is not ir
    if fired < fires:
        message = f"it changed {fired} of {len(usable)} programs, expected at least {fires}"
        found.append(Breach("fires", str(p), -1, message))
    kept = [ir for _, ir in usable]
    found += [
        Breach("deterministic", str(p), usable[at][0], f"another result with hash seed {seed}")
        for seed in hash_seeds
        for at in differing_elsewhere([(p, kept)], seed)[0]
    ]
    return tuple(found)


def assert_contracts(p: AnyPass, programs: Iterable[IR], **how: Any) -> None:
    """Fail a test with every promise that a pass breaks on programs; the options are those of
    :func:`contracts`."""
    found = contracts(p, programs, **how)
    assert not found, "\n".join(map(str, found))


def _is_for(p: AnyPass, ir: IR) -> bool:
    if not isinstance(ir, p.level):
        return False
    functions = _functions(ir)
    return not any(
        fact.problems(func)
        for fact in p.needs
        for func in functions
        if level_of(func).name == fact.level
    )


def _functions(ir: IR) -> list[Function]:
    return list(ir.functions.values()) if isinstance(ir, IRModule) else [ir]


def level_of(func: Function) -> Level:
    """Find the level of a function."""
    return GRAPH_LEVEL if isinstance(func, GraphFunc) else LOOP_LEVEL


def equal_structure(a: IR, b: IR) -> bool:
    """Say whether two programs are the same up to the names of their symbols."""
    if isinstance(a, IRModule) and isinstance(b, IRModule):
        return a.functions.keys() == b.functions.keys() and all(
            level_of(func).same(func, b[name]) for name, func in a.functions.items()
        )
    if isinstance(a, IRModule) or isinstance(b, IRModule):
        return False
    return level_of(a).same(a, b)


class _Trial:
    """One pass on one program."""

    def __init__(self, p: AnyPass, at: int, ir: IR, samples: int, idempotent: bool) -> None:
        self.p, self.at, self.ir, self.samples = p, at, ir, samples
        self.idempotent = idempotent
        self.text = ir.script()
        self.recorder = Recorder()
        self.error: Exception | None = None
        self.after: IR = ir
        try:
            self.after = apply_pass(p, ir, self.recorder)
        except Exception as error:
            self.error = error

    def breach(self, contract: Contract, message: str) -> Breach:
        return Breach(contract, str(self.p), self.at, message)

    def breaches(self) -> Iterator[Breach]:
        """Find what is broken; what does not verify is not tried further."""
        if self.error is not None:
            yield self.breach("verifies", f"{type(self.error).__name__}: {self.error}")
            return
        if self.ir.script() != self.text:
            yield self.breach("input untouched", "the input prints otherwise than before")
        invalid = list(self._invalid())
        yield from invalid
        if invalid:
            return
        yield from self._untruthful()
        yield from self._unsteady()
        yield from self._lost_spans()
        if self.after is not self.ir:
            yield from self._other_numbers()

    def _invalid(self) -> Iterator[Breach]:
        if not isinstance(self.after, self.p.level):
            yield self.breach("verifies", f"it gives a {type(self.after).__name__}")
            return
        for func in _functions(self.after):
            level = level_of(func)
            own = level.verify(func)
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
                yield self.breach("truthful", f"it reports {count} rewrites and changes nothing")
        elif self.after.script() == self.text and equal_structure(self.ir, self.after):
            yield self.breach("truthful", "it gives another object that is the same program")

    def _unsteady(self) -> Iterator[Breach]:
        text = self.after.script()
        if apply_pass(self.p, self.ir, Recorder()).script() != text:
            yield self.breach("deterministic", "a second run gives another result")
        if self.idempotent and apply_pass(self.p, self.after, Recorder()) is not self.after:
            yield self.breach("idempotent", "it changes its own result")
        if self.recorder.count:
            yield from self._unswitchable()

    def _unswitchable(self) -> Iterator[Breach]:
        off = Recorder(frozenset(range(self.recorder.count + 1000)))
        try:
            left = apply_pass(self.p, self.ir, off)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            yield self.breach("switchable", f"with all rewrites off it raises {what}")
            return
        if not equal_structure(left, self.ir):
            yield self.breach("switchable", "with all rewrites off it still changes the program")

    def _lost_spans(self) -> Iterator[Breach]:
        before = [span for _, span in _spans(self.ir)]
        if any(span is None for span in before):
            return
        owners: list[Node] = list(_functions(self.ir))
        owners += [symbol for func in _functions(self.ir) for symbol in symbols_bound(func)]
        known = {*before, *(getattr(owner, "span", None) for owner in owners)}
        for node, span in _spans(self.after):
            if span is None:
                yield self.breach("provenance", f"a {type(node).__name__} has no span")
                return
            if known.isdisjoint(span.chain()):
                yield self.breach("provenance", f"{span} is nowhere in the input")
                return

    def _other_numbers(self) -> Iterator[Breach]:
        options = Options(samples=self.samples, kernels=True)
        for verdict in verdicts([_step(self.p, self.ir, self.after)], options):
            if verdict.status in ("differs", "failed"):
                yield self.breach("same numbers", _told(verdict))


def _told(verdict: Verdict) -> str:
    error = verdict.error
    if error.at is None:
        return verdict.message
    at = ", ".join(map(str, error.at))
    return f"{verdict.buffer}[{at}] is {error.found}, expected {error.expected}"


def _spans(ir: IR) -> Iterator[tuple[Node, Span | None]]:
    for func in _functions(ir):
        for node in walk(func):
            # A sequence is only how statements stand together.
            if hasattr(node, "span") and not isinstance(node, (Function, Seq)):
                yield node, getattr(node, "span", None)


def _step(p: AnyPass, before: IR, after: IR) -> Step:
    level = level_of(_functions(before)[0])
    name = "" if isinstance(before, IRModule) else before.name
    return Step(
        index=0,
        level=level,
        phase=0,
        phase_name="",
        name=p.name,
        pass_text=str(p),
        options=dict(p.options),
        function=name,
        before=before,
        after=after,
        seconds=0.0,
    )


def differing_elsewhere(jobs: Sequence[tuple[AnyPass, Sequence[IR]]], seed: int) -> list[list[int]]:
    """Run passes in another process with another hash seed; list, for each pass, the programs it
    gives another result for.

    Programs travel as text. Raises: IRKitError if a pass cannot be found there.
    """
    made = [_job(p, programs) for p, programs in jobs]
    here = [outcomes(job) for job in made]
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    child = subprocess.run(
        [sys.executable, "-m", "irkit.debug.contract_child"],
        input=pickle.dumps(made),
        env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        check=False,
    )
    if child.returncode:
        last = child.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise IRKitError(f"passes cannot be run in another process: {last}")
    there: list[list[str]] = pickle.loads(child.stdout)
    return [
        [at for at, pair in enumerate(zip(*both, strict=True)) if pair[0] != pair[1]]
        for both in zip(here, there, strict=True)
    ]


def _job(p: AnyPass, programs: Sequence[IR]) -> Job:
    return p, [(isinstance(ir, IRModule), ir.script()) for ir in programs]
