"""Every rule against finite differences in f64, away from kinks, and at ties as PyTorch decides."""

from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies as st

from irkit.core import IRKitError
from irkit.graph import (
    NOT_DIFFERENTIABLE,
    OPS,
    Builder,
    TensorType,
    TupleType,
    Value,
    gradient,
    interpret,
    tensor_type,
    verify,
)
from irkit.graph.differentiation.applied import AppliedOp, Rule
from irkit.graph.differentiation.table import RULES
from tests.graph.differentiation.finite_differences import assert_gradients
from tests.graph.differentiation.operator_cases import Array, Attrs, Case, cases

STEPS = ("floor", "ceil", "trunc", "round", "sign", "full", "full_like")
"""Their gradients are 0."""


def check(name: str, case: Case) -> None:
    """Compare the gradients of a weighted sum of the results with finite differences."""
    arrays, attrs = case
    floats = [at for at, array in enumerate(arrays) if array.dtype.kind == "f"]
    if not floats:
        return
    kinds = {"f": "f64", "i": "i64", "b": "bool"}
    b = Builder()
    params = [
        b.param(
            f"x{at}", array.shape, "i32" if array.dtype == np.int32 else kinds[array.dtype.kind]
        )
        for at, array in enumerate(arrays)
    ]
    y = first_of(b, b.op(name, *params, **attrs))
    assert isinstance(y.type, TensorType)
    shape = [int(getattr(extent, "value", 0)) for extent in y.type.shape]
    weights = np.random.default_rng(5).uniform(0.5, 1.5, shape)
    loss = b.op("sum", b.op("multiply", y, b.constant(weights)))
    func = b.finish(loss)
    derived = gradient(func, [f"x{at}" for at in floats])
    assert verify(derived) == []
    found = interpret(derived, arrays)
    several = found if isinstance(found, tuple) else (found,)

    def run(changed: list[Array]) -> float:
        result = OPS[name].evaluate(changed, attrs)
        return float(
            (np.asarray(result[0] if isinstance(result, tuple) else result) * weights).sum()
        )

    assert_gradients(run, arrays, dict(zip(floats, map(np.asarray, several), strict=True)))


def first_of(b: Builder, y: Value) -> Value:
    return b.item(y, 0) if isinstance(y.type, TupleType) else y


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_every_rule_agrees_with_finite_differences(name: str, data: st.DataObject) -> None:
    check(name, data.draw(cases(name)))


@pytest.mark.long
@pytest.mark.parametrize("name", RULES)
@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_every_rule_agrees_with_finite_differences_often(name: str, data: st.DataObject) -> None:
    check(name, data.draw(cases(name)))


def wrong_by_a_part(rule: Rule) -> Rule:
    def wrong(op: AppliedOp) -> Any:
        return [None if each is None else each * 1.001 for each in rule(op)]

    return wrong


def wrong_by_absence(rule: Rule) -> Rule:
    return lambda op: [None for _ in rule(op)]


@pytest.mark.parametrize("plant", [wrong_by_a_part, wrong_by_absence])
@pytest.mark.parametrize("name", [name for name in RULES if name not in STEPS])
def test_a_rule_that_is_wrong_by_a_thousandth_is_found(
    name: str, plant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RULES, name, plant(RULES[name]))

    once = {"phases": [Phase.generate], "report_multiple_bugs": False}

    @settings(max_examples=20, deadline=None, database=None, derandomize=True, **once)
    @given(cases(name))
    def found(case: Case) -> None:
        check(name, case)

    with pytest.raises(BaseException, match="by finite differences"):
        found()


def test_every_operator_has_a_rule_or_a_reason() -> None:
    assert RULES.keys() | NOT_DIFFERENTIABLE.keys() == OPS.keys()
    assert RULES.keys() & NOT_DIFFERENTIABLE.keys() == set()
    assert all(NOT_DIFFERENTIABLE.values())


def takes_floats(name: str) -> bool:
    """Return True if an operator returns floats of floats, for some types of its arguments."""
    spec = OPS[name]
    matrix, vector = tensor_type((2, 2)), tensor_type((2,))
    for args in ([matrix] * len(spec.args), [tensor_type((1, 2, 3)), tensor_type((2, 2, 1))],
                 [matrix, *[vector] * (len(spec.args) - 1)]):  # fmt: skip
        for attrs in ({}, {"axis": 0}, {"dtype": "f32"}):
            try:
                found = spec.infer(args, attrs)
            except IRKitError:
                continue
            if isinstance(found, TensorType) and found.dtype.is_float:
                return True
    return False


def test_the_reasons_are_true() -> None:
    # What a pass makes of other operators is made after their gradients are taken.
    others = [name for name, why in NOT_DIFFERENTIABLE.items() if "makes it, after" not in why]
    assert [name for name in others if takes_floats(name)] == []


def derived(name: str, *arrays: list[float], **attrs: Any) -> list[list[float]]:
    """Return the gradients of the sum of the results."""
    b = Builder()
    given = [np.array(array) for array in arrays]
    params = [b.param(f"x{at}", array.shape, "f64") for at, array in enumerate(given)]
    func = b.finish(b.op("sum", first_of(b, b.op(name, *params, **attrs))))
    found = interpret(gradient(func), given)
    return [np.asarray(each).tolist() for each in (found if isinstance(found, tuple) else (found,))]


TIES: list[tuple[str, list[list[Any]], Attrs, list[list[Any]]]] = [
    ("relu", [[-1, 0, 2]], {}, [[0, 0, 1]]),
    ("abs", [[-1, 0, 2]], {}, [[-1, 0, 1]]),
    ("maximum", [[1, 2, 3], [1, 1, 4]], {}, [[0.5, 1, 0], [0.5, 0, 1]]),
    ("minimum", [[1, 2, 3], [1, 1, 4]], {}, [[0.5, 0, 1], [0.5, 1, 0]]),
    ("max", [[[1, 3, 3], [2, 0, 1]]], {"axes": (1,)}, [[[0, 0.5, 0.5], [1, 0, 0]]]),
    ("min", [[1, 0, 0, 0]], {}, [[0, 1 / 3, 1 / 3, 1 / 3]]),
    ("max_pool", [[[[1, 1, 1, 0]]]], {"kernel": (2,), "strides": (2,)}, [[[[1, 0, 1, 0]]]]),
    ("max_pool", [[[[2, 2, 2]]]], {"kernel": (2,)}, [[[[1, 1, 0]]]]),
    ("prod", [[0, 2, 3]], {}, [[6, 0, 0]]),
    ("prod", [[0, 0, 3]], {}, [[0, 0, 0]]),
    ("power", [[0, 0, 2], [0, 2, 0]], {}, [[0, 0, 0], [0, 0, np.log(2)]]),
    ("round", [[0.5, 1.0]], {}, [[0, 0]]),
    ("sqrt", [[0.0]], {}, [[np.inf]]),
]


@pytest.mark.parametrize(("name", "arrays", "attrs", "want"), TIES)
def test_ties_and_kinks_are_as_in_torch(
    name: str, arrays: list[list[float]], attrs: Attrs, want: list[list[float]]
) -> None:
    arrays = [np.array(each, np.float64).tolist() for each in arrays]
    assert derived(name, *arrays, **attrs) == want


TORCH: dict[str, Any] = {
    "relu": lambda t, x: t.relu(x), "abs": lambda t, x: t.abs(x),
    "maximum": lambda t, x, y: t.maximum(x, y), "minimum": lambda t, x, y: t.minimum(x, y),
    "max": lambda t, x: t.amax(x, 1), "min": lambda t, x: t.amin(x, 0),
    "max_pool": lambda t, x: x, "prod": lambda t, x: t.prod(x),
    "power": lambda t, x, y: t.pow(x, y), "round": lambda t, x: t.round(x),
    "sqrt": lambda t, x: t.sqrt(x),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("name", "arrays", "attrs", "want"), TIES)
def test_torch_decides_the_ties_so(
    name: str, arrays: list[Any], attrs: Attrs, want: list[Any]
) -> None:
    torch = pytest.importorskip("torch")
    given = [torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in arrays]
    if name == "max_pool":
        (kernel,) = attrs["kernel"]
        (stride,) = attrs.get("strides", (1,))
        found = torch.nn.functional.max_pool1d(given[0], kernel, stride)
    else:
        found = TORCH[name](torch, *given)
    found.sum().backward()
    assert [each.grad.tolist() for each in given] == want
