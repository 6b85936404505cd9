"""Golden files: the expected IR after each phase of a pipeline."""

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path

from irkit.core import Function, IRModule
from irkit.debug.report.step_printer import file_name
from irkit.transform import Pipeline, Step


def phase_texts(
    start: IRModule, steps: Iterable[Step], pipeline: Pipeline, only: tuple[str, ...] = ()
) -> dict[str, str]:
    """Print each function, or those in ``only``, after each phase; the keys are file names.

    ``start`` is the input of the pipeline, ``steps`` are the steps it took.
    """
    level = pipeline.level
    states: dict[str, dict[int, Function | None]] = {}
    for name, func in start.functions.items():
        if isinstance(func, level.functions):
            states[name] = {-1: func}
    for step in steps:
        if step.level is not level:
            continue
        if isinstance(step.after, Function):
            states.setdefault(step.function, {})[step.phase] = step.after
            continue
        for name, func in step.after.functions.items():
            if isinstance(func, level.functions):
                states.setdefault(name, {})[step.phase] = func
        for name in states.keys() - step.after.functions.keys():
            states[name][step.phase] = None  # The pass dropped it.
    found: dict[str, str] = {}
    for name, state in states.items():
        if only and name not in only:
            continue
        current = state.get(-1)
        for phase in pipeline.phases:
            current = state.get(phase.number, current)
            if current is not None:
                file = f"{level.name}{phase.number}_{phase.name}.irs"
                found[f"{file_name(name)}/{file}"] = level.script(current)
    return found


def write_golden(folder: Path, texts: Mapping[str, str]) -> int:
    """Update the files of a folder to ``texts`` and return how many differed.

    Other files of the same functions are removed.
    """
    differing = 0
    for name, text in texts.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != text.encode():
            differing += 1
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
    for name in _stale(folder, texts):
        differing += 1
        (folder / name).unlink()
    return differing


def golden_diff(folder: Path, texts: Mapping[str, str]) -> str:
    """Return a unified diff from the files of a folder to ``texts``; empty if they are equal."""
    parts: list[str] = []
    for name, text in texts.items():
        path = folder / name
        if not path.is_file():
            parts.append(f"{path} is missing\n")
            continue
        expected = path.read_bytes().decode(errors="replace")
        lines = difflib.unified_diff(
            expected.splitlines(keepends=True), text.splitlines(keepends=True), str(path), "found"
        )
        parts.extend(line if line.endswith("\n") else line + "\n" for line in lines)
    parts += [f"{folder / name} is left over: no such phase\n" for name in _stale(folder, texts)]
    return "".join(parts)


def _stale(folder: Path, texts: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    for function in dict.fromkeys(name.partition("/")[0] for name in texts):
        files = sorted((folder / function).glob("*.irs"))
        found += [f"{function}/{file.name}" for file in files]
    return [name for name in found if name not in texts]
