"""Every node case of ONNX's own back-end suite: computed as the suite expects, or refused for the
reason that ``irkit/fuzz/generators/onnx_models/refused_node_cases.txt`` lists.

The interpreter runs all of them, native code some of each operator, and the others in the long run.
All data are given at the call, also the inputs that decide a shape.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx.helper import make_node

from irkit.frontend.onnx import CONVERTERS, shape_values
from irkit.fuzz.generators.onnx_models.suite_cases import refused_cases
from irkit.runtime import Model
from tests.draws import sampled
from tests.frontend.onnx import node_cases as suite
from tests.frontend.onnx.models import floats, model_of
from tests.shared.folder import once

PARTS = 16


@cache
def outcomes() -> dict[str, suite.Outcome]:
    return once("node-case-outcomes", judged_by_interpreter)


def judged_by_interpreter() -> dict[str, suite.Outcome]:
    return {case.name: suite.judge(case, suite.interpreted) for case in suite.node_cases()}


@cache
def accepted() -> list[suite.NodeCase]:
    return [case for case in suite.node_cases() if case.name not in refused_cases()]


@cache
def chosen() -> list[suite.NodeCase]:
    """Return the first case of each operator, and one of each second other kind of elements of it,
    without expanded functions."""
    first: dict[tuple[str, str], suite.NodeCase] = {}
    for case in accepted():
        if "_expanded" not in case.name:
            first.setdefault((suite.operator_of(case), suite.type_class(case)), case)
    seen: set[str] = set()
    found: list[suite.NodeCase] = []
    for number, ((operator, _), case) in enumerate(first.items()):
        if operator not in seen or number % 2:
            found.append(case)
        seen.add(operator)
    return found


def test_no_case_is_wrong_by_the_interpreter() -> None:
    wrong = {name: each.reason for name, each in outcomes().items() if each.status == "wrong"}
    assert wrong == {}


def test_cases_that_are_refused_are_listed_with_their_reasons() -> None:
    found = {name: each.reason for name, each in outcomes().items() if each.status == "refused"}
    assert found == refused_cases()


def judged_natively(cases: list[suite.NodeCase]) -> list[str]:
    judged = {case.name: suite.judge(case, suite.native) for case in cases}
    return [
        f"{name}: {each.status}: {each.reason}"
        for name, each in judged.items()
        if each.status in ("refused", "wrong")
    ]


@pytest.mark.parametrize("part", sampled(range(PARTS), every=8))
def test_native_code_computes_a_case_of_each_operator_and_type(part: int) -> None:
    assert judged_natively(chosen()[part::PARTS]) == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_native_code_computes_every_case(part: int) -> None:
    rest = [case for case in accepted() if case not in chosen()]
    assert judged_natively(rest[part::PARTS]) == []


def test_every_converter_is_used_by_an_accepted_case() -> None:
    used = {node.op_type for case in accepted() for node in case.nodes}
    missing = {name for name in CONVERTERS if name.rpartition(".")[2] not in used}
    # The suite has no cases of these; of ai.onnx.ml it has few, and sequences are mostly inputs or
    # outputs of the model.
    others = ("ai.onnx.ml.", "com.microsoft.", "Sequence", "ConcatFromSequence", "SplitToSequence")
    left = {name for name in missing if not name.startswith(others)}
    assert left == {"GlobalLpPool", "Optional"}


def test_the_suite_is_there() -> None:
    found = suite.node_cases()
    assert len(found) >= 1800
    assert len({case.name for case in found}) == len(found)
    statuses = [each.status for each in outcomes().values()]
    assert statuses.count("as is") >= 1600


def test_a_wrong_result_and_a_wrong_type_are_noticed() -> None:
    (case,) = [case for case in suite.node_cases() if case.name == "test_abs"]

    class Changed(Model):
        def __init__(self, change: Callable[[Any], Any]) -> None:
            self.change = change

        def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
            found = suite.interpreted(case.model).run(inputs)
            return {name: self.change(array) for name, array in found.items()}

    def almost(model: onnx.ModelProto) -> Model:
        return Changed(lambda found: found * found.dtype.type(1.01))

    def widened(model: onnx.ModelProto) -> Model:
        return Changed(lambda found: found.astype(np.float64))

    assert suite.judge(case, suite.interpreted).status == "as is"
    assert suite.judge(case, almost).status == "wrong"
    assert suite.judge(case, widened).status == "wrong"


def test_only_inputs_that_decide_a_shape_are_fixed() -> None:
    nodes = [
        make_node("Cast", ["n"], ["m"], to=TensorProto.INT64),
        make_node("Reshape", ["x", "m"], ["y"]),
    ]
    model = model_of(nodes, {"x": (2, 3), "n": (1,), "unused": (2,)}, ["y"], opset=13)
    feeds = {"x": floats(2, 3), "n": np.array([6], np.float32), "unused": floats(2)}
    assert list(shape_values(model, feeds)) == ["n"]
