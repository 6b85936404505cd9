"""Write a folder about a failure: what happened, on what, and what is needed to see it again."""

import hashlib
import importlib
import os
import platform
import secrets
import shlex
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from irkit.core import Function, IRKitError, IRModule, Level
from irkit.debug.carrying import carrying_step
from irkit.debug.child import RemoteTraceback
from irkit.debug.crash_file import (
    AFTER_NAME,
    BEFORE_NAME,
    DIFF_NAME,
    INPUTS_NAME,
    JSON_NAME,
    REPORT_NAME,
    TRACE_NAME,
    TRACEBACK_NAME,
    Crash,
    FactRow,
    Limit,
    PassRow,
    ProblemRow,
    read_crash,
    symptom,
)
from irkit.debug.explain import explain, failed_diff, printed, problem_lines
from irkit.debug.isolate import why_not_isolated
from irkit.debug.isolated_kernel import KernelHalted
from irkit.debug.isolated_pass import LEVELS
from irkit.debug.where import traceback_of
from irkit.ir import LOOP_LEVEL
from irkit.transform import (
    IR,
    Attempt,
    Fact,
    PassFailed,
    PassHalted,
    Trace,
    render_spec,
)

PREFIX = "irkit-crash-"
MOST_TEXT = 1 << 23  # bytes of a file of text
MOST_DATA = 1 << 27  # bytes of the trace, and of the inputs
_OTHERS = ("numpy", "llvmlite", "msgspec", "onnx", "ml_dtypes")
_COPIES = 100


def write_crash(error: PassFailed | KernelHalted, folder: str | os.PathLike[str] = ".") -> Path:
    """Write a folder ``irkit-crash-HASH`` in ``folder``, whole or not at all, and return its path.

    The same failure has the same hash, and is written once. Raises: OSError if nothing can be
    written there; IRKitError if the failure was in another process and its IR is not here.
    """
    made = _of_kernel(error) if isinstance(error, KernelHalted) else _of_pass(error)
    parent = Path(folder)
    parent.mkdir(parents=True, exist_ok=True)
    partial = parent / f".{PREFIX}{secrets.token_hex(8)}.partial"
    partial.mkdir()
    try:
        why_not = made.write_data(partial) or made.crash.not_replayable
        return _placed(partial, parent, made, why_not)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


class _Material(msgspec.Struct):
    """All that goes into a folder, not yet written."""

    crash: Crash
    headline: str
    explained: str
    texts: dict[str, str]
    write_data: Callable[[Path], str]  # Writes what replaying needs, or says why it cannot.


def _placed(partial: Path, parent: Path, made: _Material, why_not: str) -> Path:
    for copy in range(1, _COPIES):
        name = PREFIX + made.crash.hash + (f"-{copy}" if copy > 1 else "")
        final = parent / name
        if final.exists():
            if _is_same(final, made.crash):
                return final
            continue
        command = "" if why_not else f"irkit replay {shlex.quote(str(final))}"
        crash = msgspec.structs.replace(made.crash, not_replayable=why_not, command=command)
        text = msgspec.json.format(msgspec.json.encode(crash), indent=2)
        (partial / JSON_NAME).write_bytes(text)
        how = command or f"It cannot be replayed: {why_not}"
        report = f"{made.headline}\n\n{how}\n\n{made.explained}"
        for file, content in (*made.texts.items(), (REPORT_NAME, report)):
            if content:
                (partial / file).write_bytes(_bounded(content))
        try:
            partial.rename(final)
        except OSError:
            if final.exists():  # Another process was faster.
                continue
            raise
        return final
    raise IRKitError(f"{parent} has {_COPIES} crash folders of one name; remove some")


def _is_same(folder: Path, crash: Crash) -> bool:
    try:
        return read_crash(folder).hash == crash.hash
    except IRKitError:
        return False


def _of_pass(error: PassFailed) -> _Material:
    attempt = error.attempt
    if attempt is None:
        raise IRKitError(
            "the failed pass ran in another process, and its IR stayed there",
            hint="Write the crash folder where PassFailed is raised.",
        )
    before = _text_of(attempt.level, error.before)
    rows = [_pass_row(number, name, p) for number, name, p in attempt.passes]
    row = rows[attempt.at]
    messages = [problem.message for problem in error.problems]
    lines = _lines(attempt.level, error)
    halt = error.__cause__ if isinstance(error.__cause__, PassHalted) else None
    limits = Limit() if halt is None else Limit(halt.seconds, halt.memory)
    crash = Crash(
        hash=_hash((*symptom(error.kind, error.what, messages), row.spec, before)),
        subject="pass",
        kind=error.kind,
        message=error.what,
        level=attempt.level.name,
        function=attempt.function,
        limits=limits,
        problems=[ProblemRow(*each) for each in zip(messages, lines, strict=True)][:1000],
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
    return _Material(crash, headline, explained, texts, write_data)


def _of_kernel(error: KernelHalted) -> _Material:
    before = _text_of(LOOP_LEVEL, error.func)
    crash = Crash(
        hash=_hash((*symptom(error.kind, error.what, []), before, str(error.target))),
        subject="kernel",
        kind=error.kind,
        message=error.what,
        level=LOOP_LEVEL.name,
        function=error.func.name,
        limits=Limit(error.limits.seconds, error.limits.memory),
        target=error.target,
        versions=versions(),
    )
    texts = {BEFORE_NAME: before, TRACEBACK_NAME: error.traceback}

    def write_data(place: Path) -> str:
        arrays = [np.asarray(arg) for arg in error.args_given]
        if sum(array.nbytes for array in arrays) > MOST_DATA:
            return f"its inputs have more than {MOST_DATA >> 20} MiB"
        named: dict[str, Any] = {f"arg{number}": array for number, array in enumerate(arrays)}
        np.savez(place / INPUTS_NAME, **named)
        return _write_trace(place, LOOP_LEVEL, error.func)

    headline = f"{error.message}\n\n  target: {error.target}"
    return _Material(crash, headline, error.traceback, texts, write_data)


def failure_traceback(error: PassFailed) -> str:
    """Give the traceback of what happened inside the pass, wherever it ran."""
    cause = error.__cause__
    if isinstance(cause, PassHalted):
        return cause.traceback
    if cause is None:
        return ""
    if isinstance(cause.__cause__, RemoteTraceback):
        return str(cause.__cause__).lstrip()
    return traceback_of(cause)


def _write_trace(place: Path, level: Level, ir: IR) -> str:
    known = next((each for each in LEVELS if each.name == level.name), None)
    if known is None:
        return f"IR of level {level.name!r} has no form in a file"
    path = place / TRACE_NAME
    try:
        Trace((carrying_step(known, ir),)).save(path)
    except IRKitError as error:
        return error.message
    if path.stat().st_size > MOST_DATA:
        path.unlink()
        return f"its IR, with the constants, takes more than {MOST_DATA >> 20} MiB"
    return ""


def _text_of(level: Level, ir: IR) -> str:
    try:
        return printed(level, ir)
    except Exception as error:  # What fails to print is a finding too, and no reason to stop.
        return f"# cannot be printed: {type(error).__name__}: {error}\n"


def _lines(level: Level, error: PassFailed) -> list[int]:
    after = error.after
    try:
        assert isinstance(after, (Function, IRModule))
        return [line for line, _ in problem_lines(level, after, error.problems)]
    except Exception:  # As above.
        return [0] * len(error.problems)


def _pass_row(phase: int, phase_name: str, p: Any) -> PassRow:
    return PassRow(phase, phase_name, str(p), render_spec(p.path, p.options))


def _pipeline_text(rows: list[PassRow]) -> str:
    phases: dict[int, list[str]] = {}
    for row in rows:
        phases.setdefault(row.phase, []).append(row.text)
    return ";".join(f"{phase}:{','.join(texts)}" for phase, texts in phases.items())


def _fact_row(fact: Fact) -> FactRow:
    """Find the name under which a module holds a fact."""
    module = getattr(fact.predicate, "__module__", "")
    with suppress(ImportError, ValueError):
        for name, value in vars(importlib.import_module(module)).items():
            if value is fact:
                return FactRow(fact.name, f"{module}:{name}")
    return FactRow(fact.name)


def _search(attempt: Attempt) -> list[str]:
    """List where the modules of the passes were imported from, beside the usual places."""
    found: dict[str, None] = {}
    for _, _, p in attempt.passes:
        module = sys.modules.get(p.function.__module__)
        file = getattr(module, "__file__", None)
        if module is not None and file is not None and not module.__name__.startswith("irkit."):
            parts = module.__name__.count(".") + (Path(file).stem == "__init__")
            found[str(Path(os.path.abspath(file)).parents[parts])] = None
    return list(found)


def versions() -> dict[str, str]:
    """List the versions of irkit, of what it stands on, and of the machine."""
    # By its module: the face of irkit stands above this folder, and may not be imported here.
    own = str(getattr(sys.modules["irkit"], "__version__", ""))
    found = {"irkit": own, "python": platform.python_version()}
    for name in _OTHERS:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    found["platform"] = platform.platform()
    found["machine"] = platform.machine()
    return found


def _hash(parts: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "backslashreplace")
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()[:12]


def _bounded(text: str) -> bytes:
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= MOST_TEXT:
        return data
    return data[:MOST_TEXT] + f"\n# cut: {len(data)} bytes in all\n".encode()
