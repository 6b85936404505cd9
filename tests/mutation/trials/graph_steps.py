"""Check each step of a model's lowering: its results, and its memory plan."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import Function, IRKitError, IRModule
from irkit.fuzz.judge.memory_plan import main_graph, overwritten, values_of
from irkit.graph import GraphFunc, TensorType, arrays_of, interpret
from irkit.ir import as_int, numpy_dtype
from irkit.transform import IR, Step

TOLERANCE = 1e-4
Array = NDArray[Any]


def check_graph_steps(steps: Iterable[Step], seed: int = 0) -> tuple[str, str]:
    """Find the first step on a module that changes results or plans memory wrongly: its name, and
    what is wrong; both are empty if there is none."""
    whole: IR | None = None
    expected: list[Array] = []
    for step in steps:
        if whole is None:
            whole = step.before
            whole = IRModule({"main": whole}) if isinstance(whole, Function) else whole
            expected = _results(whole, seed)
        whole = step.applied_to(whole)
        why = _wrong(whole, expected, seed) if step.changed else ""
        if why:
            return step.name, why
    return "", ""


def _wrong(whole: IR, expected: list[Array], seed: int) -> str:
    try:
        found = _results(whole, seed)
    except IRKitError as error:
        return str(error)
    if len(expected) != len(found) or not all(map(_close, expected, found)):
        return "the results differ"
    lost = overwritten(whole, values_of(whole, _inputs(main_graph(whole)[1], seed)))
    return f"{lost!r} is not in place when it is used" if lost else ""


def _close(a: Array, b: Array) -> bool:
    return a.shape == b.shape and np.allclose(a, b, TOLERANCE, TOLERANCE, equal_nan=True)


def _inputs(func: GraphFunc, seed: int) -> list[Array]:
    """Draw whole numbers, so that sums are exact in any order; open dimensions are 3."""
    rng = np.random.default_rng(seed)
    made: list[Array] = []
    for param in func.params:
        assert isinstance(param.type, TensorType)
        known = [as_int(extent) for extent in param.type.shape]
        shape = [3 if extent is None else extent for extent in known]
        made.append(rng.integers(-2, 3, size=shape).astype(numpy_dtype(param.type.dtype)))
    return made


def _results(whole: IR, seed: int) -> list[Array]:
    module, func = main_graph(whole)
    with np.errstate(all="ignore"):
        return list(arrays_of(interpret(module, _inputs(func, seed))))
