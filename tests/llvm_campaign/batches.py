"""Run batches of drawn programs on each processor, and compare them with the interpreter."""

import time
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRKitError, Target, as_target
from irkit.debug.check.difference import identical
from irkit.debug.targets import TargetCall, TargetExecutor, TargetOutcome
from irkit.debug.targets.compiled import CompiledExecutor
from irkit.debug.targets.runner_table import emulated_by
from irkit.ir import PrimFunc, interpret
from irkit.phases import DEFAULT, LEGALIZE, phases_of
from tests.llvm_campaign.programs import arguments, draw_program, read_program

BATCH = 50
TARGETS = {
    "x86-64": "llvm",
    "aarch64": "neoverse-v1",
    "riscv64": "rv64gcv",
}
"""The target of each processor: this machine, and one with vectors of each other architecture."""
AWAY = ("qemu", "did not end within")
"""What is said where the emulator fails, and not the code."""


class Find(msgspec.Struct, frozen=True):
    """A program that gave something else than the interpreter on a processor."""

    seed: int
    target: str
    text: str
    difference: str


class BatchResult(msgspec.Struct):
    """How many programs of a batch ran on each processor, and the finds. Units: seconds."""

    number: int
    ran: dict[str, int] = {}
    refused: int = 0
    finds: list[Find] = []
    seconds: float = 0.0


class Case(msgspec.Struct, frozen=True):
    """A program, its arguments, and the arrays that the interpreter leaves."""

    seed: int
    text: str
    func: PrimFunc
    args: tuple[Any, ...]
    expected: tuple[Any, ...]


def shipped(func: PrimFunc, target: Target) -> PrimFunc:
    """Return what ``irkit.build`` compiles."""
    return phases_of(target, DEFAULT.then(LEGALIZE)).run(func)


def executor(name: str) -> TargetExecutor:
    """Return what runs programs of a processor: programs of their own, linked with a driver."""
    target = as_target(TARGETS[name])
    emulated = emulated_by(target.triple.partition("-")[0]) if target.triple else None
    if emulated is None:
        return CompiledExecutor(name, target, "cc", shipped, level="-O1", seconds=60)
    row = emulated.of(target)
    return CompiledExecutor(
        name, target, row.compiler, shipped, emulated=row, level="-O1", seconds=120
    )


def case_of(seed: int, text: str) -> Case | None:
    """Return a program with what the interpreter computes; None if it is refused, or if its floats
    have become too large to be exact: there a fused multiplication rounds differently."""
    func = read_program(text)
    if func is None:
        return None
    args = arguments(func, seed)
    copies = tuple(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args)
    try:
        with np.errstate(all="ignore"):
            interpret(func, *copies)
    except IRKitError:
        return None
    expected = tuple(arg for arg in copies if isinstance(arg, np.ndarray))
    if not all(map(_holds_whole_numbers, expected)):
        return None
    return Case(seed, text, func, args, expected)


def _holds_whole_numbers(array: Any) -> bool:
    """Return True if all whole numbers up to the largest of the array are exact in its type."""
    if array.dtype.kind != "f" or not array.size:
        return True
    return bool(np.all(np.abs(array) < 2.0 ** (np.finfo(array.dtype).nmant + 1)))


def run_cases(name: str, cases: Sequence[Case]) -> list[str]:
    """Run cases on a processor; return how each differs from the interpreter, or nothing."""
    outcomes = executor(name).run([TargetCall(case.func, case.args) for case in cases])
    return [_difference(case, found) for case, found in zip(cases, outcomes, strict=True)]


def run_batch(
    number: int, targets: Sequence[str] = tuple(TARGETS), size: int = BATCH
) -> BatchResult:
    """Draw and run a batch; the same number draws the same programs."""
    started = time.monotonic()
    result = BatchResult(number)
    drawn = [(seed, draw_program(seed)) for seed in range(number * size, (number + 1) * size)]
    cases = [case for seed, text in drawn if (case := case_of(seed, text)) is not None]
    result.refused = size - len(cases)
    for name in targets:
        for case, difference in zip(cases, run_cases(name, cases), strict=True):
            result.ran[name] = result.ran.get(name, 0) + (difference not in AWAY)
            if difference and difference not in AWAY:
                result.finds.append(Find(case.seed, name, case.text, difference))
    result.seconds = time.monotonic() - started
    return result


def _difference(case: Case, found: TargetOutcome) -> str:
    if found.end == "refused":
        return AWAY[0]
    if found.end != "ran":
        away = next((words for words in AWAY if words in found.message), "")
        return away or f"{found.end}: {found.message}"
    for wanted, array in zip(case.expected, found.arrays, strict=True):
        if not identical(wanted, array):
            wrong = int(np.sum(np.asarray(wanted) != np.asarray(array)))
            return f"{wrong} of {np.size(array)} elements differ"
    return ""
