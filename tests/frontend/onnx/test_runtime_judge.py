"""ONNX Runtime agrees with the expected outputs of node cases, but for those that are listed."""

from importlib.util import find_spec

import numpy as np
import pytest

from irkit.fuzz.generators.onnx_models.suite_cases import refused_cases
from tests.frontend.onnx import runtime_judge
from tests.frontend.onnx.node_cases import node_cases


def test_what_is_listed_are_cases() -> None:
    assert runtime_judge.listed() <= {case.name for case in node_cases()}


def test_a_wrong_output_is_noticed() -> None:
    (case,) = (case for case in node_cases() if case.name == "test_abs")
    ((_, (want,)),) = case.data
    right = np.asarray(want)
    assert not runtime_judge.disagrees(case, [[right]])
    assert runtime_judge.disagrees(case, [[right + 1]])
    assert runtime_judge.disagrees(case, [[right.astype(np.float64)]])


@pytest.mark.long
@pytest.mark.skipif(not find_spec("onnxruntime"), reason="needs onnxruntime: the extra networks")
def test_onnx_runtime_agrees_with_every_case_but_those_listed() -> None:
    ran, wrong = runtime_judge.judged(node_cases())
    assert ran > 1200
    assert wrong == runtime_judge.listed()
    # What irkit refuses needs no second judge.
    assert wrong - set(refused_cases())
