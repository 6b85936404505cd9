"""Changes to the program of a sample: expressions, statements, extents, inputs, the schedule and
the passes.

The interpreter says what the changed program computes, so what would leave the meaning open is
not changed: no order of a sum of floats, no function that native code may round otherwise, no
index of an element that other iterations share. A change that is not legal, or runs too long, is
given up, and another one tried.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRKitError, count_nodes, rewrite, walk
from irkit.debug import REORDERING, InputSet, is_well_defined, schedule_steps
from irkit.fuzz.generators.arguments import draw_arguments
from irkit.fuzz.generators.features import features_of
from irkit.fuzz.generators.pipelines import edited
from irkit.fuzz.generators.sample import Sample, outputs_of
from irkit.fuzz.generators.stages.theme import Numbers
from irkit.fuzz.guidance.constants import draw_constant
from irkit.fuzz.guidance.expression_changes import changed_expression, is_exact
from irkit.fuzz.picks import Picks
from irkit.ir import (
    Binary,
    Block,
    Buffer,
    Call,
    Const,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    For,
    If,
    Let,
    Load,
    Max,
    Min,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    find_race,
    parse,
    script,
    verify,
)
from irkit.schedule import ScheduleTrace, TraceStep

_TRIES = 4
_FORMS = (
    *("values", "values", "extents", "values", "inputs", "values", "values", "extents"),
    *("values", "statements", "values", "inputs", "passes", "extents", "schedule"),
)
_MOST_STEPS, _MOST_NODES = 20_000, 600
_UNORDERED = ("parallel", "vectorized", "thread")
_EXTENTS = (
    *(1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 0),
)
_NUMBERS: dict[str, Numbers] = {
    "whole numbers": "whole",
    "fractions": "fractions",
    "special values": "special",
}
_WHOLE_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def changed_program(sample: Sample, picks: Picks) -> Sample:
    """Return a sample whose program is changed a little, or the same sample if no change is legal,
    or its program is large, or not a loop function."""
    if not isinstance(sample.ir, PrimFunc) or count_nodes(sample.ir) > _MOST_NODES:
        return sample
    if not _has_one_meaning(sample.ir, sample.schedule):
        return sample
    for _ in range(_TRIES):
        with suppress(IRKitError, ArithmeticError):
            made = _legal(_changed(sample, picks), picks)
            if made is not None:
                return made
    return sample


def _changed(sample: Sample, picks: Picks) -> Sample | None:
    form = picks.pick(_FORMS)
    if form == "inputs":
        return _with_inputs(sample, picks)
    if form == "passes":
        pipeline, features = edited(sample.pipeline, picks)
        kept = (*sample.features, *features)
        return msgspec.structs.replace(sample, pipeline=pipeline, features=kept)
    if form == "schedule":
        return _without_step(sample, picks)
    assert isinstance(sample.ir, PrimFunc)
    changes = {"statements": _statements, "extents": _extents}
    func = changes.get(form, _values)(sample.ir, picks)
    return None if func is None else msgspec.structs.replace(sample, ir=func)


def _values(func: PrimFunc, picks: Picks) -> PrimFunc | None:
    """Change up to three expressions."""
    for _ in range(1 + picks.below(3)):
        stmts = list(walk(func, on=(Store, Let, If)))
        if not stmts:
            return None
        stmt = picks.pick(stmts)
        name = "cond" if isinstance(stmt, If) else "value"
        value: Expr = getattr(stmt, name)
        places = _places(func, value)
        if not places:
            return None
        new = changed_expression(value, places, _constants_of(func), picks)
        func = _with_statement(func, stmt, stmt.replace(**{name: new}))
    return func


def _with_statement(func: PrimFunc, old: Stmt, new: Stmt) -> PrimFunc:
    def replaced(stmt: Stmt) -> Stmt | None:
        return new if stmt is old else None

    return rewrite(func, replaced, on=type(old))


def _places(func: PrimFunc, value: Expr) -> list[Expr]:
    """Return the parts of an expression that may change: in a program whose iterations are in no
    fixed order, not the indices of what is written."""
    fixed: set[int] = set()
    blocks = list(walk(func, on=Block))
    stated = any(block.reads is not None for block in blocks)
    if blocks or _is_unordered(func):
        written = {id(store.buffer) for store in walk(func, on=Store)}
        for load in walk(value, on=Load):
            if stated or id(load.buffer) in written:
                fixed |= {id(node) for index in load.indices for node in walk(index)}
    return [each for each in walk(value, on=Expr) if id(each) not in fixed]


def _is_unordered(func: PrimFunc) -> bool:
    return any(loop.kind in _UNORDERED for loop in walk(func, on=For))


def _constants_of(func: PrimFunc) -> list[int | float]:
    return [each.value for each in walk(func, on=Const)]


def _statements(func: PrimFunc, picks: Picks) -> PrimFunc | None:
    """Leave out a statement, or change the order of two."""
    found = [seq for seq in walk(func, on=Seq) if len(seq.stmts) > 1]
    if not found:
        return None
    seq = picks.pick(found)
    stmts, at = list(seq.stmts), picks.below(len(seq.stmts) - 1)
    if picks.below(2):
        del stmts[at]
    else:
        stmts[at : at + 2] = reversed(stmts[at : at + 2])
    return _with_statement(func, seq, seq.replace(stmts=tuple(stmts)))


def _extents(func: PrimFunc, picks: Picks) -> PrimFunc | None:
    """Replace a whole number by another one, wherever it stands."""
    text = script(func)
    found = sorted({int(each) for each in _WHOLE_NUMBER.findall(text)} - {0, 1})
    if not found:
        return None
    old = picks.pick(found)
    new = old + picks.pick((1, -1)) if picks.one_in(3) else picks.pick(_EXTENTS)
    changed = _WHOLE_NUMBER.sub(lambda m: str(new) if int(m[0]) == old else m[0], text)
    return parse(changed).replace(attrs=func.attrs)


def _with_inputs(sample: Sample, picks: Picks) -> Sample:
    """Put constants into the arguments."""
    assert isinstance(sample.ir, PrimFunc)
    near = _constants_of(sample.ir)
    made = list[InputSet]()
    for inputs in sample.inputs:
        args: list[Any] = list(inputs.copied())
        for param, arg in zip(sample.ir.params, args, strict=True):
            if not isinstance(param, Buffer) or not arg.size:
                continue
            for _ in range(picks.below(4)):
                value = draw_constant(param.dtype, near, picks)
                with np.errstate(all="ignore"):
                    arg[_place_in(arg.shape, picks)] = value
        made.append(InputSet(inputs.name, inputs.kind, tuple(args)))
    return msgspec.structs.replace(sample, inputs=tuple(made))


def _place_in(shape: Sequence[int], picks: Picks) -> tuple[int, ...]:
    return tuple(picks.below(size) for size in shape)


def _without_step(sample: Sample, picks: Picks) -> Sample | None:
    """Leave out a step of the schedule, and those that need it."""
    steps = sample.schedule.steps
    if not steps:
        return None
    gone = picks.pick(steps)

    def is_gone(step: TraceStep) -> bool:
        return step is gone

    return msgspec.structs.replace(sample, schedule=sample.schedule.without(is_gone))


def _legal(sample: Sample | None, picks: Picks) -> Sample | None:
    """Return a changed sample with arguments for it, if it is legal. Raises: IRKitError if not."""
    if sample is None:
        return None
    func = sample.ir
    assert isinstance(func, PrimFunc)
    if not any(name == "contract" for name, _ in func.attrs):
        func = func.replace(attrs=(*func.attrs, ("contract", False)))
    if verify(func) or not _has_one_meaning(func, sample.schedule):
        return None
    inputs = tuple(_fitting(func, each, picks) for each in sample.inputs)
    unordered = _is_unordered(func)
    for each in inputs:
        if not is_well_defined(func, each.args, max_steps=_MOST_STEPS):
            return None
        if unordered and find_race(func, *each.copied(), max_steps=_MOST_STEPS) is not None:
            return None
    exact = (None,) * len(outputs_of(func))
    return msgspec.structs.replace(
        sample,
        ir=func,
        schedule=_accepted(func, sample.schedule),
        inputs=inputs,
        expected=(None,) * len(inputs),
        allowed=(exact,) * len(inputs),
        features=(*_other_features(sample), *features_of(func), "changed program"),
        zeros_have_signs=False,
        sound=False,
    )


def _other_features(sample: Sample) -> tuple[str, ...]:
    own = ("node:", "call:", "loop:", "dtype:", "extent:", "changed ")
    return tuple(each for each in sample.features if not each.startswith(own))


def _fitting(func: PrimFunc, inputs: InputSet, picks: Picks) -> InputSet:
    """Return inputs that fit the shapes of a function: the same, or others of their kind."""
    fits = all(
        not isinstance(param, Buffer)
        or all(
            not isinstance(dim, Const) or dim.value == size
            for dim, size in zip(param.shape, arg.shape, strict=True)
        )
        for param, arg in zip(func.params, inputs.args, strict=True)
    )
    if fits:
        return inputs
    return draw_arguments(func, picks, _NUMBERS.get(inputs.kind, "whole"), empty=False)


def _accepted(func: PrimFunc, schedule: ScheduleTrace) -> ScheduleTrace:
    """Return the first steps of a schedule, as far as the changed function allows them."""
    done = 0
    steps = schedule_steps(func, schedule)
    with suppress(StopIteration, IRKitError):
        while True:
            next(steps)
            done += 1
    return schedule if done == len(schedule.steps) else _first_steps(func, schedule)


def _first_steps(func: PrimFunc, schedule: ScheduleTrace) -> ScheduleTrace:
    kept = schedule.steps
    while kept:
        made = msgspec.structs.replace(schedule, steps=kept)
        try:
            for _ in schedule_steps(func, made):
                pass
        except IRKitError:
            kept = kept[:-1]
        else:
            return made
    return msgspec.structs.replace(schedule, steps=())


def _has_one_meaning(func: PrimFunc, schedule: ScheduleTrace) -> bool:
    """Return True if the interpreter and native code must agree in every bit."""
    if not all(is_exact(each) for each in walk(func, on=Call)):
        return False
    loops = list(walk(func, on=For))
    if any(name == "reassoc" for loop in loops for name, _ in loop.attrs):
        return False
    floats = any(store.value.dtype.is_float for store in walk(func, on=Store))
    if floats and any(step.primitive in REORDERING for step in schedule.steps):
        return False
    # Of two zeros, min and max return either, and a division shows which.
    classes = {type(each) for each in walk(func, on=Binary) if each.dtype.is_float}
    return classes.isdisjoint((Min, Max)) or classes.isdisjoint((Div, FloorDiv, FloorMod))
