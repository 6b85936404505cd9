"""Run passes one step at a time, and check what each leaves behind."""

from collections.abc import Generator, Iterable, Mapping
from itertools import groupby
from time import perf_counter
from typing import Any, TypeVar, cast

import msgspec

from irkit.core import (
    Function,
    IRKitError,
    IRModule,
    Level,
    Node,
    Problem,
    Recorder,
    equal,
    recording,
)
from irkit.transform.define import AnyPass
from irkit.transform.facts import Fact
from irkit.transform.step import IR, PassFailed, Step, VerificationFailed, listed

_IR = TypeVar("_IR", bound=Function | IRModule)
Numbered = tuple[int, str, AnyPass]


class _Run(msgspec.Struct):
    level: Level
    verify: bool
    keep: bool
    disabled: Mapping[int, frozenset[int]]
    index: int

    def problems(
        self, ir: IR, facts: Iterable[Fact], before: IR | None = None, new: Iterable[Fact] = ()
    ) -> tuple[Problem, ...]:
        """Check the functions of this level; those that are as ``before`` only for ``new``."""
        old = [] if before is None else _functions(self.level, before)
        known = {id(function) for function in old}
        found: list[Problem] = []
        for function in _functions(self.level, ir):
            unchanged = id(function) in known
            own = [] if unchanged else self.level.verify(function)
            # A broken function is not shown to predicates, which may rely on the verifier.
            asked = new if unchanged else facts
            found.extend(own or [p for fact in asked for p in _named(fact, function)])
        return tuple(found)


def run_steps(
    level: Level,
    passes: list[Numbered],
    facts: tuple[Fact, ...],
    ir: IR,
    *,
    verify: bool,
    keep: bool,
    disabled: Mapping[int, frozenset[int]],
    start: int,
) -> Generator[Step, None, IR]:
    """Run passes as :meth:`Pipeline.steps` says; the value of the generator is the last IR."""
    run = _Run(level, verify, keep, disabled, start)
    _check_input(run, passes, ir, facts)
    state = facts
    for _, group in groupby(passes, key=lambda numbered: numbered[2].on_modules):
        chosen = list(group)
        after = facts_along(chosen, state)
        for key, subject in _subjects(level, ir, chosen[0][2]):
            for numbered, in_force in zip(chosen, after, strict=True):
                if not isinstance(subject, numbered[2].level):
                    continue
                step = _one_step(run, numbered, key, subject, in_force)
                run.index += 1
                ir, subject = step.applied_to(ir), step.after
                yield step
        state = after[-1]
    return ir


def apply_pass(p: AnyPass, ir: _IR, recorder: Recorder) -> _IR:
    """Run a pass under a recorder; an atomic pass counts as one application, numbered 0."""
    if not p.atomic:
        with recording(recorder):
            return p(ir)
    inner = Recorder()
    if 0 in recorder.disabled:
        return ir
    with recording(inner):
        result = p(ir)
    recorder.remarks.extend(inner.remarks)
    recorder.count += result is not ir
    return result


def facts_along(passes: list[Numbered], state: tuple[Fact, ...]) -> list[tuple[Fact, ...]]:
    """Follow the facts in force, in a fixed order: those after each pass."""
    found: list[tuple[Fact, ...]] = []
    for _, _, p in passes:
        kept = dict.fromkeys(fact for fact in state if fact not in p.breaks)
        state = tuple(kept | dict.fromkeys(p.gives))
        found.append(state)
    return found


def _subjects(level: Level, ir: IR, p: AnyPass) -> list[tuple[str, IR]]:
    if p.on_modules:
        return [("", ir)]
    if isinstance(ir, IRModule):
        return [(key, f) for key, f in ir.functions.items() if isinstance(f, level.functions)]
    return [(ir.name, ir)]


def _functions(level: Level, ir: IR) -> list[Function]:
    if isinstance(ir, IRModule):
        return [f for f in ir.functions.values() if isinstance(f, level.functions)]
    return [ir]


def _named(fact: Fact, function: Function) -> list[Problem]:
    return [Problem(f"{fact.name}: {p.message}", p.node) for p in fact.problems(function)]


def _check_input(run: _Run, passes: list[Numbered], ir: IR, facts: tuple[Fact, ...]) -> None:
    if not isinstance(ir, IRModule):
        if not isinstance(ir, run.level.functions):
            takes = ", ".join(cls.__name__ for cls in run.level.functions)
            raise IRKitError(
                f"a pipeline of level {run.level.name!r} takes {takes} or IRModule; "
                f"found {type(ir).__name__}"
            )
        for phase, _, p in passes:
            if p.on_modules:
                raise IRKitError(
                    f"phase {phase}: '{p.name}' takes a module, and this is a single function",
                    hint=f"Give the pipeline IRModule({{{ir.name!r}: ...}}).",
                )
    problems = run.problems(ir, facts) if run.verify else ()
    if problems:
        raise VerificationFailed(
            "the IR given to the pipeline does not hold", problems, hint=listed(problems)
        )


def _one_step(run: _Run, numbered: Numbered, key: str, before: IR, facts: tuple[Fact, ...]) -> Step:
    phase, phase_name, p = numbered
    recorder = Recorder(run.disabled.get(run.index, frozenset()), keep=run.keep)

    def failed(what: str, after: object = None, problems: tuple[Problem, ...] = ()) -> PassFailed:
        return PassFailed(
            what,
            name=p.name,
            pass_text=str(p),
            phase=phase,
            function=key,
            before=before,
            after=after,
            problems=problems,
        )

    started = perf_counter()
    try:
        after: Any = apply_pass(p, before, recorder)
    except Exception as error:
        raise failed(f"{type(error).__name__}: {error}") from error
    seconds = perf_counter() - started
    if not isinstance(after, p.level):
        raise failed(f"it returned {type(after).__name__}, not {p.level.__name__}", after)
    if after is not before and _signature_changed(run.level, before, after):
        raise failed("it changed the signature", after)
    problems = run.problems(after, facts, before, p.gives) if run.verify else ()
    if problems:
        raise failed("the result does not hold", after, problems)
    return Step(
        index=run.index,
        level=run.level,
        phase=phase,
        phase_name=phase_name,
        name=p.name,
        pass_text=str(p),
        options=dict(p.options),
        function=key,
        before=before,
        after=after,
        seconds=seconds,
        applications=recorder.count,
        kept=tuple(recorder.applications),
        remarks=tuple(recorder.remarks),
        facts=tuple(fact.name for fact in facts),
    )


def _signature_changed(level: Level, before: IR, after: IR) -> bool:
    if level.signature is None or isinstance(after, IRModule):
        return False
    return not _agree(level.signature(before), level.signature(after))


def _agree(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        items, others = cast(tuple[Any, ...], a), cast(tuple[Any, ...], b)
        return len(items) == len(others) and all(map(_agree, items, others))
    # Shapes may be deep, and the equality that nodes come with recurses.
    return equal(a, b) if isinstance(a, Node) and isinstance(b, Node) else bool(a == b)
