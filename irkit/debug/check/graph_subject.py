"""Checks of steps over graphs: run the graph in NumPy before and after.

Results must have the same bits. Those of a pass that declares that it changes rounding, as algebra
on weights does, may differ by a few rounding errors of the graph itself, which a run in f64
measures; a value that is not finite must stay the same.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from irkit.core import IRKitError, IRModule
from irkit.debug.check.comparison import is_useless
from irkit.debug.check.difference import Difference, compare, identical, is_float
from irkit.debug.check.precision import unit_of
from irkit.debug.execution.inputs import INPUT_KINDS, INTEGERS, SIZES, Array, dim_size, draw_values
from irkit.graph import GraphFunc, TensorType, arrays_of, interpret
from irkit.ir import Var
from irkit.transform import IR

ULPS = 16
OWN_ERRORS = 8
MAX_ELEMENTS = 1 << 24


def graph_of(ir: IR) -> GraphFunc | None:
    """Return the graph function that can be run: the one given, or ``main`` of a module."""
    found = ir.functions.get("main") if isinstance(ir, IRModule) else ir
    return found if isinstance(found, GraphFunc) else None


class GraphSubject:
    """A graph through its steps: inputs for its parameters, and the tolerance of each output."""

    def __init__(
        self, program: IR, given: Mapping[str, ArrayLike], dims: Mapping[str, int], seed: int
    ) -> None:
        func = graph_of(program)
        assert func is not None
        self.inputs = [
            _inputs(func, given, dims, np.random.default_rng((abs(seed), number)), number)
            for number in range(1 if given else 2)
        ]
        self.names = [f"output {number}" for number in range(len(self.results(program, 0)))]
        self.limits = [self._limits(program, number) for number in range(len(self.inputs))]

    def results(self, program: IR, number: int, precision: str | None = None) -> list[Array]:
        """Run on the inputs of a number.

        Raises: IRKitError.
        """
        assert isinstance(program, (GraphFunc, IRModule))
        with np.errstate(all="ignore"):
            result = interpret(program, self.inputs[number], precision=precision)
        return [np.asarray(array) for array in arrays_of(result)]

    def _limits(self, program: IR, number: int) -> list[Array | None]:
        own, true = self.results(program, number), self.results(program, number, "f64")
        return [
            _limit(array, value) if is_float(array) else None
            for array, value in zip(own, true, strict=True)
        ]

    def compare_step(
        self, before: IR, after: IR, *, changes_rounding: bool = False
    ) -> dict[str, Any]:
        """Compare the results before and after a step; return fields of a verdict."""
        made: dict[str, Any] = {"status": "same", "how": "NumPy", "basis": "tested"}
        made["tried"] = f"{len(self.inputs)} set{'s' if len(self.inputs) > 1 else ''} of inputs"
        worst = Difference()
        for number in range(len(self.inputs)):
            try:
                expected = self.results(before, number)
            except IRKitError as error:
                return {"status": "not known", "message": f"the input of the step fails: {error}"}
            try:
                found = self.results(after, number)
            except IRKitError as error:
                return {"status": "failed", "message": str(error)}
            inputs = f"{'given' if len(self.inputs) == 1 else INPUT_KINDS[number]} {number}"
            pairs = zip(self.names, expected, found, self.limits[number], strict=True)
            for name, a, b, bound in pairs:
                if identical(a, b):
                    continue
                limit = bound if changes_rounding else None
                if limit is not None and is_useless(a, limit):
                    message = f"rounding can explain any value of {name} on {inputs}"
                    return {"status": "not known", "message": message}
                made["status"] = "rounds differently"
                apart = compare(a, b, limit, zeros_have_signs=limit is None)
                if apart.at is not None:
                    where = {"error": apart, "buffer": name, "inputs": inputs}
                    return made | {"status": "differs", **where}
                worst = max(worst, apart, key=lambda each: each.abs)
        return made | {"error": worst}


def _limit(own: Array, true: Array) -> Array:
    with np.errstate(all="ignore"):
        apart = np.abs(own.astype(np.float64) - true)
        sizes = np.abs(true)
    errors, known = apart[np.isfinite(apart)], sizes[np.isfinite(sizes)]
    most = 2 * ULPS * unit_of(own) * (known.max() if known.size else 0.0)
    return np.full(own.shape, most + OWN_ERRORS * (errors.max() if errors.size else 0.0))


def _inputs(
    func: GraphFunc,
    given: Mapping[str, ArrayLike],
    dims: Mapping[str, int],
    rng: np.random.Generator,
    number: int,
) -> dict[str, Any]:
    sizes: dict[Var, int] = {}
    made: dict[str, Any] = {}
    for param in func.params:
        if not isinstance(param.type, TensorType):
            raise IRKitError(f"parameter {param.name!r} is not a tensor")
        for dim in param.type.shape:
            if isinstance(dim, Var) and dim not in sizes:
                sizes[dim] = dims.get(dim.name, SIZES[len(sizes) % len(SIZES)])
        if param.name in given:
            made[param.name] = np.asarray(given[param.name])
            continue
        shape = tuple(dim_size(dim, sizes) for dim in param.type.shape)
        if int(np.prod(shape, dtype=object)) > MAX_ELEMENTS:
            raise IRKitError(f"parameter {param.name!r} is too large for a check: {list(shape)}")
        made[param.name] = draw_values(
            param.type.dtype, shape, INPUT_KINDS[number], rng, INTEGERS[1]
        )
    return made
