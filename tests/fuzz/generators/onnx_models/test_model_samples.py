"""Random ONNX models are imported, and compute what onnx.reference computes."""

from contextlib import suppress

import numpy as np
import onnx

from irkit.debug import compare
from irkit.frontend.onnx import import_onnx
from irkit.fuzz import Unusable, picks_of
from irkit.fuzz.generators import Sample
from irkit.fuzz.generators.onnx_models.model_samples import draw_model
from irkit.graph import GraphFunc, arrays_of, interpret


def drawn(count: int) -> list[Sample]:
    """Draw models; what some numbers draw is not usable."""
    found: list[Sample] = []
    for number in range(count):
        with suppress(Unusable):
            found.append(draw_model(picks_of(number)))
    assert len(found) >= 0.97 * count
    return found


def test_a_model_is_imported_and_computes_what_onnx_computes() -> None:
    for number, sample in enumerate(drawn(40)):
        assert isinstance(sample.ir, bytes)
        func = import_onnx(onnx.load_from_string(sample.ir))["main"]
        assert isinstance(func, GraphFunc)
        with np.errstate(all="ignore"):
            found = list(arrays_of(interpret(func, list(sample.inputs[0].args))))
        for wanted, array, limit in zip(
            sample.expected[0] or (), found, sample.allowed[0], strict=True
        ):
            assert compare(wanted, array, limit, zeros_have_signs=False).at is None, number


def test_models_have_nodes_of_several_results_and_old_operator_sets() -> None:
    samples = drawn(120)
    models = [onnx.load_from_string(s.ir) for s in samples if isinstance(s.ir, bytes)]
    several = {node.op_type for m in models for node in m.graph.node if len(node.output) > 1}
    assert {"MaxPool", "Dropout", "BatchNormalization"} <= several
    assert {m.opset_import[0].version for m in models} >= {6, 8, 9, 11, 12, 13, 14, 15}
    made_by = [{name for node in m.graph.node for name in node.output} for m in models]
    assert any(
        len({each.name for each in m.graph.output} & made) > 2
        for m, made in zip(models, made_by, strict=True)
    )
