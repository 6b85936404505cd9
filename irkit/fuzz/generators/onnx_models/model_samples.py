"""Samples that are ONNX models, and what onnx.reference computes for them, also in f64.

The reference uses nothing of irkit. ``reference.onnx_reference`` avoids its faults: models of old
operator sets are converted first.
"""

from typing import Any

import numpy as np
import onnx
from onnx import helper

from irkit.debug import InputSet
from irkit.fuzz.generators.graphs.graph_samples import rung_of, tolerance_of
from irkit.fuzz.generators.onnx_models.forms import ONNX_FORMS
from irkit.fuzz.generators.onnx_models.operators import (
    FLOAT,
    INT32,
    ONNX_DRAWS,
    ROUNDING,
    ModelDraws,
    OnnxTensor,
)
from irkit.fuzz.generators.onnx_models.windows import PLAIN_OPERATORS
from irkit.fuzz.generators.reference.onnx_reference import reference_outputs
from irkit.fuzz.generators.sample import Array, Sample, Tolerance, Unusable
from irkit.fuzz.picks import Picks
from irkit.phases import GRAPH

_MOST_NODES = 4
# Converting a model to another operator set takes longer than everything else together.
_OPSETS = (15, 15, 13, 15, 11, 15, 9, 15, 12, 15, 14, 6, 8)
_IR_VERSION = 8
_EXACT = tuple(name for name in ONNX_DRAWS if name not in ROUNDING)


def draw_model(picks: Picks) -> Sample:
    """Draw a model of up to 4 nodes, as bytes, with inputs and expected outputs."""
    whole = bool(picks.below(2))
    model, ops = onnx_model(picks, whole=whole)
    arrays = {info.name: _array(info, picks, whole=whole) for info in model.graph.input}
    expected, allowed = model_results(model, arrays, whole=whole)
    name = "whole" if whole else "fractions"
    inputs = InputSet(name, rung_of(whole=whole), tuple(arrays.values()))
    opset = model.opset_import[0].version
    features = (*(f"onnx:{op}" for op in ops), f"opset:{opset}", f"rung:{name} model")
    return Sample(
        "onnx",
        model.SerializeToString(),
        GRAPH,
        inputs=(inputs,),
        expected=(expected,),
        allowed=(allowed,),
        features=features,
    )


def onnx_model(picks: Picks, *, whole: bool) -> tuple[onnx.ModelProto, tuple[str, ...]]:
    """Make a model, and list its operators."""
    m = ModelDraws(picks, picks.pick(_OPSETS), whole=whole)
    m.input(picks.pick((4, 2, 3, 1)), integers=picks.one_in(10))
    left, tries = 1 + picks.below(_MOST_NODES), 0
    names = _EXACT if whole else (*ROUNDING, *ONNX_DRAWS)
    ops = dict[str, None]()
    while left > 0 and tries < 5 * _MOST_NODES:
        tries += 1
        name = picks.pick(names)
        name, draw = picks.pick(ONNX_FORMS) if picks.one_in(12) else (name, ONNX_DRAWS[name])
        if draw(m, name) is not None:
            ops[name], left = None, left - 1
    if len(m.held) == len(m.inputs):
        raise Unusable("no operator fitted")
    outputs = _outputs(m, picks)
    graph = helper.make_graph(
        m.nodes,
        "main",
        [_info(each) for each in m.inputs],
        [*(helper.make_tensor_value_info(*each) for each in m.others), *map(_info, outputs)],
        m.weights,
    )
    imports = [helper.make_opsetid("", m.opset)]
    made = helper.make_model(graph, opset_imports=imports, ir_version=_IR_VERSION)
    return made, tuple(ops)


def _outputs(m: ModelDraws, picks: Picks) -> list[OnnxTensor]:
    """Pick the last value, most of those that nothing reads, and some others."""
    made = [each for each in m.held if each not in m.inputs]
    read = {name for node in m.nodes for name in node.input}
    others = [e for e in made[:-1] if picks.one_in(5) or (e.name not in read and picks.below(4))]
    return [*others, made[-1]]


def _info(tensor: OnnxTensor) -> Any:
    kind = INT32 if tensor.integers else FLOAT
    return helper.make_tensor_value_info(tensor.name, kind, list(tensor.shape))


def _array(info: Any, picks: Picks, *, whole: bool) -> Array:
    rng = np.random.default_rng(picks.below(1 << 16))
    kind = info.type.tensor_type
    shape = tuple(dim.dim_value for dim in kind.shape.dim)
    if kind.elem_type == INT32:
        return rng.integers(-3, 4, shape).astype(np.int32)
    if whole:
        return rng.integers(-3, 4, shape).astype(np.float32)
    return rng.uniform(-3, 3, shape).astype(np.float32)


def model_results(
    model: onnx.ModelProto, arrays: dict[str, Array], *, whole: bool
) -> tuple[tuple[Array, ...], tuple[Tolerance, ...]]:
    """Run a model with onnx.reference, and return its results with the tolerance of each."""
    wide = model_values(model, arrays)
    expected: list[Array] = []
    allowed: list[Tolerance] = []
    for info in model.graph.output:
        true = np.asarray(wide[info.name])
        kind = helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        expected.append(true.astype(kind))
        allowed.append(None if whole else tolerance_of(expected[-1], true))
    return tuple(expected), tuple(allowed)


def model_values(model: onnx.ModelProto, arrays: dict[str, Array]) -> dict[str, Array]:
    """Run a model with onnx.reference, floats in f64. Raises: Unusable if it cannot."""
    with np.errstate(all="ignore"):
        try:
            return reference_outputs(model, arrays, PLAIN_OPERATORS)
        except Exception as error:  # It raises errors of any type.
            raise Unusable(f"onnx.reference cannot compute it: {type(error).__name__}") from error
