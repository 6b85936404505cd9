"""Random schedules of random programs, compared with the unscheduled function after each step.

The interpreter compares bit for bit, at three sizes where shapes are symbolic; at the end, parallel
and vectorized loops also run backwards, the trace goes through JSON and makes the same function,
and one in thirty is compiled. `try_schedules([number])` repeats one.
"""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from itertools import starmap
from typing import Any

import msgspec
import numpy as np

from irkit import te
from irkit.core import free_symbols, rewrite, same, substitute, walk
from irkit.fuzz.generators.schedules.attempt import (
    OFTEN,
    WrongSchedule,
    try_primitive,
    wrong_schedule,
)
from irkit.fuzz.generators.schedules.draw_table import DRAWERS
from irkit.fuzz.generators.schedules.empty_ranges import (
    arguments_of,
    empty_range_function,
)
from irkit.fuzz.generators.seed_corpus.texts import BLOCK_PROGRAMS, KERNELS
from irkit.fuzz.generators.stages.stage_tensors import stage_tensors
from irkit.fuzz.picks import Picks, picks_of
from irkit.ir import (
    Block,
    Buffer,
    Const,
    Expr,
    For,
    PrimFunc,
    StepLimit,
    Var,
    as_int,
    evaluate,
    interpret,
    numpy_dtype,
    parse,
    script,
    shape_vars,
    verify,
)
from irkit.phases import build
from irkit.schedule import Schedule, ScheduleTrace

_MOST_STEPS = 300_000
_MOST_BLOCKS = 24
_SLOW_SECONDS = 20.0
_SIZES = ((5, 3), (1, 4), (8, 2))

FIXED = [
    parse(text.strip() + "\n")
    for text in (
        BLOCK_PROGRAMS["MATMUL_RELU"],
        BLOCK_PROGRAMS["CHAIN"],
        BLOCK_PROGRAMS["HALO"],
        *KERNELS.values(),
    )
    if "with block" in text and "exp(" not in text  # Whole numbers stay whole.
]


class ScheduleTally(msgspec.Struct):
    """How often each primitive was accepted and refused, and what was wrong, by number."""

    accepted: Counter[str] = msgspec.field(default_factory=Counter[str])
    refused: Counter[str] = msgspec.field(default_factory=Counter[str])
    wrong: dict[int, str] = {}
    built: int = 0

    def add(self, other: "ScheduleTally") -> None:
        """Add the counts of another tally."""
        self.accepted.update(other.accepted)
        self.refused.update(other.refused)
        self.wrong.update(other.wrong)
        self.built += other.built

    def first_wrong(self) -> str:
        """Return the numbers that are wrong, and the text of the first."""
        number = min(self.wrong)
        return f"{sorted(self.wrong)}; the schedule of {number}:\n{self.wrong[number]}"

    def __str__(self) -> str:
        rows = [
            f"{name:24} {self.accepted[name]:7} {self.refused[name]:7}" for name in sorted(DRAWERS)
        ]
        head = f"{'primitive':24} accepted refused"
        return "\n".join([head, *rows, f"{self.built} compiled, {len(self.wrong)} wrong"])


class UnscheduledResults:
    """What a function computes before it is scheduled, for several shapes."""

    def __init__(self, func: PrimFunc, inputs: Sequence[Sequence[Any]] = ()) -> None:
        sizes = _SIZES if shape_vars(func) else [(5, 3)]
        self.inputs = [list(args) for args in inputs] or [_inputs(func, each) for each in sizes]
        self.expected = [_run(func, args) for args in self.inputs]

    def compare(self, func: PrimFunc) -> str:
        """Return how a scheduled function differs in the interpreter, or None."""
        for args, expected in zip(self.inputs, self.expected, strict=True):
            reason = _difference(func, expected, _run(func, args))
            if reason:
                return reason
        return ""

    def compare_native(self, func: PrimFunc) -> str:
        """Return how native code, through the default pipeline, differs, or None."""
        kernel = build(func)
        for args, expected in zip(self.inputs, self.expected, strict=True):
            found = [copy(arg) for arg in args]
            kernel(*found)
            reason = _difference(func, expected, found)
            if reason:
                return f"compiled: {reason}"
        return ""


def try_schedules(numbers: Iterable[int], build_one_in: int = 30) -> ScheduleTally:
    """Try the schedules of some numbers, and go on after a wrong one."""
    tally = ScheduleTally()
    for number in numbers:
        try:
            try_schedule(picks_of(number), tally, native=number % build_one_in == 0)
        except WrongSchedule as error:
            tally.wrong[number] = str(error)
    return tally


def try_schedule(
    picks: Picks, tally: ScheduleTally, *, native: bool = False, func: PrimFunc | None = None
) -> None:
    """Draw a program and up to 14 primitives.

    Raises: WrongSchedule, with the program and the schedule, if a primitive is neither refused nor
    keeps the results.
    """
    inputs: Sequence[Sequence[Any]] = ()
    if func is None and picks.one_in(6):
        func, sizes = empty_range_function(picks)
        inputs = list(starmap(arguments_of, sizes))
    elif func is None:
        func = picks.pick(FIXED) if picks.one_in(8) else te.create_prim_func(stage_tensors(picks))
    if not any(True for _ in walk(func, on=Block)):
        return
    reference = UnscheduledResults(func, inputs)
    sch = Schedule(func, check="off")
    for _ in range(1 + picks.below(14)):
        name = picks.pick(OFTEN)
        if not list(walk(sch.func, on=For)) or not list(walk(sch.func, on=Block)):
            break  # Nothing is left to work on.
        before = sch.func
        if _step(sch, picks, name, tally, func) and sch.func is not before:
            _judge(sch, name, reference, func)
        if sum(1 for _ in walk(sch.func, on=Block)) > _MOST_BLOCKS:
            break
    _finish(sch, reference, func)
    if native:
        tally.built += 1
        _guarded("build", sch, func, lambda: _refuse(reference.compare_native(sch.func)))


def _step(sch: Schedule, picks: Picks, name: str, tally: ScheduleTally, func: PrimFunc) -> bool:
    """Call a primitive, and count whether it was accepted."""
    started = time.perf_counter()
    accepted = try_primitive(sch, picks, name, func)
    took = time.perf_counter() - started
    if took > _SLOW_SECONDS:
        raise wrong_schedule(f"it took {took:.0f} s", sch, name, func)
    (tally.accepted if accepted else tally.refused)[name] += 1
    return accepted


def _judge(sch: Schedule, name: str, reference: UnscheduledResults, func: PrimFunc) -> None:
    problems = verify(sch.func)
    if problems:
        raise wrong_schedule(f"it does not verify: {problems[0]}", sch, name, func)
    longest = max((as_int(loop.end) or 0 for loop in walk(sch.func, on=For)), default=0)
    if longest > _MOST_STEPS:
        raise wrong_schedule(f"a loop would run {longest} times", sch, name, func)
    _guarded(name, sch, func, lambda: _refuse(reference.compare(sch.func)))


def _finish(sch: Schedule, reference: UnscheduledResults, func: PrimFunc) -> None:
    """Reverse the iterations that can go in any order and compare, and replay the trace."""
    turned = _turned(sch.func)
    if turned is not sch.func:
        _guarded("a mark", sch, func, lambda: _refuse(reference.compare(turned)))

    def replay() -> None:
        again = Schedule(func, check="off")
        ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
        if not same(again.func, sch.func):
            _refuse(f"the trace makes a different function:\n{script(again.func)}")

    _guarded("the trace", sch, func, replay)


def _refuse(reason: str) -> None:
    if reason:
        raise WrongSchedule(reason)


def _guarded(name: str, sch: Schedule, func: PrimFunc, check: Any) -> None:
    try:
        check()
    except StepLimit:
        return  # It computes too much to be compared.
    except Exception as error:
        raise wrong_schedule(f"{type(error).__name__}: {error}", sch, name, func) from error


def _turned(func: PrimFunc) -> PrimFunc:
    """Reverse parallel and vectorized loops."""

    def turn(loop: For) -> For | None:
        if loop.kind not in ("parallel", "vectorized"):
            return None
        last = loop.begin + loop.end - 1
        return loop.replace(kind="serial", body=substitute(loop.body, {loop.var: last - loop.var}))

    return rewrite(func, turn, on=For)


def _run(func: PrimFunc, args: list[Any]) -> list[Any]:
    mine = [copy(arg) for arg in args]
    with np.errstate(all="ignore"):
        interpret(func, *mine, max_steps=_MOST_STEPS)
    return mine


def _difference(func: PrimFunc, expected: list[Any], found: list[Any]) -> str:
    for param, old, new in zip(func.params, expected, found, strict=True):
        if isinstance(param, Buffer) and not np.array_equal(old, new, equal_nan=True):
            at = tuple(int(part) for part in np.argwhere(old != new)[0])
            return f"{param.name}{list(at)} of {old.shape} is {new[at]}, and was {old[at]}"
    return ""


def _inputs(func: PrimFunc, sizes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(0)
    known = {var: sizes[at % len(sizes)] for at, var in enumerate(shape_vars(func))}
    made: list[Any] = []
    for param in func.params:
        if not isinstance(param, Buffer):
            made.append(3)
            continue
        shape = tuple(_number(dim, known) for dim in param.shape)
        low = 0 if param.dtype.kind in ("u", "bool") else -4
        made.append(rng.integers(low, 5, shape).astype(numpy_dtype(param.dtype)))
    return made


def _number(dim: Expr, known: dict[Var, int]) -> int:
    if isinstance(dim, Const):
        return int(dim.value)
    used = {var: known[var] for var in free_symbols(dim) if isinstance(var, Var)}
    return int(evaluate(dim, used))
