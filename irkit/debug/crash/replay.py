"""Replay of a failure from its folder: does it still fail the same way?"""

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from irkit.core import FormatError, IRKitError, IRModule, Level
from irkit.debug.crash.folder import (
    INPUTS_NAME,
    TRACE_NAME,
    Crash,
    CrashPass,
    read_crash,
    symptom,
)
from irkit.debug.isolation.kernels import KernelHalted, run_kernel
from irkit.debug.isolation.passes import Isolation
from irkit.debug.isolation.trace_step import LEVELS
from irkit.ir import PrimFunc, numpy_dtype
from irkit.transform import (
    IR,
    AnyPass,
    Apply,
    Fact,
    PassFailed,
    Phase,
    Pipeline,
    Trace,
    apply_here,
    load_pass,
    parse_spec,
    run_steps,
)

ReplayOutcome = Literal["same", "gone", "different"]


class ReplayResult(msgspec.Struct, frozen=True, eq=False):
    """Result of running a failure again; ``error`` is the exception raised, if any."""

    outcome: ReplayOutcome
    expected: tuple[str, ...]
    found: tuple[str, ...] = ()
    error: PassFailed | KernelHalted | None = None


def replay(
    folder: str | os.PathLike[str],
    *,
    rest: bool = False,
    isolated: bool = True,
    seconds: float | None = None,
    memory: int | None = None,
) -> ReplayResult:
    """Run the pass or kernel of a crash folder again; with ``rest`` also the passes after it.

    It runs in a child process unless ``isolated`` is false, under its original limits or those
    given (seconds, bytes). The folder is trusted: the modules of its passes are imported. Raises:
    FormatError if the folder is damaged; IRKitError if it cannot be replayed here.
    """
    place = Path(folder)
    crash = read_crash(place)
    if crash.not_replayable:
        raise IRKitError(f"{place} cannot be replayed: {crash.not_replayable}")
    limits = (seconds or crash.limits.seconds, memory or crash.limits.memory)
    before = _read_before(place)
    if crash.subject == "kernel":
        return _replay_kernel(place, crash, before, *limits)
    if not isolated:
        return _replay_passes(crash, before, rest, apply_here)
    with Isolation(seconds=limits[0], memory=limits[1], strict=True) as isolation:
        return _replay_passes(crash, before, rest, isolation.apply)


def crash_pipeline(folder: str | os.PathLike[str]) -> tuple[IR, Pipeline]:
    """Read a crash folder as the input of the failed pass and a pipeline of that pass.

    The folder is trusted: the module of its pass is imported. Raises: FormatError if the folder is
    damaged; IRKitError if it is not about a pass that can be run here.
    """
    place = Path(folder)
    crash = read_crash(place)
    if crash.not_replayable or crash.subject != "pass":
        raise IRKitError(f"{place}: {crash.not_replayable or 'it is not about a pass'}")
    level, row = _prepare(crash), crash.passes[crash.at]
    p = _load(row)
    phase = Phase(row.phase, row.phase_name, (p,))
    return _read_before(place), Pipeline(level, (phase,), facts=_facts(crash, [p]))


def _replay_passes(crash: Crash, before: IR, rest: bool, apply: Apply) -> ReplayResult:
    level = _prepare(crash)
    rows = crash.passes[crash.at :] if rest else crash.passes[crash.at : crash.at + 1]
    loaded = [(row.phase, row.phase_name, _load(row)) for row in rows]
    # Passes after a pass on one function can be passes on its module.
    passes = [each for each in loaded if each[2].on_modules is isinstance(before, IRModule)]
    facts = _facts(crash, [p for _, _, p in passes])
    try:
        for _ in run_steps(
            level,
            passes,
            facts,
            before,
            verify=crash.verify,
            keep=False,
            disabled={0: frozenset(crash.disabled)},
            start=0,
            apply=apply,
        ):
            pass
    except PassFailed as error:
        messages = [problem.message for problem in error.problems]
        return _compare(crash, symptom(error.kind, error.what, messages), error)
    return ReplayResult("gone", crash.symptom)


def _prepare(crash: Crash) -> Level:
    """Return the level, and make the modules of the passes importable."""
    level = next((each for each in LEVELS if each.name == crash.level), None)
    if level is None:
        raise FormatError(
            f"the crash folder is about IR of level {crash.level!r}, which is unknown here"
        )
    for path in crash.search:
        if path not in sys.path:
            sys.path.append(path)
    if "" not in sys.path:
        sys.path.insert(0, "")
    return level


def _replay_kernel(
    place: Path, crash: Crash, func: IR, seconds: float | None, memory: int | None
) -> ReplayResult:
    if not isinstance(func, PrimFunc) or crash.target is None:
        raise FormatError(f"{place} is damaged: it describes a kernel but contains none")
    try:
        args = _read_inputs(place, func)
        run_kernel(func, args, target=crash.target, seconds=seconds, memory=memory)
    except KernelHalted as error:
        return _compare(crash, symptom(error.kind, error.what, []), error)
    return ReplayResult("gone", crash.symptom)


def _compare(
    crash: Crash, found: tuple[str, ...], error: PassFailed | KernelHalted
) -> ReplayResult:
    outcome: ReplayOutcome = "same" if found == crash.symptom else "different"
    return ReplayResult(outcome, crash.symptom, found, error)


def _read_before(place: Path) -> IR:
    path = place / TRACE_NAME
    if not path.is_file():
        raise FormatError(f"{place} cannot be replayed: {path.name} is missing")
    steps = Trace.load(path, LEVELS)
    if len(steps) != 1:
        raise FormatError(f"{path} is damaged: it has {len(steps)} steps, expected 1")
    return steps[0].before


def _read_inputs(place: Path, func: PrimFunc) -> Sequence[Any]:
    path = place / INPUTS_NAME
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = [np.array(file[f"arg{number}"]) for number in range(len(func.params))]
            # NumPy writes types it does not know, such as bf16, as bytes.
            arrays = [
                array.view(numpy_dtype(param.dtype)) if array.dtype.kind == "V" else array
                for array, param in zip(arrays, func.params, strict=True)
            ]
    except Exception as error:  # NumPy and zipfile raise many classes for damage.
        raise FormatError(f"{path} is damaged: {type(error).__name__}: {error}") from None
    return [array if array.ndim else array.item() for array in arrays]


def _load(row: CrashPass) -> AnyPass:
    spec = parse_spec(row.spec)
    return load_pass(spec.name, spec.options)


def _facts(crash: Crash, passes: list[AnyPass]) -> tuple[Fact, ...]:
    """Import the facts that held by name, or find them among those that the passes declare."""
    declared = {fact.name: fact for p in passes for fact in (*p.needs, *p.gives, *p.breaks)}
    found: list[Fact] = []
    for row in crash.facts:
        fact = _imported_fact(row.path) or declared.get(row.name)
        if fact is None:
            raise IRKitError(
                f"cannot find fact {row.name!r}, which held before the pass",
                hint="Assign the fact to a name in its module.",
            )
        found.append(fact)
    return tuple(found)


def _imported_fact(path: str) -> Fact | None:
    module, _, name = path.partition(":")
    if not module:
        return None
    try:
        found: object = getattr(importlib.import_module(module), name, None)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # Importing runs code of the module.
        reason = f"{type(error).__name__}: {error}"
        raise IRKitError(f"cannot import {module!r}: {reason}") from error
    return found if isinstance(found, Fact) else None
