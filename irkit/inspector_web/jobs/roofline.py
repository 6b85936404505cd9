"""The roofline of this machine, and the kernels of a run under it: how fast each is, and how fast
its arithmetic intensity lets it be.

The machine's limits are measured by two kernels, one that only multiplies and adds and one that
only copies. The kind of job is at the end of the module.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from irkit.autoschedule import Machine
from irkit.codegen import host_target
from irkit.core import InputError, IRKitError
from irkit.debug import func_message, trace_step
from irkit.inspector_web.jobs.chosen_steps import RUN_JOB_LIMITS, ChosenSteps, keep_result
from irkit.inspector_web.jobs.costs import LIMITS, time_in_turn
from irkit.inspector_web.jobs.job import JobKind
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.runs.run import LEVELS
from irkit.inspector_web.runs.workspace import Workspace
from irkit.ir import LOOP_LEVEL, PrimFunc, parse, shape_vars, work_of
from irkit.phases import build
from irkit.processes import Child, ChildDied
from irkit.transform import Trace

SECONDS = 60.0
"""Time for all kernels; those not reached are left out, the smallest first."""
SECONDS_EACH = 0.1
ROUNDS = 5
STEPS, COPIED = 20_000, 1 << 23
REGISTERS = 10
"""Sums at once: enough to hide the latency of one, and few enough for every processor."""

_MULTIPLY = """\
def multiply(A: f32[{threads}, {size}], X: f32[2]):
    for t in parallel(0, {threads}):
        sums = alloc(f32[{size}], scope="local")
        for r in unrolled(0, {registers}):
            for l in vectorized(0, {lanes}):
                sums[r * {lanes} + l] = A[t, r * {lanes} + l]
        for k in serial(0, {steps}):
            for r in unrolled(0, {registers}):
                for l in vectorized(0, {lanes}):
                    sums[r * {lanes} + l] = sums[r * {lanes} + l] * X[0] + X[1]
        for r in unrolled(0, {registers}):
            for l in vectorized(0, {lanes}):
                A[t, r * {lanes} + l] = sums[r * {lanes} + l]
"""
_COPY = """\
def copy(A: f32[{threads}, {each}], B: f32[{threads}, {each}]):
    for t in parallel(0, {threads}):
        for i in serial(0, {each} // {lanes}):
            for l in vectorized(0, {lanes}):
                B[t, i * {lanes} + l] = A[t, i * {lanes} + l]
"""


class KernelSpeed(msgspec.Struct, frozen=True, omit_defaults=True):
    """How fast a kernel is; ``step`` is the last that ran on it.

    ``bytes`` must at least come from and go to memory. ``message`` says why there is no time.
    Units: microseconds of one call, median and quartiles; float operations; bytes.
    """

    function: str
    step: int
    micros: float = 0.0
    low: float = 0.0
    high: float = 0.0
    flops: int | None = None
    bytes: int | None = None
    message: str = ""


class Roofline(msgspec.Struct, frozen=True):
    """The limits of this machine, and kernels; ``more`` were not timed.

    Units: f32 operations and bytes per second.
    """

    peak: float
    bandwidth: float
    threads: int
    kernels: list[KernelSpeed]
    more: int = 0


def machine_limits() -> tuple[float, float, int]:
    """Measure operations and bytes per second of this machine with all its threads; a child calls
    this."""
    threads = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    lanes = Machine.of_target(host_target()).vector_bytes // 4
    size = lanes * REGISTERS
    sizes = {"threads": threads, "lanes": lanes, "size": size, "registers": REGISTERS}
    multiply = build(parse(_MULTIPLY.format(steps=STEPS, **sizes)))
    sums = np.ones((threads, size), np.float32)
    peak = 2 * STEPS * size * threads / _least(multiply, sums, np.array([0.5, 1.0], np.float32))
    each = COPIED // threads // lanes * lanes
    copy = build(parse(_COPY.format(each=each, **sizes)))
    given = np.ones((threads, each), np.float32)
    bandwidth = 2 * given.nbytes / _least(copy, given, np.zeros_like(given))
    return peak, bandwidth, threads


def _least(kernel: Any, *args: Any) -> float:
    kernel(*args)
    found: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        kernel(*args)
        found.append(time.perf_counter() - began)
    return min(found)


def run_roofline(path: str, numbers: Sequence[int], names: Sequence[str]) -> Roofline:
    """Measure the machine and the functions of a trace file; the child calls this, and has one of
    its own, because native code can crash."""
    funcs = [
        (step.after, number) for step, number in zip(Trace.load(path, LEVELS), numbers, strict=True)
    ]
    known = [(func, number, work_of(func)) for func, number in funcs if isinstance(func, PrimFunc)]
    known.sort(key=lambda each: -(each[2].flops if each[2] is not None else 0))
    report_progress("measuring this machine")
    made: list[KernelSpeed] = []
    child = Child(LIMITS)
    try:
        peak, bandwidth, threads = child.call(machine_limits)
        until = time.monotonic() + SECONDS
        for func, number, work in known:
            if time.monotonic() > until:
                break
            report_progress("timing kernels", len(made), len(known))
            flops = None if work is None else work.flops
            moved = None if work is None else work.moved
            blank = KernelSpeed(names[numbers.index(number)], number, flops=flops, bytes=moved)
            try:
                (cost,) = child.call(time_in_turn, [func_message(func)], SECONDS_EACH)
                timed = {"micros": cost.median, "low": cost.low, "high": cost.high}
                made.append(msgspec.structs.replace(blank, **timed))
            except (ChildDied, IRKitError) as error:
                text = f"It cannot be timed: the native code {error.message}."
                made.append(msgspec.structs.replace(blank, message=text))
                child.close()
                child = Child(LIMITS)
    finally:
        child.close()
    return Roofline(peak, bandwidth, threads, made, len(known) - len(made))


class RooflineRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request to time the kernels of a run, or one of them."""

    run: int
    function: str | None = None


def _find(workspace: Workspace, asked: RooflineRequest) -> ChosenSteps:
    run = workspace.run(asked.run)
    last = {
        step.function: step
        for step in run.trace
        if asked.function in (None, step.function) and isinstance(step.after, PrimFunc)
    }
    steps = tuple(step for step in last.values() if not shape_vars(step.after))  # pyright: ignore[reportArgumentType] -- checked above
    if not steps:
        raise InputError("only a loop function of fixed sizes can be timed here")
    return ChosenSteps(run, steps)


def _send(chosen: ChosenSteps, folder: Path) -> tuple[Any, ...]:
    # Only the results are needed, and the program after one step is that before another.
    made = ChosenSteps(
        chosen.run, tuple(trace_step(LOOP_LEVEL, step.after) for step in chosen.steps)
    )
    return made.save(folder), chosen.numbers, [step.function for step in chosen.steps]


ROOFLINE = JobKind(RooflineRequest, _find, _send, run_roofline, keep_result, RUN_JOB_LIMITS)
