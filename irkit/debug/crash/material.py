"""What is collected about a failed pass or kernel before the folder is written."""

import hashlib
import importlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from irkit.core import Function, IRKitError, IRModule, Level
from irkit.debug.crash.explanation import explain, failed_diff, problem_lines
from irkit.debug.crash.folder import (
    AFTER_NAME,
    BEFORE_NAME,
    DIFF_NAME,
    INPUTS_NAME,
    TRACE_NAME,
    TRACEBACK_NAME,
    Crash,
    CrashFact,
    CrashLimits,
    CrashPass,
    CrashProblem,
    symptom,
)
from irkit.debug.crash.limits import MAX_DATA_BYTES
from irkit.debug.crash.versions import versions
from irkit.debug.isolation.kernels import KernelHalted
from irkit.debug.isolation.passes import why_not_isolated
from irkit.debug.isolation.trace_step import LEVELS, trace_step
from irkit.ir import LOOP_LEVEL
from irkit.processes import RemoteTraceback, traceback_inside
from irkit.transform import (
    IR,
    PASS_CALLER,
    Attempt,
    Fact,
    PassFailed,
    PassHalted,
    Trace,
    render_spec,
    script_of,
)


class CrashMaterial(msgspec.Struct):
    """Contents of a crash folder that is not yet written."""

    crash: Crash
    headline: str
    explained: str
    texts: dict[str, str]
    write_data: Callable[[Path], str]  # Returns why not, if it cannot.


def material_of_pass(error: PassFailed) -> CrashMaterial:
    """Collect the contents of the crash folder of a failed pass.

    Raises: IRKitError if the pass failed in another process and its IR is not here.
    """
    attempt = error.attempt
    if attempt is None:
        raise IRKitError(
            "the failed pass ran in another process, and its IR is not in this one",
            hint="Write the crash folder in the process that raises PassFailed.",
        )
    before = _text_of(attempt.level, error.before)
    rows = [_pass_row(number, name, p) for number, name, p in attempt.passes]
    row = rows[attempt.at]
    messages = [problem.message for problem in error.problems]
    lines = _lines(attempt.level, error)
    halt = error.__cause__ if isinstance(error.__cause__, PassHalted) else None
    limits = CrashLimits() if halt is None else CrashLimits(halt.seconds, halt.memory)
    crash = Crash(
        hash=_hash((*symptom(error.kind, error.what, messages), row.spec, before)),
        subject="pass",
        kind=error.kind,
        message=error.what,
        level=attempt.level.name,
        function=attempt.function,
        limits=limits,
        problems=[CrashProblem(*each) for each in zip(messages, lines, strict=True)][:1000],
        passes=rows,
        at=attempt.at,
        pipeline=_pipeline_text(rows),
        origin=str(attempt.p.origin),
        search=_search(attempt),
        facts=[_fact_row(fact) for fact in attempt.facts],
        verify=attempt.verify,
        disabled=sorted(attempt.disabled),
        versions=versions(),
        not_replayable=why_not_isolated(attempt),
    )
    after = error.after
    texts = {
        BEFORE_NAME: before,
        AFTER_NAME: _text_of(attempt.level, after)
        if isinstance(after, (Function, IRModule))
        else "",
        DIFF_NAME: failed_diff(error),
        TRACEBACK_NAME: failure_traceback(error),
    }
    headline = f"{error.message}\n\n  pass: {attempt.p.origin}\n  pipeline: {crash.pipeline}"

    def write_data(place: Path) -> str:
        return _write_trace(place, attempt.level, error.before)

    explained = explain(error, most=1000) + "\n" + texts[TRACEBACK_NAME]
    return CrashMaterial(crash, headline, explained, texts, write_data)


def material_of_kernel(error: KernelHalted) -> CrashMaterial:
    """Collect the contents of the crash folder of a failed kernel."""
    before = _text_of(LOOP_LEVEL, error.func)
    crash = Crash(
        hash=_hash((*symptom(error.kind, error.what, []), before, str(error.target))),
        subject="kernel",
        kind=error.kind,
        message=error.what,
        level=LOOP_LEVEL.name,
        function=error.func.name,
        limits=CrashLimits(error.limits.seconds, error.limits.memory),
        target=error.target,
        versions=versions(),
    )
    texts = {BEFORE_NAME: before, TRACEBACK_NAME: error.traceback}

    def write_data(place: Path) -> str:
        arrays = [np.asarray(arg) for arg in error.args_given]
        if sum(array.nbytes for array in arrays) > MAX_DATA_BYTES:
            return f"its inputs have more than {MAX_DATA_BYTES >> 20} MiB"
        named: dict[str, Any] = {f"arg{number}": array for number, array in enumerate(arrays)}
        np.savez(place / INPUTS_NAME, **named)
        return _write_trace(place, LOOP_LEVEL, error.func)

    headline = f"{error.message}\n\n  target: {error.target}"
    return CrashMaterial(crash, headline, error.traceback, texts, write_data)


def failure_traceback(error: PassFailed) -> str:
    """Return the traceback inside the pass, whichever process it ran in."""
    cause = error.__cause__
    if isinstance(cause, PassHalted):
        return cause.traceback
    if cause is None:
        return ""
    if isinstance(cause.__cause__, RemoteTraceback):
        return str(cause.__cause__).lstrip()
    return traceback_inside(cause, PASS_CALLER)


def _write_trace(place: Path, level: Level, ir: IR) -> str:
    known = next((each for each in LEVELS if each.name == level.name), None)
    if known is None:
        return f"IR of level {level.name!r} has no file format"
    path = place / TRACE_NAME
    try:
        Trace((trace_step(known, ir),)).save(path)
    except IRKitError as error:
        return error.message
    if path.stat().st_size > MAX_DATA_BYTES:
        path.unlink()
        return f"its IR, with the constants, takes more than {MAX_DATA_BYTES >> 20} MiB"
    return ""


def _text_of(level: Level, ir: IR) -> str:
    try:
        return script_of(level, ir)
    except Exception as error:  # IR that does not print is worth reporting too.
        return f"# cannot be printed: {type(error).__name__}: {error}\n"


def _lines(level: Level, error: PassFailed) -> list[int]:
    after = error.after
    try:
        assert isinstance(after, (Function, IRModule))
        return [line for line, _ in problem_lines(level, after, error.problems)]
    except Exception:  # As above.
        return [0] * len(error.problems)


def _pass_row(phase: int, phase_name: str, p: Any) -> CrashPass:
    return CrashPass(phase, phase_name, str(p), render_spec(p.path, p.options))


def _pipeline_text(rows: list[CrashPass]) -> str:
    phases: dict[int, list[str]] = {}
    for row in rows:
        phases.setdefault(row.phase, []).append(row.text)
    return ";".join(f"{phase}:{','.join(texts)}" for phase, texts in phases.items())


def _fact_row(fact: Fact) -> CrashFact:
    """Describe a fact by the name under which its module holds it."""
    module = getattr(fact.predicate, "__module__", "")
    with suppress(ImportError, ValueError):
        for name, value in vars(importlib.import_module(module)).items():
            if value is fact:
                return CrashFact(fact.name, f"{module}:{name}")
    return CrashFact(fact.name)


def _search(attempt: Attempt) -> list[str]:
    """Return the folders that the modules of the passes were imported from, without irkit's own."""
    found: dict[str, None] = {}
    for _, _, p in attempt.passes:
        module = sys.modules.get(p.function.__module__)
        file = getattr(module, "__file__", None)
        if module is not None and file is not None and not module.__name__.startswith("irkit."):
            parts = module.__name__.count(".") + (Path(file).stem == "__init__")
            found[str(Path(os.path.abspath(file)).parents[parts])] = None
    return list(found)


def _hash(parts: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "backslashreplace")
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()[:12]
