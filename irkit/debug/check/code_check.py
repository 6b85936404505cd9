"""Check of code generation: does the code that ships compute what the interpreter does?

A stage is compiled as :func:`irkit.build` compiles it, but exact: nothing is contracted, sums keep
their order, and there is one thread. A child runs it between protected pages: on Linux a fork of
this process, which has the inputs and the results already, elsewhere the worker.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from irkit.debug.check.code_trial import (
    COMPILING,
    CodeAnswer,
    CodeTrial,
    KnownCall,
    run_trial,
    run_trial_of_text,
)
from irkit.debug.check.subject import Subject
from irkit.debug.check.verdict import Verdict
from irkit.debug.execution.executors import InterpreterExecutor
from irkit.debug.execution.native_worker import NativeWorker
from irkit.debug.isolation.with_strides import WithStrides
from irkit.ir import PrimFunc, StepLimit
from irkit.processes import ChildDied, Limits, can_interrupt, run_in_fork

CODE = "code"
"""Name of a row about native code, where the others have the name of a pass."""
HOW = "native code"
SHIPPED = "compiled at level 3, without contraction"


def code_not_tried(blank: Verdict, func: PrimFunc, why: str) -> Verdict:
    """Return the row about native code that was not run; ``blank`` is that of the last step."""
    return replace(
        blank,
        function=func.name,
        name=CODE,
        pass_text=HOW,
        status="not known",
        changed=True,
        message=why,
        how=HOW,
        in_code=True,
    )


def code_verdict(subject: Subject, func: PrimFunc, blank: Verdict) -> Verdict:
    """Return whether the native code of a stage computes what the interpreter makes of the same
    stage or, where that takes too long, what code does that few of LLVM's passes made."""
    blank = code_not_tried(blank, func, "")
    if subject.unusable:
        return replace(blank, message=subject.unusable)
    if subject.races is not None and subject.races.has_race(func):
        return replace(blank, message="its iterations or threads race, so it has no one result")
    calls = _known_calls(subject, func)
    if not calls:
        return replace(blank, message="the stage itself does not run on any set of inputs")
    executor = subject.runs[0].executor
    interpreted = isinstance(executor, InterpreterExecutor)
    most = executor.max_steps if isinstance(executor, InterpreterExecutor) else 0
    trial = CodeTrial(func, calls, interpreted, most)
    answer = _answer(trial, subject.options.seconds, subject.worker)
    tried = f"{len(calls)} set{'s' if len(calls) != 1 else ''} of inputs, {SHIPPED}"
    if answer.status in ("same", "not known"):
        basis = "tested" if answer.status == "same" else "not known"
        return replace(
            blank, status=answer.status, message=answer.message, tried=tried, basis=basis
        )
    return replace(
        blank,
        status=answer.status,
        message=_blame(answer, interpreted),
        error=answer.error,
        buffer=answer.buffer,
        inputs=answer.inputs,
        tried=tried,
        basis="tested",
    )


def _blame(answer: CodeAnswer, interpreted: bool) -> str:
    reference = "the interpreter" if interpreted else "code of a lower level"
    about = "code generation (LLVM) is at fault, not a pass"
    if answer.status == "differs":
        more = f"; {answer.message}" if answer.message else ""
        return f"{about}: {reference} computes what is expected{more}"
    return f"{about}: {reference} runs this stage, but {answer.message}"


def _known_calls(subject: Subject, func: PrimFunc) -> tuple[KnownCall, ...]:
    """Return the sets of inputs on which a stage runs, with its results."""
    (runs,) = subject.runs
    calls: list[KnownCall] = []
    for number, inputs in enumerate(subject.inputs):
        try:
            outcome = runs.outcome(func, number)
        except StepLimit:
            continue
        if not outcome.error:
            calls.append(KnownCall(inputs, outcome.arrays))
    return tuple(calls)


def _answer(trial: CodeTrial, seconds: float, worker: NativeWorker) -> CodeAnswer:
    """Run a trial in a child; where that crashes, also with free memory around each array, which
    shows whether numbers differ, too."""
    answer = _in_child(trial, seconds, worker)
    if answer.status in ("failed", "out of bounds"):
        relaxed = _in_child(replace(trial, guarded=False), seconds, worker)
        if relaxed.status == "differs":
            return replace(relaxed, message=f"between protected pages, {answer.message}")
    return answer


def _in_child(trial: CodeTrial, seconds: float, worker: NativeWorker) -> CodeAnswer:
    try:
        if can_interrupt():  # Other threads of this process can hold locks that a fork waits for.
            data = run_in_fork(lambda: msgspec.msgpack.encode(run_trial(trial)), Limits(seconds))
            return msgspec.msgpack.decode(data, type=CodeAnswer)
        return worker.call(run_trial_of_text, *_as_text(trial))
    except ChildDied as error:
        return _of_death(error)


def _of_death(error: ChildDied) -> CodeAnswer:
    compiling = error.report == COMPILING
    if error.kind == "memory" or (compiling and error.kind == "timeout"):
        return CodeAnswer("not known", f"compiling and running it {error.message}")
    who = "LLVM" if compiling else "the native code"
    return CodeAnswer("failed", f"{who} {error.message}", inputs="" if compiling else error.report)


def _as_text(trial: CodeTrial) -> Sequence[object]:
    calls = [
        (known.inputs.name, [WithStrides.of(arg) for arg in known.inputs.args], known.arrays)
        for known in trial.calls
    ]
    return trial.func.script(), calls, trial.interpreted, trial.max_steps, trial.guarded
