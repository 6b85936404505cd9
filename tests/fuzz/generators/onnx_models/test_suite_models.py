"""Samples made of ONNX's own suite are the same for the same number, right, and find bugs."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from irkit.frontend.onnx import CONVERTERS, DATA_DEPENDENT
from irkit.fuzz.generators import Sample
from irkit.fuzz.generators.onnx_models.suite_cases import SuiteCase, refused_cases, suite_cases
from irkit.fuzz.generators.onnx_models.suite_changes import SuiteModel, tensor_info
from irkit.fuzz.generators.onnx_models.suite_models import (
    draw_illegal_model,
    draw_suite_model,
    is_settled,
)
from irkit.fuzz.judge import Outcome, judge
from irkit.fuzz.picks import beginning_with, picks_of
from tests.draws import few_or_all


def operator_of(sample: Sample) -> str:
    assert isinstance(sample.ir, bytes)
    return onnx.ModelProto.FromString(sample.ir).graph.node[-1].op_type


def judged(number: int, *, native: bool) -> Outcome:
    return judge(draw_suite_model(picks_of(number)), native=native)


def test_nearly_every_operator_has_a_case() -> None:
    # The suite has no cases of some operators, and those of sequences are no tensors.
    others = ("ai.onnx.ml.", "com.microsoft.", "Optional", "Sequence")
    names = {name for name in CONVERTERS if not name.startswith(others)} - DATA_DEPENDENT
    without = {name.rpartition(".")[2] for name in names} - set(suite_cases())
    assert without == {"GlobalLpPool", "ConcatFromSequence", "SplitToSequence"}
    assert not {case.name for cases in suite_cases().values() for case in cases} & set(
        refused_cases()
    )


def test_a_number_draws_the_same_model_and_arrays() -> None:
    for number in range(few_or_all(5, 20)):
        one, other = (draw_suite_model(picks_of(number)) for _ in range(2))
        assert one.ir == other.ir
        for a, b in zip(one.inputs, other.inputs, strict=True):
            assert all(
                np.array_equal(x, y, equal_nan=True) for x, y in zip(a.args, b.args, strict=True)
            )


@pytest.mark.long
def test_samples_are_of_many_operators_and_changed_in_every_way() -> None:
    samples = [draw_suite_model(picks_of(number)) for number in range(few_or_all(100, 250))]
    assert len({operator_of(sample) for sample in samples}) > few_or_all(50, 90)
    changes = {each for sample in samples for each in sample.features if each[:7] == "changed"}
    assert len(changes) >= few_or_all(6, 8)
    assert any(sample.may_be_refused for sample in samples)
    assert not any(sample.damaged for sample in samples)


def test_models_that_onnx_does_not_allow_are_refused_or_mean_what_they_say() -> None:
    count = few_or_all(12, 30)
    drawn = [draw_illegal_model(picks_of(number)) for number in range(count)]
    samples = [sample for sample in drawn if sample is not None]
    assert len(samples) > count * 2 // 3
    outcomes = [judge(sample) for sample in samples]
    assert all(outcome.ok for outcome in outcomes)
    assert sum(outcome.fate == "refused" for outcome in outcomes) > count // 3


@pytest.mark.parametrize("native", [False, True])
def test_samples_are_right(native: bool) -> None:
    for number in range(few_or_all(5, 15) if native else few_or_all(12, 50)):
        found = judged(number, native=native)
        assert found.ok, (number, found.message)


@pytest.mark.parametrize(("name", "by"), [("Floor", "Ceil"), ("ReduceMax", "ReduceMin")])
def test_a_wrong_converter_is_found(name: str, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CONVERTERS, name, CONVERTERS[by])
    own = [0, list(suite_cases()).index(name)]
    drawn = (draw_suite_model(beginning_with(own, picks_of(number))) for number in range(6))
    assert any(judge(sample, native=False).is_finding for sample in drawn)


FLOATS = np.linspace(-2, 2, 24, dtype=np.float32).reshape(1, 2, 3, 4)
SIZES = np.array([1, 2, 6, 8], np.int64)
NONE = np.zeros(0, np.float32)
LENGTHS = np.array([1, 2, 3, 3])
SETTLED = [
    ("Resize", [FLOATS, NONE, NONE, SIZES], {"mode": "nearest"}),
    ("ReverseSequence", [FLOATS[0, 0], LENGTHS], {}),
    ("QuantizeLinear", [FLOATS, np.float32(0.1), np.uint8(3)], {}),
    ("Attention", [FLOATS] * 3, {}),
]
OPEN = [
    ("Resize", [FLOATS, NONE, NONE, SIZES], {"mode": "nearest", "exclude_outside": 1}),
    ("ReverseSequence", [FLOATS[0, 0], LENGTHS - 1], {}),
    ("QuantizeLinear", [FLOATS * np.float32("inf"), np.float32(0.1), np.uint8(3)], {}),
    ("Attention", [FLOATS] * 3, {"softmax_precision": onnx.TensorProto.FLOAT16}),
]


@pytest.mark.parametrize("case", [*SETTLED, *OPEN])
def test_what_the_standard_leaves_open_is_not_asked(case: tuple[str, list[Any], Any]) -> None:
    assert settled(*case) == any(case is each for each in SETTLED)


def test_an_operator_whose_function_computes_something_else_is_not_asked() -> None:
    assert settled("Attention", [FLOATS] * 3, {"scale": 0.5})
    assert not settled("Attention", [FLOATS] * 3, {"scale": 0.5}, factor=1.01)


def settled(
    operator: str, arrays: list[np.ndarray], options: dict[str, object], *, factor: float = 1
) -> bool:
    inputs = {f"x{at}": np.asarray(array) for at, array in enumerate(arrays)}
    names = [name if array.size else "" for name, array in inputs.items()]
    node = onnx.helper.make_node(operator, names, ["y"], **options)
    infos = [tensor_info(name, array) for name, array in inputs.items()]
    graph = onnx.helper.make_graph(
        [node], "one", infos, [onnx.helper.make_empty_tensor_value_info("y")]
    )
    proto = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 23)])
    model = SuiteModel(SuiteCase(operator, proto, inputs, ()))
    with np.errstate(all="ignore"):
        (expected,) = ReferenceEvaluator(proto).run(None, inputs)
    return is_settled(model, [expected * np.float32(factor) if factor != 1 else expected])
