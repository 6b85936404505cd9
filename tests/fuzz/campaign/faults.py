"""Faults for worker processes, each called in a process of its own."""

import os
import signal
import time

import numpy as np

from irkit.codegen import compile_object, emit
from irkit.core import rewrite
from irkit.debug import Flush, GuardedKernel, GuardedMemory
from irkit.fuzz.campaign import CaseOptions, Draw
from irkit.fuzz.campaign.worker import CaseResult
from irkit.fuzz.judge import Outcome
from irkit.fuzz.judge.loops import target_of
from irkit.ir import For, PrimFunc, parse
from irkit.processes import report
from irkit.transform import define_pass


def call_amid_guards(text: str, flush: Flush, level: int) -> list[float]:
    """Compile a function of A and C, which it can access out of bounds, and call it."""
    func = parse(text)
    image = compile_object(emit([func], target_of(level)), target_of(level))
    args = [np.arange(8, dtype=np.float32), np.zeros(8, np.float32)]
    return [float(value) for value in GuardedKernel(func, image)(GuardedMemory(), args, flush)[1]]


def crash(draw: Draw, options: CaseOptions) -> CaseResult:
    """Kill the process."""
    os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError


def hang_or_fill_memory(draw: Draw, options: CaseOptions) -> CaseResult:
    """Hang, and the next time take more memory than there is."""
    while draw.number == 0 and options.native:
        time.sleep(1)
    kept = bytes(1 << 42 if options.native else 0)
    return CaseResult(Outcome("ok"), text=str(len(kept)))


def crash_in_native_code(draw: Draw, options: CaseOptions) -> CaseResult:
    """Crash as native code would, which does not run when passes are examined."""
    if options.native:
        report("O3")
        crash(draw, options)
    return CaseResult(Outcome("ok"), text="the program", digest="0")


def wrong_now_and_then(draw: Draw, options: CaseOptions) -> CaseResult:
    """Return a wrong result if the number is a multiple of ten, always in the same way."""
    if draw.number % 10:
        return CaseResult(Outcome("ok"))
    outcome = Outcome("mismatch", "lowered", "simplify", "C[0] is 1, expected 2")
    return CaseResult(outcome, text=f"program {draw.number}", digest=str(draw.number))


def kill_the_worker_at_three(draw: Draw, options: CaseOptions) -> CaseResult:
    """Kill the process that drives this one, in case 3."""
    if draw.number == 3:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)  # This process ends with it.
    return CaseResult(Outcome("ok"))


def fail_at_files(draw: Draw, options: CaseOptions) -> CaseResult:
    """Pretend that each file is read wrongly."""
    return CaseResult(Outcome("failed", "damaged file", message="RecursionError: too deep"))


def not_valid(draw: Draw, options: CaseOptions) -> CaseResult:
    """Find nothing to run in every fifth case."""
    if draw.number % 5 == 0:
        return CaseResult(Outcome("invalid", "draw", message="nothing fits"))
    return CaseResult(Outcome("ok"))


@define_pass()
def drop_the_last_iteration(func: PrimFunc) -> PrimFunc:
    """End each loop one iteration too early."""
    return rewrite(func, lambda node: node.replace(end=node.end - 1), on=For)


@define_pass()
def never_fire(func: PrimFunc) -> PrimFunc:
    """Do nothing."""
    return func
