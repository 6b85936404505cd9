"""Run passes one step at a time, and verify the result of each."""

from collections.abc import Callable, Generator, Iterable, Mapping
from itertools import groupby, islice
from time import perf_counter
from typing import Any, Literal, TypeVar, cast

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
    walk,
)
from irkit.transform.define import AnyPass
from irkit.transform.facts import Fact
from irkit.transform.step import (
    IR,
    Attempt,
    NumberedPass,
    PassHalted,
    Step,
    VerificationFailed,
    functions_of,
    list_problems,
)

_IR = TypeVar("_IR", bound=Function | IRModule)
# Runs a pass and returns its result: in this process, under a time limit, or in another process.
Apply = Callable[[Attempt, Recorder], object]
Verify = bool | Literal["start"]
"""Whether the IR is verified at the start and after each pass, or at the start only."""


class _StepRunner(msgspec.Struct):
    level: Level
    passes: tuple[NumberedPass, ...]
    verify: Verify
    keep: bool
    timed: bool
    disabled: Mapping[int, frozenset[int]]
    apply: Apply
    index: int

    def attempt(self, at: int, key: str, before: IR, facts: tuple[Fact, ...]) -> Attempt:
        return Attempt(
            level=self.level,
            passes=self.passes,
            at=at,
            index=self.index,
            function=key,
            before=before,
            facts=facts,
            verify=self.verify is True,
            keep=self.keep,
            disabled=self.disabled.get(self.index, frozenset()),
        )


def find_problems(
    level: Level,
    ir: IR,
    facts: Iterable[Fact],
    before: IR | None = None,
    new: Iterable[Fact] = (),
) -> tuple[Problem, ...]:
    """List problems of the functions of a level; those unchanged since ``before`` are checked only
    for ``new`` facts."""
    old = [] if before is None else functions_of(before, level.functions)
    known = {id(function) for function in old}
    found: list[Problem] = []
    for function in functions_of(ir, level.functions):
        unchanged = id(function) in known
        own = [] if unchanged else level.verify(function)
        # Predicates of facts can rely on the verifier, so they skip an invalid function.
        asked = new if unchanged else facts
        found.extend(own or [p for fact in asked for p in _named(fact, function)])
    return tuple(found)


def run_steps(
    level: Level,
    passes: list[NumberedPass],
    facts: tuple[Fact, ...],
    ir: IR,
    *,
    verify: Verify,
    keep: bool,
    timed: bool = False,
    disabled: Mapping[int, frozenset[int]],
    start: int,
    apply: Apply,
) -> Generator[Step, None, IR]:
    """Run passes as described in :meth:`Pipeline.steps`; the generator returns the last IR."""
    run = _StepRunner(level, tuple(passes), verify, keep, timed, disabled, apply, start)
    _check_input(run, passes, ir, facts)
    before = (facts, *facts_along(passes, facts))
    for _, group in groupby(range(len(passes)), key=lambda at: passes[at][2].on_modules):
        chosen = list(group)
        subjects = _subjects(level, ir, passes[chosen[0]][2])
        while subjects:  # Nothing here holds what passes have replaced: it may be all weights.
            key, subject = subjects.pop(0)
            for at in chosen:
                if not isinstance(subject, passes[at][2].level):
                    continue
                step = _one_step(run, run.attempt(at, key, subject, before[at]))
                run.index += 1
                ir, subject = step.applied_to(ir), step.after
                yield step
                del step
    return ir


def apply_here(attempt: Attempt, recorder: Recorder) -> object:
    """Run a pass in this process, without a time limit."""
    return apply_pass(attempt.p, attempt.before, recorder)


def runs_here(apply: Apply) -> bool:
    """Return True if a function runs irkit's own passes as :func:`apply_here` does. One that does
    more for the passes of others says so by an attribute ``own``, which is what it runs irkit's
    by."""
    return getattr(apply, "own", apply) is apply_here


def apply_pass(p: AnyPass, ir: _IR, recorder: Recorder) -> _IR:
    """Run a pass under a recorder; an atomic pass counts as one application, number 0."""
    if not p.atomic:
        with recording(recorder):
            return p(ir)
    inner = Recorder(timed=recorder.timed)
    if 0 in recorder.disabled:
        return ir
    with recording(inner):
        result = p(ir)
    recorder.remarks.extend(inner.remarks)
    recorder.add_reports(inner.rules.values())
    recorder.count += result is not ir
    return result


def facts_along(passes: list[NumberedPass], state: tuple[Fact, ...]) -> list[tuple[Fact, ...]]:
    """Return the facts in force after each pass, in a fixed order."""
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


def _named(fact: Fact, function: Function) -> list[Problem]:
    return [Problem(f"{fact.name}: {p.message}", p.node) for p in fact.problems(function)]


def _check_input(
    run: _StepRunner, passes: list[NumberedPass], ir: IR, facts: tuple[Fact, ...]
) -> None:
    if not isinstance(ir, IRModule):
        if not isinstance(ir, run.level.functions):
            takes = ", ".join(cls.__name__ for cls in run.level.functions)
            raise IRKitError(
                f"a pipeline of level {run.level.name!r} takes {takes} or IRModule, "
                f"found {type(ir).__name__}"
            )
        for phase, _, p in passes:
            if p.on_modules:
                raise IRKitError(
                    f"phase {phase}: '{p.name}' takes a module, found a single function",
                    hint=f"Give the pipeline IRModule({{{ir.name!r}: ...}}).",
                )
    problems = find_problems(run.level, ir, facts) if run.verify else ()
    if problems:
        raise VerificationFailed(
            "the IR given to the pipeline is invalid", problems, hint=list_problems(problems)
        )


def _one_step(run: _StepRunner, attempt: Attempt) -> Step:
    p, before = attempt.p, attempt.before
    recorder = Recorder(attempt.disabled, keep=run.keep, timed=run.timed)
    started = perf_counter()
    try:
        after: Any = run.apply(attempt, recorder)
    except PassHalted as error:
        raise attempt.failure(error.kind, error.message) from error
    # A pass that calls sys.exit is treated like one that raises.
    except (Exception, SystemExit) as error:
        kind = "memory" if isinstance(error, MemoryError) else "exception"
        raise attempt.failure(kind, f"{type(error).__name__}: {error}") from error
    seconds = perf_counter() - started
    if not isinstance(after, p.level):
        what = f"it returned {type(after).__name__}, not {p.level.__name__}"
        raise attempt.failure("class", what, after)
    if p.most_nodes and after is not before:
        _check_size(attempt, before, after)
    if after is not before and _signature_changed(run.level, before, after):
        raise attempt.failure("signature", "it changed the signature", after)
    facts = attempt.facts_after
    try:
        new = p.gives
        problems = find_problems(run.level, after, facts, before, new) if attempt.verify else ()
    except Exception as error:  # For example, a statement in place of an expression.
        what = f"the result cannot be verified: {type(error).__name__}: {error}"
        raise attempt.failure("problems", what, after) from error
    if problems:
        raise attempt.failure("problems", "the result is invalid", after, problems)
    return Step(
        index=run.index,
        level=run.level,
        phase=attempt.phase,
        phase_name=attempt.passes[attempt.at][1],
        name=p.name,
        pass_text=str(p),
        options=dict(p.options),
        function=attempt.function,
        before=before,
        after=after,
        seconds=seconds,
        applications=recorder.count,
        kept=tuple(recorder.applications),
        remarks=tuple(recorder.remarks),
        facts=tuple(fact.name for fact in facts),
        reports=tuple(recorder.rules.values()),
        changes_rounding=p.changes_rounding,
    )


def _check_size(attempt: Attempt, before: IR, after: IR) -> None:
    """Raise PassFailed if a pass with a limit made too many nodes."""
    most = attempt.p.most_nodes
    made = _count(after, most)
    if made <= most or made <= (known := _count(before, made)):
        return
    what = (
        f"it returned more than {most:,} nodes, found {known:,} before; expected at most {most:,}: "
        "give it less to copy, or a larger most_nodes where it is defined"
    )
    raise attempt.failure("nodes", what, after)


def _count(ir: IR, most: int) -> int:
    """Count the nodes of a function or module, up to one more than a number."""
    functions = ir.functions.values() if isinstance(ir, IRModule) else (ir,)
    nodes = (node for function in functions for node in walk(function))
    return sum(1 for _ in islice(nodes, most + 1))


def _signature_changed(level: Level, before: IR, after: IR) -> bool:
    if level.signature is None or isinstance(after, IRModule):
        return False
    return not _agree(level.signature(before), level.signature(after))


def _agree(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        items, others = cast(tuple[Any, ...], a), cast(tuple[Any, ...], b)
        return len(items) == len(others) and all(map(_agree, items, others))
    # Shapes can be deep, and the == of nodes recurses.
    return equal(a, b) if isinstance(a, Node) and isinstance(b, Node) else bool(a == b)
