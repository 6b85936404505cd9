"""Invariants of checked bounds: an access in bounds passes, and one outside is stopped.

The checks are added in the lowering of a sample, right after its blocks are dissolved. To get an
access outside, one index, or the start of one view, is moved: where the interpreter then stops at
an access, the checks must have stopped it before.
"""

from irkit.codegen import emit
from irkit.core import IRKitError, Node, rewrite, walk
from irkit.debug import is_concurrent
from irkit.fuzz.judge.loops import LoopCase, target_of
from irkit.fuzz.judge.outcome import WrongSample
from irkit.ir import (
    Expr,
    InterpretedFunction,
    Load,
    PrimFunc,
    Store,
    View,
    broadcast,
    const,
    convert,
)
from irkit.passes.loop import instrument_bounds
from irkit.runtime import build_kernels
from irkit.transform import Step

_AFTER = "lower-blocks"
_MAX_STEPS = 200_000
_OUTSIDE = ("is out of bounds", " covers elements ")
_STOPPED = "assertion failed: "
_MOVES = 4


def bounds_are_checked(case: LoopCase, number: int) -> None:
    """With checks of bounds the numbers are the same, and moved accesses are stopped."""
    steps = _with_checks(case)
    checks = next((step for step in steps if step.name == instrument_bounds.name), None)
    if checks is None:
        return
    number, way = divmod(number, 2)
    if way:
        _look_outside(case, _moved(_func(checks.before), number))
        return
    lowered = _func(steps[-1].after)
    case.interpret(lowered, instrument_bounds.name)
    if number % 2:
        case.run_native(emit([lowered], target_of(3)), target_of(0), lowered)


def _look_outside(case: LoopCase, moved: PrimFunc) -> None:
    """Run a function that may leave its bounds, with checks and without."""
    checked = instrument_bounds(moved)
    for inputs in case.sample.inputs:
        without, found = (_why_stopped(func, inputs.copied()) for func in (moved, checked))
        stopped = found.startswith(_STOPPED)
        if any(text in without for text in _OUTSIDE) and not stopped:
            why = f"no check stops it: {without}; with checks: {found or 'nothing'}"
            raise WrongSample("broken", why, instrument_bounds.name)
        if stopped and not without:
            why = f"a check stops an access in bounds: {found}"
            raise WrongSample("broken", why, instrument_bounds.name)
        if stopped and not is_concurrent(checked):
            _compare_native(checked, inputs.copied(), found)


def _compare_native(checked: PrimFunc, args: list[object], wanted: str) -> None:
    """Call native code that is to stop at the same access, with the same values."""
    (kernel,) = build_kernels([checked], target_of(0))
    try:
        kernel(*args)
        found = "nothing"
    except IRKitError as error:
        found = error.message
    if found.removeprefix(f"{checked.name}: ") != wanted.removeprefix(_STOPPED):
        why = f"native code says {found}, the interpreter {wanted}"
        raise WrongSample("broken", why, instrument_bounds.name)


def _with_checks(case: LoopCase) -> list[Step]:
    """Lower with checks; return None if they are there already, or not allowed."""
    try:
        pipeline = case.sample.pipeline.insert(instrument_bounds, after=_AFTER)
    except IRKitError:
        return []
    return list(pipeline.steps(case.scheduled, verify=False))


def _func(program: object) -> PrimFunc:
    assert isinstance(program, PrimFunc)
    return program


def _why_stopped(func: PrimFunc, args: list[object]) -> str:
    """Return why a function stops, or None if it ends."""
    try:
        InterpretedFunction(func)(*args, max_steps=_MAX_STEPS)
    except IRKitError as error:
        return error.message
    return ""


def _moved(func: PrimFunc, number: int) -> PrimFunc:
    """Move one index of one access, or the start of one view, by one or by the whole extent."""
    among = [
        node
        for node in walk(func.body, on=(Load, Store, View))
        if isinstance(node, View) or node.indices
    ]
    if not among:
        return func
    number, way = divmod(number, _MOVES)
    number, which = divmod(number, len(among))
    chosen = among[which]

    def moved(node: Load | Store | View) -> Node | None:
        if node is not chosen:
            return None
        if isinstance(node, View):
            return node.replace(offset=_by(node.offset, node.buffer.shape[:1], way))
        at = number % len(node.indices)
        there = _by(node.indices[at], node.buffer.shape[at : at + 1], way)
        return node.replace(indices=(*node.indices[:at], there, *node.indices[at + 1 :]))

    return rewrite(func, moved, on=(Load, Store, View))


def _by(index: Expr, extent: tuple[Expr, ...], way: int) -> Expr:
    one = const(1, index.dtype.element)
    size = convert(extent[0], index.dtype.element) if extent and way > 1 else one
    if index.dtype.lanes > 1:
        size = broadcast(size, index.dtype.lanes)
    return index - size if way % 2 else index + size
