"""Check of a trace: does the program still mean the same after every step?

Each function is run before and after each step that changed it, on inputs that are given or made up
for it. ``docs/legal-changes.md`` and ``precision`` define what may differ, and by how much.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from numpy.typing import ArrayLike

from irkit.core import Function, IRKitError, IRModule, count_nodes
from irkit.debug.check.code_check import code_not_tried, code_verdict
from irkit.debug.check.difference import Difference
from irkit.debug.check.graphs.graph_subject import GraphSubject, graph_of
from irkit.debug.check.graphs.packed_constants import packed_problems
from irkit.debug.check.law.kept_attributes import broken_attribute
from irkit.debug.check.law.module_promises import broken_promise, only_adds
from irkit.debug.check.options import CheckOptions
from irkit.debug.check.proof import require_prover, with_proof
from irkit.debug.check.schedule_steps import SCHEDULE
from irkit.debug.check.subject import Subject
from irkit.debug.check.trust.with_graph_trust import graph_trust
from irkit.debug.check.trust.with_trust import with_trust
from irkit.debug.check.verdict import Verdict
from irkit.debug.execution.executors import MAX_STEPS
from irkit.debug.execution.inputs import input_names
from irkit.debug.execution.native_worker import NativeWorker
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.proof import Prover
from irkit.transform import IR, PassFailed, Step

MOST_NODES = 60_000
"""Nodes of kernels of a model whose native code is checked, in all."""


def check(
    steps: Iterable[Step],
    inputs: Mapping[str, ArrayLike] | None = None,
    *,
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
    samples: int = 4,
    native: bool | None = None,
    code: bool = False,
    prove: bool = False,
    max_steps: int = MAX_STEPS,
    together: bool = False,
) -> tuple[Verdict, ...]:
    """Return a verdict on every step of a trace, or of steps as a pipeline yields them; then those
    on native code that are asked for.

    ``inputs`` are arrays by the names of parameters; without them, ``samples`` sets are made from
    ``seed``. ``dims`` fixes symbolic dimensions by name. ``code`` also compiles the last stage of
    each function as :func:`irkit.build` does, runs it in a child, and compares it with the
    interpreter; ``native`` True does so with every stage, False with none. ``together`` is that of
    :class:`CheckOptions`. ``prove`` looks for a proof of each step of a loop function; where there
    is one, the basis of the verdict is "proved".

    Raises: IRKitError if ``prove`` needs z3, which is not installed.
    """
    options = CheckOptions(
        inputs or {},
        dims or {},
        seed,
        samples,
        native,
        code,
        max_steps=max_steps,
        together=together,
        prove=prove,
    )
    return tuple(verdicts(steps, options))


def verdicts(
    steps: Iterable[Step],
    options: CheckOptions,
    worker: NativeWorker | None = None,
    *,
    failed: Callable[[PassFailed], object] | None = None,
) -> Iterator[Verdict]:
    """Check steps one after the other; a pass that fails yields the last verdict.

    ``worker`` runs untrusted native code and stays open; without one, a worker is started for these
    steps. ``failed`` is called with a pass that fails before there is a verdict.
    """
    own = NativeWorker(options.seconds)
    prover = require_prover() if options.prove else None
    subjects = _Subjects(worker if worker is not None else own, prover)
    code = _CodeChecks(subjects, options)
    count = 0
    try:
        for group in _groups(steps, options):
            stages = _stages(group)
            if len(stages) > 2:
                subjects.of(stages[0], options).settle(stages)
            for step in group:
                count = step.index + 1
                yield from _check_step(step, subjects, options, code)
                code.follow(step)
            if options.together and stages:
                yield from code.of_last(stages[0].name)
                subjects.pop(stages[0].name, None)  # Its outcomes take memory.
        yield from code.of_all()
    except PassFailed as error:
        if failed is not None:
            failed(error)
        yield Verdict(
            count,
            error.function,
            error.phase,
            error.name,
            error.pass_text,
            "failed",
            message=f"{error.what}\n  {error.hint}" if error.hint else error.what,
            level=LOOP_LEVEL.name if error.attempt is None else error.attempt.level.name,
        )
    finally:
        own.close()
    _check_names(options, subjects.names)


def _groups(steps: Iterable[Step], options: CheckOptions) -> Iterator[list[Step]]:
    """Yield each step alone or, to be judged together, all steps in a row of one loop function."""
    group: list[Step] = []
    try:
        for step in steps:
            if group and not (options.together and _continues(group[-1], step)):
                yield group
                group = []
            group.append(step)
    except PassFailed:
        if group:
            yield group
        raise
    if group:
        yield group


def _continues(last: Step, step: Step) -> bool:
    return isinstance(step.before, PrimFunc) and last.after is step.before


def _stages(group: Sequence[Step]) -> list[PrimFunc]:
    """Return the versions of a function, each once."""
    versions = [group[0].before, *(step.after for step in group if step.changed)]
    return [each for each in versions if isinstance(each, PrimFunc)]


def _check_names(options: CheckOptions, known: set[str]) -> None:
    """Raise IRKitError for a name that no function has; ``known`` is empty without functions."""
    for name in (*options.inputs, *options.dims):
        if known and name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise IRKitError(f"there is no parameter or dimension {name!r}; there are: {listed}")


def _blank(step: Step) -> Verdict:
    return Verdict(
        step.index,
        step.function,
        step.phase,
        step.name,
        step.pass_text,
        "same",
        step.changed,
        level=step.level.name,
    )


def _check_step(
    step: Step, subjects: "_Subjects", options: CheckOptions, code: "_CodeChecks"
) -> Iterator[Verdict]:
    blank = _blank(step)
    if not step.changed:
        yield blank
        return
    pairs = list(_changed_functions(step.before, step.after))
    broken = _broken(step)
    if broken:
        yield msgspec.structs.replace(blank, status="failed", message=broken)
        return
    if not pairs or graph_of(step.before) is not graph_of(step.after):
        yield msgspec.structs.replace(blank, **_check_graph(step, options, subjects.worker))
    for before, after in pairs:
        started = time.process_time()
        subject = subjects.of(before, options)
        yield from code.of_stage(blank, before)
        made = subject.verdict(blank, before, after, changes_rounding=step.changes_rounding)
        if options.trusts(step.name):
            spent = time.process_time() - started
            rounds = step.changes_rounding
            made = with_trust(made, subject, before, after, changes_rounding=rounds, seconds=spent)
        if subjects.prover is not None:
            made = with_proof(made, subject, before, after, subjects.prover)
        made = subjects.as_consequence(made, before, after)
        yield made
        if made.ok:
            yield from code.of_stage(blank, after)


def _broken(step: Step) -> str:
    """Return what a step changed that is no value, and that it must keep."""
    match step.before, step.after:
        case IRModule() as before, IRModule() as after:
            return broken_promise(before, after)
        case Function() as before, Function() as after:
            return broken_attribute(before, after, scheduling=step.phase == SCHEDULE)
        case _:
            return ""


def _check_graph(step: Step, options: CheckOptions, worker: NativeWorker) -> dict[str, Any]:
    before, after = step.before, step.after
    if isinstance(before, IRModule) and isinstance(after, IRModule) and only_adds(before, after):
        return {"tried": "its functions, which are unchanged", "basis": "tested"}
    graphs = graph_of(before), graph_of(after)
    if graphs[0] is None or graphs[1] is None:
        return {"status": "not known", "message": "there is no function to run"}
    wrong = packed_problems(graphs[0], graphs[1])
    if wrong:
        return {"status": "failed", "message": f"packed constants are not their source: {wrong[0]}"}
    began = time.process_time()
    try:
        subject = GraphSubject(before, options, worker)
    except IRKitError as error:
        return {"status": "not known", "message": str(error)}
    rounds = step.changes_rounding
    found = subject.compare_step(after, changes_rounding=rounds)
    if found["status"] in ("same", "rounds differently") and options.trusts(step.name):
        spent = time.process_time() - began
        found["trust"] = graph_trust(
            subject, after, graphs[1], changes_rounding=rounds, seconds=spent
        )
    return found


def _changed_functions(before: IR, after: IR) -> Iterator[tuple[PrimFunc, PrimFunc]]:
    if isinstance(before, PrimFunc) and isinstance(after, PrimFunc):
        yield before, after
    elif isinstance(before, IRModule) and isinstance(after, IRModule):
        for name, func in before.functions.items():
            other = after.functions.get(name)
            if isinstance(func, PrimFunc) and isinstance(other, PrimFunc) and func is not other:
                yield func, other


class _CodeChecks:
    """Checks of the native code of functions: of their last stages, or of every one.

    What was checked has one row at the end, or one at the stage whose code is wrong.
    """

    def __init__(self, subjects: "_Subjects", options: CheckOptions) -> None:
        self.subjects, self.options = subjects, options
        self.last: dict[str, tuple[Verdict, PrimFunc]] = {}
        self.checked: dict[int, PrimFunc] = {}
        self.wrong: set[str] = set()
        self.nodes_left = MOST_NODES if options.together else None

    def follow(self, step: Step) -> None:
        """Note the functions as they are after a step."""
        if self.options.compiled == "none":
            return
        gone = _loop_functions(step.before).keys() - _loop_functions(step.after).keys()
        for name in gone:
            self.last.pop(name, None)
        for name, func in _loop_functions(step.after).items():
            self.last[name] = _blank(step), func

    def of_stage(self, blank: Verdict, func: PrimFunc) -> Iterator[Verdict]:
        """Check a stage, if every stage is to be, and yield a verdict if it is wrong."""
        if self.options.compiled != "every" or id(func) in self.checked or func.name in self.wrong:
            return
        made = code_verdict(self.subjects.of(func, self.options), func, blank)
        self.checked[id(func)] = func
        if made.is_wrong:
            self.wrong.add(func.name)
            yield made

    def of_last(self, name: str) -> Iterator[Verdict]:
        """Yield the verdict on the last stage of a function, unless its code was wrong before."""
        blank, func = self.last.pop(name, (None, None))
        if blank is None or func is None or name in self.wrong:
            return
        skipped = self._why_skipped(func)
        if skipped:
            yield code_not_tried(blank, func, skipped)
        else:
            yield code_verdict(self.subjects.of(func, self.options), func, blank)

    def _why_skipped(self, func: PrimFunc) -> str:
        """Return why the kernel of a model is not compiled, or an empty string."""
        if self.nodes_left is None or self.options.compiled == "every":
            return ""
        nodes = count_nodes(func)
        if nodes > self.nodes_left:
            return (
                f"not looked at: its last stage has {nodes:,} nodes, and of {MOST_NODES:,} that a "
                f"check of a model compiles {self.nodes_left:,} are left; --native compiles all"
            )
        self.nodes_left -= nodes
        return ""

    def of_all(self) -> Iterator[Verdict]:
        """Yield the verdicts on the last stages of all functions that are left."""
        for name in list(self.last):
            yield from self.of_last(name)


def _loop_functions(ir: IR) -> dict[str, PrimFunc]:
    functions = ir.functions.values() if isinstance(ir, IRModule) else (ir,)
    return {func.name: func for func in functions if isinstance(func, PrimFunc)}


class _Subjects(dict[str, Subject]):
    """The functions seen so far, the child process that runs their untrusted native code, and what
    was proved.

    They share one process: starting it takes longer than most checks. ``names`` are those of the
    inputs and dimensions of all functions seen.
    """

    def __init__(self, worker: NativeWorker, prover: Prover | None) -> None:
        super().__init__()
        self.worker, self.prover = worker, prover
        self.names: set[str] = set()
        self.first_wrong: dict[str, Verdict] = {}

    def of(self, func: PrimFunc, options: CheckOptions) -> Subject:
        """Return the subject of a function; one that is new is prepared."""
        if func.name not in self:
            self.names |= input_names(func)
            self[func.name] = Subject(func, options, self.worker)
        return self[func.name]

    def as_consequence(self, made: Verdict, before: PrimFunc, after: PrimFunc) -> Verdict:
        """Return a verdict; one that only carries on what an earlier step of the function broke is
        "not known", and names that step."""
        first = self.first_wrong.get(before.name)
        if first is None:
            if made.is_wrong:
                self.first_wrong[before.name] = made
            return made
        if made.ok or not self[before.name].carries_on(made, before, after):
            return made
        why = f": {made.message}" if made.message else ""
        message = f"follows from '{first.pass_text}' of {first.phase_text}{why}"
        return msgspec.structs.replace(
            made, status="not known", message=message, error=Difference(), buffer="", stopped=False
        )
