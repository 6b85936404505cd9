"""Check a trace: does the program still mean the same after every step?

Each function is run before and after each step that changed it, on inputs made up for it or given.
What may differ, and by how much, is what ``docs/semantics.md`` and ``precision`` say.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec
from numpy.typing import ArrayLike

from irkit.core import IRKitError, IRModule
from irkit.debug.compare import Difference, compare, identical
from irkit.debug.graph_check import GraphSubject, graph_of
from irkit.debug.inputs import INTEGERS, Array, InputSet, TooLarge, input_names, input_sets
from irkit.debug.native import NativeWorker
from irkit.debug.precision import Precision
from irkit.debug.primitives import place
from irkit.debug.running import (
    MAX_SECONDS,
    MAX_STEPS,
    PATIENCE,
    Interpreter,
    Native,
    Outcome,
    Runs,
)
from irkit.ir import Buffer, PrimFunc, StepLimit
from irkit.transform import IR, PassFailed, Step

Status = Literal["same", "differs", "failed", "unchecked"]


class Verdict(msgspec.Struct, frozen=True):
    """What a check found about one step.

    ``differs`` gives other numbers, ``failed`` cannot run or does not verify, ``unchecked`` could
    not be tried; ``message`` says why. ``error`` holds the largest errors and the first wrong
    element, of ``buffer``; ``inputs`` names the set it was found with, ``how`` what ran it.
    """

    index: int
    function: str
    phase: int
    name: str
    pass_text: str
    status: Status
    changed: bool = True
    error: Difference = Difference()
    buffer: str = ""
    inputs: str = ""
    how: str = ""
    message: str = ""

    @property
    def ok(self) -> bool:
        """Say whether the step is known to keep the meaning."""
        return self.status == "same"

    def __str__(self) -> str:
        who = f"{place(self.phase)}: '{self.pass_text}' on {self.function!r}: {self.status}"
        if self.error.at is not None:
            at = ", ".join(map(str, self.error.at))
            who += f": {self.buffer}[{at}] is {self.error.found}, expected {self.error.expected}"
        return who + (f": {self.message}" if self.message else "")


class Options(msgspec.Struct, frozen=True):
    """How to check. ``native`` None means: only where the interpreter would take too long, which
    is more than ``max_steps``. ``guarded`` runs native code amid pages that nobody may touch, in a
    process of its own, also where the interpreter vouches for the program: it finds what code
    generation does wrong."""

    inputs: Mapping[str, ArrayLike] = {}
    dims: Mapping[str, int] = {}
    seed: int = 0
    samples: int = 4
    native: bool | None = None
    guarded: bool = False
    kernels: bool = False  # Run a graph with its kernels too.
    max_steps: int = MAX_STEPS
    seconds: float = MAX_SECONDS  # For each call of native code that nobody vouches for.


def check(
    steps: Iterable[Step],
    inputs: Mapping[str, ArrayLike] | None = None,
    *,
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
    samples: int = 4,
    native: bool | None = None,
) -> tuple[Verdict, ...]:
    """Give a verdict on every step of a trace, or of steps as they come from a pipeline.

    ``inputs`` are arrays by the names of parameters; without them there are ``samples`` sets, made
    from ``seed``. ``dims`` fixes symbolic dimensions by name. ``native`` runs every stage as native
    code too; False never does.
    """
    options = Options(inputs or {}, dims or {}, seed, samples, native)
    return tuple(verdicts(steps, options))


def is_trusted(found: Iterable[Verdict]) -> bool:
    """Say whether no step is wrong and, where a loop program was changed, at least one was run."""
    known = list(found)
    tried = [each for each in known if each.changed]
    return all(each.status in ("same", "unchecked") for each in known) and (
        not tried or any(each.ok for each in tried)
    )


def verdicts(
    steps: Iterable[Step], options: Options, worker: NativeWorker | None = None
) -> Iterator[Verdict]:
    """Check steps one after the other; a pass that fails is a verdict too, and the last.

    ``worker`` runs native code that nobody vouches for, and stays open; without one there is one
    for these steps.
    """
    own = NativeWorker(options.seconds)
    subjects = _Subjects(worker if worker is not None else own)
    count = 0
    try:
        for step in steps:
            count = step.index + 1
            yield from _of_step(step, subjects, options)
    except PassFailed as error:
        yield Verdict(
            count,
            error.function,
            error.phase,
            error.name,
            error.pass_text,
            "failed",
            message=f"{error.what}\n  {error.hint}" if error.hint else error.what,
        )
    finally:
        own.close()
    _refuse_unknown(options, [subject.func for subject in subjects.values()])


def _refuse_unknown(options: Options, funcs: list[PrimFunc]) -> None:
    """Refuse a name that no function has; one of several functions has it if it was meant so."""
    known = {name for func in funcs for name in input_names(func)}
    for name in (*options.inputs, *options.dims):
        if funcs and name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise IRKitError(f"there is no parameter or dimension {name!r}; there are: {listed}")


def _of_step(step: Step, subjects: "_Subjects", options: Options) -> Iterator[Verdict]:
    blank = Verdict(
        step.index, step.function, step.phase, step.name, step.pass_text, "same", step.changed
    )
    if not step.changed:
        yield blank
        return
    pairs = list(_changed_functions(step.before, step.after))
    if not pairs:
        yield msgspec.structs.replace(blank, **_of_graph(step, options))
    for name, before, after in pairs:
        if name not in subjects:
            subjects[name] = Subject(before, options, subjects.worker)
            yield from subjects[name].native_alone(blank)
        yield subjects[name].verdict(blank, before, after)


def _of_graph(step: Step, options: Options) -> dict[str, Any]:
    if graph_of(step.before) is None or graph_of(step.after) is None:
        return {"status": "unchecked", "message": "there is no function that could be run"}
    if not options.kernels and isinstance(step.after, IRModule) and len(step.after) > 1:
        return {"status": "unchecked", "message": "its kernels are checked one by one"}
    try:
        subject = GraphSubject(step.before, options.inputs, options.dims, options.seed)
    except IRKitError as error:
        return {"status": "unchecked", "message": str(error)}
    return subject.compared(step.before, step.after)


def _changed_functions(before: IR, after: IR) -> Iterator[tuple[str, PrimFunc, PrimFunc]]:
    if isinstance(before, PrimFunc) and isinstance(after, PrimFunc):
        yield before.name, before, after
    elif isinstance(before, IRModule) and isinstance(after, IRModule):
        for name, func in before.functions.items():
            other = after.functions.get(name)
            if isinstance(func, PrimFunc) and isinstance(other, PrimFunc) and func is not other:
                yield name, func, other


class Subject:
    """One function through all its steps: its inputs, and what was computed from them."""

    def __init__(
        self, func: PrimFunc, options: Options, worker: NativeWorker | None = None
    ) -> None:
        self.func = func
        self.options = options
        self.worker = NativeWorker(options.seconds) if worker is None else worker
        self.unusable = ""
        self.runs: list[Runs] = []
        self.inputs: list[InputSet] = []
        self._precision: dict[tuple[int, int], Precision] = {}
        try:
            self._prepare()
        except StepLimit:
            self._prepare_native()
        except TooLarge as error:
            self.unusable = str(error)

    def _prepare(self) -> None:
        """Find inputs on which the function as it is given runs."""
        engine = Interpreter(self.options.max_steps)
        self.inputs = self._usable(engine)
        engine.max_steps *= PATIENCE  # What a pass makes may take longer, but not without end.
        self.runs = [Runs(engine, self.inputs)]
        if self.options.native:
            native = Native(trusted=not self.options.guarded, worker=self.worker)
            self.runs.append(Runs(native, self.inputs))

    def _prepare_native(self) -> None:
        if self.options.native is False:
            self.unusable = "it is too long to interpret, and native code is not allowed"
            return
        engine = Native(trusted=False, worker=self.worker)
        self.inputs = self._usable(engine)
        self.runs = [Runs(engine, self.inputs)]

    def _usable(self, engine: Interpreter | Native) -> list[InputSet]:
        options, error = self.options, ""
        for integers in INTEGERS:
            made = input_sets(
                self.func,
                options.inputs,
                dims=options.dims,
                seed=options.seed,
                samples=options.samples,
                integers=integers,
            )
            outcomes = [engine.run(self.func, each.copied()) for each in made]
            error = error or next((each.error for each in outcomes if each.error), "")
            kept = [each for each, had in zip(made, outcomes, strict=True) if not had.error]
            if kept:
                return kept
        self.unusable = f"the function as it is given fails: {error}"
        return []

    def verdict(self, blank: Verdict, before: PrimFunc, after: PrimFunc) -> Verdict:
        """Compare a function before and after a step, with each engine on each set of inputs."""
        blank = msgspec.structs.replace(blank, function=self.func.name)
        if self.unusable:
            return msgspec.structs.replace(blank, status="unchecked", message=self.unusable)
        how = " and ".join(runs.engine.how for runs in self.runs)
        worst = msgspec.structs.replace(blank, how=how)
        for runs in self.runs:
            for number, inputs in enumerate(self.inputs):
                found = self._compared(runs, number, before, after)
                told = msgspec.structs.replace(worst, **found, inputs=inputs.name)
                if not told.ok:
                    return msgspec.structs.replace(told, how=runs.engine.how)
                if told.error.abs > worst.error.abs:
                    worst = told
        return worst

    def _compared(
        self, runs: Runs, number: int, before: PrimFunc, after: PrimFunc
    ) -> dict[str, object]:
        try:
            expected = runs.outcome(before, number)
        except StepLimit as limit:
            expected = Outcome(error=str(limit))
        try:
            found = runs.outcome(after, number)
        except StepLimit as limit:
            found = Outcome(error=f"it does not end: {limit.message}")
        if expected.error:
            return {"status": "unchecked", "message": f"what it was given fails: {expected.error}"}
        if found.error:
            return {"status": "failed", "message": found.error}
        return self._difference(runs, number, expected, found)

    def _difference(
        self, runs: Runs, number: int, expected: Outcome, found: Outcome
    ) -> dict[str, object]:
        pairs = list(zip(expected.arrays, found.arrays, strict=True))
        if all(identical(a, b) for a, b in pairs):
            return {"status": "same"}
        names = [param.name for param in self.func.params if isinstance(param, Buffer)]
        limits = self._limits(runs, number)
        special = self.inputs[number].rung == "special values"
        signs = special and isinstance(runs.engine, Interpreter)
        worst = Difference()
        for (a, b), limit, name in zip(pairs, limits, names, strict=True):
            apart = compare(a, b, limit, zeros_have_signs=signs)
            if apart.at is not None:
                return {"status": "differs", "error": apart, "buffer": name}
            worst = max(worst, apart, key=lambda each: each.abs)
        return {"status": "same", "error": worst}

    def _limits(self, runs: Runs, number: int) -> list[Array | None]:
        key = id(runs), number
        if key not in self._precision:

            def run(func: PrimFunc, args: list[object]) -> list[Array] | None:
                try:
                    outcome = runs.engine.run(func, args)
                except StepLimit:
                    return None
                return None if outcome.error else list(outcome.arrays)

            self._precision[key] = Precision(self.func, self.inputs[number], run)
        own = runs.outcome(self.func, number)
        return self._precision[key].allowed(list(own.arrays))

    def native_alone(self, blank: Verdict) -> Iterator[Verdict]:
        """Compare native code with the interpreter on the function as it is given; passes are
        compared like with like."""
        if len(self.runs) < 2 or self.unusable:
            return
        told = msgspec.structs.replace(
            blank, function=self.func.name, name="code", pass_text="native code", status="same"
        )
        interpreted, native = self.runs
        for number, inputs in enumerate(self.inputs):
            expected = interpreted.outcome(self.func, number)
            found = native.outcome(self.func, number)
            result: dict[str, object] = {"status": "failed", "message": found.error}
            if not found.error:
                result = self._difference(native, number, expected, found)
            made = msgspec.structs.replace(
                told, **result, inputs=inputs.name, how=native.engine.how
            )
            if not made.ok:
                yield made
                return
        yield told


class _Subjects(dict[str, Subject]):
    """The functions that steps were about so far, and the one process that runs what nobody
    vouches for: to start it takes longer than most checks."""

    def __init__(self, worker: NativeWorker) -> None:
        super().__init__()
        self.worker = worker
