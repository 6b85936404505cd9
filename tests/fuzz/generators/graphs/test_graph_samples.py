"""Random graphs are valid, and compute what NumPy computes."""

from typing import Any

import numpy as np

from irkit.core import IRModule
from irkit.debug import compare
from irkit.fuzz.generators import Sample
from irkit.fuzz.judge.models import module_of
from irkit.graph import GraphFunc, arrays_of, interpret, verify
from tests.fuzz.generators.schedules.test_schedule_samples import draw_samples


def test_a_graph_is_valid_and_computes_what_is_expected() -> None:
    for sample in draw_samples("graphs", 120):
        assert isinstance(sample.ir, (GraphFunc, IRModule))
        assert verify(sample.ir) == []
        with np.errstate(all="ignore"):
            found = list(arrays_of(interpret(sample.ir, list(sample.inputs[0].args))))
        expected = sample.expected[0]
        assert expected is not None
        assert all(a.dtype == b.dtype for a, b in zip(found, expected, strict=True))


def test_a_graph_lowered_to_kernels_computes_the_same() -> None:
    for number, sample in enumerate(draw_samples("graphs", 16)):
        module = sample.pipeline.run(module_of(sample))
        with np.errstate(all="ignore"):
            found = list(arrays_of(interpret(module, list(sample.inputs[0].args))))
        for wanted, array, limit in zip(
            sample.expected[0] or (), found, sample.allowed[0], strict=True
        ):
            assert compare(wanted, array, limit, zeros_have_signs=False).at is None, number


def test_graphs_have_branches_functions_nested_lets_and_unknown_extents() -> None:
    samples = draw_samples("graphs", 150)
    features = {feature for sample in samples for feature in sample.features}
    assert {f"step:{name}" for name in ("GraphIf", "Lambda", "Apply", "Body", "Tuple")} <= features
    assert "extent:symbolic" in features
    for sample in samples:
        assert isinstance(sample.ir, (GraphFunc, IRModule))
        results = [np.asarray(each) for each in arrays_of(interpret(sample.ir, _args(sample)))]
        assert sample.expected[0] is not None
        for found, wanted in zip(results, sample.expected[0], strict=True):
            np.testing.assert_array_equal(found, wanted)


def _args(sample: Sample) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(each) for each in sample.inputs[0].args]
