"""The cases of ONNX's suite in f16, bf16 and f64, against the same model in f64.

Each case with inputs of f32 is written anew with another type of floats, where its operators allow
that, and compared with what ONNX's evaluator computes in f64 from the same rounded inputs.
"""

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator

from irkit.core import IRKitError
from irkit.fuzz.generators.onnx_models.suite_cases import refused_cases
from tests.draws import few_or_all, sampled
from tests.frontend.onnx.node_cases import NodeCase, Prepare, interpreted, native, node_cases

TYPES: dict[str, tuple[int, Any]] = {
    "f16": (TensorProto.FLOAT16, np.float16),
    "bf16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16),
    "f64": (TensorProto.DOUBLE, np.float64),
}
ERRORS = {"f16": 8 * 2.0**-11, "bf16": 8 * 2.0**-8, "f64": 2.0**-20}
"""Largest error as a part of the largest element. Attributes are f32, and some functions of ONNX's
evaluator compute in it, so no more can be said of f64 here."""
EXCUSED = (
    "test_quantizelinear_int16",  # A quotient near a half, in a wider type than the operator's.
    "test_quantizelinear_uint16",
    *("test_training_dropout", "test_bernoulli"),  # They draw random numbers.
)


def rewritten(model: onnx.ModelProto, kind: str) -> onnx.ModelProto:
    """Return a model with another type of floats instead of f32."""
    number, dtype = TYPES[kind]
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for info in (*made.graph.input, *made.graph.output, *made.graph.value_info):
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = number
    attributes = [attr for node in made.graph.node for attr in node.attribute]
    held = [attr.t for attr in attributes if attr.type == onnx.AttributeProto.TENSOR]
    for tensor in (*made.graph.initializer, *held):
        if tensor.data_type == TensorProto.FLOAT:
            with np.errstate(over="ignore"):
                array = numpy_helper.to_array(tensor).astype(dtype)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return made


def candidates() -> list[NodeCase]:
    left_out = set(refused_cases())
    return [
        case
        for case in node_cases()
        if case.name not in left_out
        and not case.name.startswith(EXCUSED)
        and "_expanded" not in case.name
    ]


def cases(kind: str, every: int = 1) -> Iterator[tuple[NodeCase, onnx.ModelProto, dict[str, Any]]]:
    """Yield those of each ``every``-th case that exist in a type, with their inputs rounded to
    it."""
    for case in candidates()[::every]:
        arrays = [
            numpy_helper.to_array(each) if isinstance(each, onnx.TensorProto) else each
            for each in case.data[0][0]
        ]
        floats = [each for each in arrays if getattr(each, "dtype", None) == np.float32]
        if not floats or any(attr.name == "to" for n in case.nodes for attr in n.attribute):
            continue
        model = rewritten(case.model, kind)
        try:
            onnx.checker.check_model(model, full_check=True)
        except Exception:  # Its operator has no such type: the library raises many kinds.
            continue
        names = [info.name for info in case.model.graph.input]
        dtype = TYPES[kind][1]
        with np.errstate(over="ignore"):  # What is too large is infinite in both.
            low = [a.astype(dtype) if a.dtype == np.float32 else a for a in arrays]
        yield case, model, dict(zip(names, low, strict=True))


def wrong_cases(kind: str, prepare: Prepare, every: int = 1) -> tuple[int, list[str]]:
    """Return how many cases were compared, and which of them are wrong."""
    count, wrong = 0, list[str]()
    for case, model, feeds in cases(kind, every):
        try:
            found = prepare(model).run(feeds).values()
        except IRKitError as error:
            wrong.append(f"{case.name}: {error}")
            continue
        dtype = TYPES[kind][1]
        wide = {n: a.astype(np.float64) if a.dtype == dtype else a for n, a in feeds.items()}
        try:
            with np.errstate(all="ignore"):
                expected = ReferenceEvaluator(rewritten(case.model, "f64")).run(None, wide)
        except Exception:  # ONNX's evaluator does not compute each of its own cases in f64.
            continue
        count += 1
        pairs = zip(found, map(np.asarray, expected), strict=True)
        wrong += [case.name for a, b in pairs if not is_near(a, b, ERRORS[kind])]
    return count, wrong


def is_near(found: Any, expected: Any, error: float) -> bool:
    """Return True if arrays differ by at most a part of the largest element."""
    a, b = found.astype(np.float64), expected.astype(np.float64)
    if a.shape != b.shape or not np.array_equal(np.isnan(a), np.isnan(b)):
        return False
    if found.dtype.kind in "iub":
        return np.array_equal(a, b)
    finite = np.isfinite(a) & np.isfinite(b)
    if not finite.any():
        return True
    apart = np.abs(a[finite] - b[finite]).max()
    return bool(apart <= error * max(np.abs(b[finite]).max(), 1e-30))


@pytest.mark.parametrize("kind", sampled(TYPES, every=2))
def test_operators_in_other_floats_are_as_exact_as_these_are(kind: str) -> None:
    count, wrong = wrong_cases(kind, interpreted, every=few_or_all(54, 9))
    assert wrong == []
    assert count > few_or_all(10, 60)


@pytest.mark.long
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("prepare", [interpreted, native], ids=["interpreted", "native"])
def test_all_operators_in_other_floats(kind: str, prepare: Prepare) -> None:
    count, wrong = wrong_cases(kind, prepare)
    assert wrong == []
    assert count > 600
