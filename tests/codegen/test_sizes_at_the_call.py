"""The arithmetic on sizes that the executor does, against Python's integers."""

import ctypes
from typing import Any

import numpy as np
import pytest

from irkit.codegen import (
    SIZES,
    ExecutorPlan,
    SizeArithmetic,
    SizeStep,
    emit_executor,
    evaluate_sizes,
    host_target,
)
from irkit.core import IRKitError
from irkit.graph import Dimension
from irkit.ir import Var, floordiv, maximum, minimum
from irkit.runtime import Library, object_for

OPS: tuple[Any, ...] = ("+", "-", "*", "//", "min", "max", "extent", "check")
EDGES = (0, 1, 2, 3, 64, 2**31 - 1, 2**31)


def native(steps: list[SizeStep]) -> Any:
    plan = ExecutorPlan(
        (), (), (), 0, 0, (), dims=(Dimension("a"), Dimension("b")), sizes=tuple(steps)
    )
    library = Library([object_for(emit_executor(plan), host_target())], (SIZES,))
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(library.address(SIZES))

    def run(a: int, b: int) -> tuple[int, list[int]]:
        table = np.zeros(2 + len(steps), np.int64)
        table[:2] = a, b
        assert library is not None
        return call(table.ctypes.data), table[2:].tolist()

    return run


@pytest.mark.parametrize("seed", range(4))
def test_native_sizes_are_those_of_python(seed: int) -> None:
    random = np.random.default_rng(seed)
    names: list[int | str] = ["a", "b", "a", "b", 0, 1, -1, 3, 7, -(2**63), 2**40]
    steps: list[SizeStep] = []
    for number in range(24):
        a, b = (names[int(random.integers(len(names)))] for _ in range(2))
        op = OPS[int(random.integers(len(OPS)))]
        steps.append(SizeStep(f"n{number}", op, a, b, f"step {number}"))
        names.append(f"n{number}")
    # A step that refuses the call ends it: the steps before it are compared by leaving it out.
    while True:
        run = native(steps)
        refused = set[int]()
        for a in EDGES:
            for b in EDGES:
                status, found = run(a, b)
                done = steps if status == 0 else steps[: status - 1]
                wanted = evaluate_sizes(done, {"a": a, "b": b})
                assert found[: len(done)] == [wanted[step.name] for step in done]
                if status:
                    refused.add(status)
                    with pytest.raises(IRKitError, match=rf"^step {status - 1}( |$)"):
                        evaluate_sizes(steps[:status], {"a": a, "b": b})
        if not refused:
            return
        steps = steps[: min(refused) - 1]


def test_expressions_become_steps_and_are_computed_once() -> None:
    a, b = Var("a"), Var("b")
    sizes = SizeArithmetic({a: "a", b: "b"})
    expr = maximum(floordiv(a * 4 + b, 3), minimum(a, b) - 1)
    name = sizes.extent(expr, "x")
    assert sizes.extent(expr, "y") == name
    for first, second in ((0, 1), (5, 7), (100, 3)):
        found = evaluate_sizes(sizes.steps, {"a": first, "b": second})[str(name)]
        assert found == max((first * 4 + second) // 3, min(first, second) - 1)
    with pytest.raises(IRKitError, match="depends on 'c', which is no whole dimension"):
        sizes.number(Var("c") + 1, "y")


def test_an_extent_that_would_be_negative_says_whose_it_is() -> None:
    a = Var("a")
    sizes = SizeArithmetic({a: "a"})
    sizes.extent(a - 3, "dimension 1 of 'y'")
    with pytest.raises(IRKitError, match="dimension 1 of 'y' would be -2"):
        evaluate_sizes(sizes.steps, {"a": 1})
