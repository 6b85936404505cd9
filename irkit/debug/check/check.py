"""(keep the docstring of check.py)"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from numpy.typing import ArrayLike

from irkit.core import IRKitError, IRModule
from irkit.debug.check.graph_subject import GraphSubject, graph_of
from irkit.debug.check.options import CheckOptions
from irkit.debug.check.subject import Subject
from irkit.debug.check.verdict import Verdict
from irkit.debug.execution.inputs import input_names
from irkit.debug.execution.native_worker import NativeWorker
from irkit.ir import PrimFunc
from irkit.transform import IR, PassFailed, Step


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
    options = CheckOptions(inputs or {}, dims or {}, seed, samples, native)
    return tuple(verdicts(steps, options))


def verdicts(
    steps: Iterable[Step], options: CheckOptions, worker: NativeWorker | None = None
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


def _refuse_unknown(options: CheckOptions, funcs: list[PrimFunc]) -> None:
    """Refuse a name that no function has; one of several functions has it if it was meant so."""
    known = {name for func in funcs for name in input_names(func)}
    for name in (*options.inputs, *options.dims):
        if funcs and name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise IRKitError(f"there is no parameter or dimension {name!r}; there are: {listed}")


def _of_step(step: Step, subjects: "_Subjects", options: CheckOptions) -> Iterator[Verdict]:
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


def _of_graph(step: Step, options: CheckOptions) -> dict[str, Any]:
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


class _Subjects(dict[str, Subject]):
    """The functions that steps were about so far, and the one process that runs what nobody
    vouches for: to start it takes longer than most checks."""

    def __init__(self, worker: NativeWorker) -> None:
        super().__init__()
        self.worker = worker
