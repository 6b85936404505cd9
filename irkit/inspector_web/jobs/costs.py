"""Time a function as native code before and after a pass, and tell differences from noise.

Stages are called in turn, so that other load on the machine affects all of them alike. Each stage
is first lowered by the remaining default passes, so the time of an early stage includes their
effect. The kinds of job are at the end of the module.
"""

import statistics
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from irkit.core import InputError, IRKitError, Target
from irkit.debug import func_message, func_of_message, input_sets
from irkit.inspector_web.jobs.chosen_steps import (
    RUN_JOB_LIMITS,
    ChosenSteps,
    choose_steps,
    keep_result,
)
from irkit.inspector_web.jobs.job import JobKind
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.runs.run import LEVELS
from irkit.inspector_web.runs.workspace import Workspace
from irkit.ir import PrimFunc, shape_vars
from irkit.processes import Child, ChildDied, Limits
from irkit.runtime import build_kernels
from irkit.transform import Trace

SIZE = 64
"""Size of symbolic dimensions."""
SECONDS = 1.0
"""Time for a pair of stages. Units: seconds."""
MOST_ROUNDS = 1_000
FEWEST_ROUNDS = 7
CALL = 50e-6
"""Least length of a measurement; shorter calls are repeated. Units: seconds."""
LEAST = 0.05
"""Least share that counts as a difference: the placement of code in memory accounts for as much."""
MOST_STAGES = 40
LIMITS = Limits(seconds=30.0, memory=8 << 30)


class Cost(msgspec.Struct, frozen=True, omit_defaults=True):
    """Time of one call: median, quartiles, and a 95 % confidence interval of the median.

    ``step`` is -1 for the function as it was given; ``message`` says why there is no time.
    Units: microseconds.
    """

    step: int
    median: float = 0.0
    low: float = 0.0
    high: float = 0.0
    least: float = 0.0
    most: float = 0.0
    runs: int = 0
    calls: int = 1
    message: str = ""


class CostComparison(msgspec.Struct, frozen=True):
    """Costs of a function before and after a step, and whether they differ; ``ratio`` is the cost
    before divided by that after, 0 if unknown."""

    function: str
    before: Cost
    after: Cost
    ratio: float
    differs: bool
    text: str
    sizes: str


class Costs(msgspec.Struct, frozen=True):
    """Costs of a function as it was given and after each step that changed it.

    ``differs`` says for each whether its difference from the one before is more than noise;
    ``more`` stages were not timed.
    """

    function: str
    stages: tuple[Cost, ...]
    differs: tuple[bool, ...]
    sizes: str
    more: int = 0


def compare_costs(trace: Trace, step: int) -> CostComparison:
    """Time a function before and after a step. Raises: IRKitError if it is not a loop function."""
    chosen = trace[step]
    before, after = _loop_function(chosen.before), _loop_function(chosen.after)
    stages = [before, after] if chosen.changed else [before]
    first, *others = time_stages(stages, SECONDS)
    second = others[0] if others else first
    first = msgspec.structs.replace(first, step=step - 1)
    second = msgspec.structs.replace(second, step=step)
    ratio = first.median / second.median if first.median and second.median else 0.0
    differs = is_more_than_noise(first, second)
    text = (
        _comparison_text(first, second, differs) if chosen.changed else "The pass changed nothing."
    )
    return CostComparison(after.name, first, second, ratio, differs, text, sizes_of(after))


def function_costs(trace: Trace, function: str) -> Costs:
    """Time all stages of a function. Raises: IRKitError if there is none, or it is a graph."""
    given = _loop_function(trace.of_function(function)[0].before)
    changed = [step for step in trace if step.function == function and step.changed]
    numbers = [-1, *(step.index for step in changed)][:MOST_STAGES]
    funcs = [given, *(_loop_function(step.after) for step in changed)][:MOST_STAGES]
    more = len(changed) + 1 - len(funcs)
    report_progress(f"timing {len(funcs)} stages of {function}")
    found = time_stages(funcs, SECONDS * max(1, len(funcs) / 4))
    stages = tuple(
        msgspec.structs.replace(cost, step=at) for cost, at in zip(found, numbers, strict=True)
    )
    differs = (is_more_than_noise(a, b) for a, b in pairwise(stages))
    return Costs(function, stages, (False, *differs), sizes_of(funcs[0]), more)


def is_more_than_noise(a: Cost, b: Cost) -> bool:
    """Return True if two medians differ for certain.

    Neither their confidence intervals nor their middle halves overlap, and they differ by more than
    a twentieth.
    """
    if not (a.median and b.median):
        return False
    apart = a.least > b.most or b.least > a.most
    apart = apart and (a.low > b.high or b.low > a.high)
    return apart and abs(a.median - b.median) > LEAST * min(a.median, b.median)


def _comparison_text(before: Cost, after: Cost, differs: bool) -> str:
    if before.message or after.message:
        return before.message or after.message
    if not differs:
        return "No difference larger than the spread of the measurements."
    slow, fast, how = before, after, "fast"
    if after.median > before.median:
        slow, fast, how = after, before, "slow"
    ratios = (slow.median / fast.median, slow.low / fast.high, slow.high / fast.low)
    about, least, most = (f"{float(f'{ratio:.2g}'):g}" for ratio in ratios)
    return f"After the pass the function is about {about} times as {how} ({least} to {most})."


def sizes_of(func: PrimFunc) -> str:
    """Return the sizes of symbolic dimensions as text, such as ``n = 64``."""
    return ", ".join(f"{var.name} = {SIZE}" for var in shape_vars(func))


def time_stages(funcs: Sequence[PrimFunc], seconds: float) -> list[Cost]:
    """Time functions in turn in a child. A function that crashes is left out and gets a message."""
    alive = list(range(len(funcs)))
    dead: dict[int, Cost] = {}
    with Child(LIMITS) as child:
        for at in list(alive):
            try:
                child.call(try_stage, func_message(funcs[at]))
            except (ChildDied, IRKitError) as error:
                dead[at] = Cost(0, message=f"It cannot be timed: the native code {error.message}.")
                alive.remove(at)
        timed: list[Cost] = []
        if alive:
            timed = child.call(time_in_turn, [func_message(funcs[at]) for at in alive], seconds)
    found = dict(zip(alive, timed, strict=True)) | dead
    return [found[at] for at in range(len(funcs))]


def try_stage(message: bytes) -> None:
    """Compile a function and call it once; the child calls this."""
    func = func_of_message(message)
    build_kernels([func], Target())[0](*timing_arguments(func))


def time_in_turn(messages: list[bytes], seconds: float) -> list[Cost]:
    """Call functions in turn until the time is up; the child calls this."""
    funcs = [func_of_message(message) for message in messages]
    args = timing_arguments(funcs[0])  # The same arrays for all: their place in memory matters.
    calls = [(build_kernels([func], Target())[0], args) for func in funcs]
    counts = [_calls_per_sample(kernel, args) for kernel, args in calls]
    samples: list[list[float]] = [[] for _ in calls]
    until = time.perf_counter() + seconds
    for rounds in range(MOST_ROUNDS):
        if rounds >= FEWEST_ROUNDS and time.perf_counter() > until:
            break
        for sample, (kernel, args), count in zip(samples, calls, counts, strict=True):
            sample.append(_seconds_per_call(kernel, args, count))
    return [cost_of_samples(sample, count) for sample, count in zip(samples, counts, strict=True)]


def cost_of_samples(samples: Sequence[float], calls: int = 1) -> Cost:
    """Compute the cost of measurements in seconds: the median and its noise."""
    micros = sorted(sample * 1e6 for sample in samples)
    low, _, high = statistics.quantiles(micros, n=4) if len(micros) > 1 else micros * 3
    # Order statistics that enclose the true median in 95 of 100 cases.
    reach = 0.98 * len(micros) ** 0.5
    begin = max(0, int(len(micros) / 2 - reach))
    end = min(len(micros) - 1, int(len(micros) / 2 + reach))
    return Cost(
        step=0,
        median=statistics.median(micros),
        low=low,
        high=high,
        least=micros[begin],
        most=micros[end],
        runs=len(micros),
        calls=calls,
    )


def _seconds_per_call(kernel: Any, args: Sequence[Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        kernel(*args)
    return (time.perf_counter() - start) / count


def _calls_per_sample(kernel: Any, args: Sequence[Any]) -> int:
    """Return how often to call a function so that a measurement is long enough."""
    _seconds_per_call(kernel, args, 1)
    took = max(min(_seconds_per_call(kernel, args, 1) for _ in range(3)), 1e-7)
    return max(1, min(1_000, int(CALL / took)))


def timing_arguments(func: PrimFunc) -> list[Any]:
    """Return arguments for a function that is timed; what is open has ``SIZE``."""
    dims = {var.name: SIZE for var in shape_vars(func)}
    # Fractions, and integers that are likely to be valid indices.
    return input_sets(func, dims=dims, samples=2, integers=(0, 2))[1].copied()


def _loop_function(ir: object) -> PrimFunc:
    if isinstance(ir, PrimFunc):
        return ir
    raise IRKitError("only a loop function can be timed; choose one in the list of functions")


class CostRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request to time a function before and after a step."""

    run: int
    step: int


def _find_cost(workspace: Workspace, asked: CostRequest) -> ChosenSteps:
    chosen = choose_steps(workspace, asked.run, None, asked.step, False)
    step = chosen.steps[0]
    if not isinstance(step.before, PrimFunc) or not isinstance(step.after, PrimFunc):
        raise InputError("only a loop function can be timed, and this step is on a graph")
    return chosen


def _send_cost(chosen: ChosenSteps, folder: Path) -> tuple[Any, ...]:
    return chosen.save(folder), chosen.numbers[0]


def run_cost(path: str, number: int) -> CostComparison:
    """Time the step of a trace file; the child calls this."""
    made = compare_costs(Trace.load(path, LEVELS), 0)
    before = msgspec.structs.replace(made.before, step=number - 1)
    after = msgspec.structs.replace(made.after, step=number)
    return msgspec.structs.replace(made, before=before, after=after)


class CostsRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request to time a function after each step that changed it."""

    run: int
    function: str


def _find_costs(workspace: Workspace, asked: CostsRequest) -> ChosenSteps:
    chosen = choose_steps(workspace, asked.run, asked.function, None, False)
    kept = tuple(step for step in chosen.steps if isinstance(step.after, PrimFunc))
    if not kept:
        raise InputError("only a loop function can be timed; choose one in the list")
    return msgspec.structs.replace(chosen, steps=kept)


def _send_costs(chosen: ChosenSteps, folder: Path) -> tuple[Any, ...]:
    return chosen.save(folder), chosen.numbers, chosen.function


def run_costs(path: str, numbers: Sequence[int], function: str) -> Costs:
    """Time the steps of a trace file; the child calls this."""
    made = function_costs(Trace.load(path, LEVELS), function)
    named = (
        msgspec.structs.replace(each, step=numbers[each.step]) if each.step >= 0 else each
        for each in made.stages
    )
    return msgspec.structs.replace(made, stages=tuple(named))


COST = JobKind(CostRequest, _find_cost, _send_cost, run_cost, keep_result, RUN_JOB_LIMITS)
COSTS = JobKind(CostsRequest, _find_costs, _send_costs, run_costs, keep_result, RUN_JOB_LIMITS)
