"""Check of a trace: does the program still mean the same after every step?

Each function is run before and after each step that changed it, on inputs that are given or made up
for it. ``docs/semantics.md`` and ``precision`` define what may differ, and by how much.
"""

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
    """Return a verdict on every step of a trace, or of steps as a pipeline yields them.

    ``inputs`` are arrays by the names of parameters; without them, ``samples`` sets are made from
    ``seed``. ``dims`` fixes symbolic dimensions by name. ``native`` True runs every stage as native
    code too, False runs none, None only what takes too long to interpret.
    """
    options = CheckOptions(inputs or {}, dims or {}, seed, samples, native)
    return tuple(verdicts(steps, options))


def verdicts(
    steps: Iterable[Step], options: CheckOptions, worker: NativeWorker | None = None
) -> Iterator[Verdict]:
    """Check steps one after the other; a pass that fails yields the last verdict.

    ``worker`` runs untrusted native code and stays open; without one, a worker is started for these
    steps.
    """
    own = NativeWorker(options.seconds)
    subjects = _Subjects(worker if worker is not None else own)
    count = 0
    try:
        for step in steps:
            count = step.index + 1
            yield from _check_step(step, subjects, options)
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
    _check_names(options, [subject.func for subject in subjects.values()])


def _check_names(options: CheckOptions, funcs: list[PrimFunc]) -> None:
    """Raise IRKitError for a name that no function has."""
    known = {name for func in funcs for name in input_names(func)}
    for name in (*options.inputs, *options.dims):
        if funcs and name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise IRKitError(f"there is no parameter or dimension {name!r}; there are: {listed}")


def _check_step(step: Step, subjects: "_Subjects", options: CheckOptions) -> Iterator[Verdict]:
    blank = Verdict(
        step.index, step.function, step.phase, step.name, step.pass_text, "same", step.changed
    )
    if not step.changed:
        yield blank
        return
    pairs = list(_changed_functions(step.before, step.after))
    if not pairs:
        yield msgspec.structs.replace(blank, **_check_graph(step, options))
    for name, before, after in pairs:
        if name not in subjects:
            subjects[name] = Subject(before, options, subjects.worker)
            yield from subjects[name].check_native(blank)
        rounds = step.changes_rounding
        yield subjects[name].verdict(blank, before, after, changes_rounding=rounds)


def _check_graph(step: Step, options: CheckOptions) -> dict[str, Any]:
    if graph_of(step.before) is None or graph_of(step.after) is None:
        return {"status": "not known", "message": "there is no function to run"}
    if not options.kernels and isinstance(step.after, IRModule) and len(step.after) > 1:
        return {"status": "not known", "message": "its kernels are checked one by one"}
    try:
        subject = GraphSubject(step.before, options.inputs, options.dims, options.seed)
    except IRKitError as error:
        return {"status": "not known", "message": str(error)}
    return subject.compare_step(step.before, step.after, changes_rounding=step.changes_rounding)


def _changed_functions(before: IR, after: IR) -> Iterator[tuple[str, PrimFunc, PrimFunc]]:
    if isinstance(before, PrimFunc) and isinstance(after, PrimFunc):
        yield before.name, before, after
    elif isinstance(before, IRModule) and isinstance(after, IRModule):
        for name, func in before.functions.items():
            other = after.functions.get(name)
            if isinstance(func, PrimFunc) and isinstance(other, PrimFunc) and func is not other:
                yield name, func, other


class _Subjects(dict[str, Subject]):
    """The functions seen so far, and the child process that runs their untrusted native code.

    They share one process: starting it takes longer than most checks.
    """

    def __init__(self, worker: NativeWorker) -> None:
        super().__init__()
        self.worker = worker
