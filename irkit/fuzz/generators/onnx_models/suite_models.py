"""Samples made of the node cases of ONNX's suite: with other values, and with other attributes,
extents, types, inputs or versions of the operator set.

What the suite does not say of a changed model, onnx.reference does. If the checker of ONNX refuses
it, or the reference does, it is a damaged file: irkit must refuse it, or mean what it says.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.inliner import inline_selected_functions
from onnx.reference import ReferenceEvaluator

from irkit.core import IRKitError
from irkit.debug import InputSet
from irkit.frontend.onnx import import_onnx, shape_values
from irkit.fuzz.generators.graphs.graph_samples import rung_of
from irkit.fuzz.generators.onnx_models.suite_cases import SuiteCase, suite_cases
from irkit.fuzz.generators.onnx_models.suite_changes import (
    CHANGES,
    SuiteModel,
    draw_floats,
    largest_of,
    tensor_info,
)
from irkit.fuzz.generators.reference.onnx_reference import CORRECTED
from irkit.fuzz.generators.sample import Array, Sample, Tolerance
from irkit.fuzz.picks import Picks
from irkit.ir import bits_of
from irkit.phases import GRAPH
from irkit.processes import ChildDied, Limits, run_in_fork

_LIMITS = Limits(seconds=10.0)
_TRIES = 4
_MOST = 4_000
_UNITS = {"float16": 16 * 2.0**-11, "float32": 256 * 2.0**-24, "float64": 4096 * 2.0**-53}
"""Error of each type, as a share of the largest number of the inputs or of the output."""
_OLD_REFERENCES = {"Softmax": 13, "LogSoftmax": 13, "Hardmax": 13, "BatchNormalization": 14}
"""Operators that onnx.reference computes otherwise than the standard says before this version."""
_NOT_CHANGED = ("DynamicQuantizeLinear", "SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss")
"""Operators that onnx.reference computes otherwise than the standard says, for zeros only, and
those whose labels must be classes, or the one that is ignored."""
_UNDERFLOWS = ("LogSoftmax", "SoftmaxCrossEntropyLoss")
"""Operators of which onnx.reference takes the logarithm of a probability, which may be 0 then."""
_WITH_FUNCTIONS = ("Attention",)
"""Operators with options that onnx.reference may take otherwise than the standard's function."""
_QUANTIZED = ("QuantizeLinear", "DynamicQuantizeLinear", "QLinearMatMul", "QLinearConv")
"""Operators that round to whole numbers what they computed: it can be one more or less."""


def draw_suite_model(picks: Picks) -> Sample:
    """Draw a case of an operator with other values, and in half of the samples other in form."""
    case = _any_case(picks)
    if picks.below(2) and case.operator not in _NOT_CHANGED:
        for _ in range(_TRIES):
            sample = _changed_sample(case, picks)
            if sample is not None and not sample.damaged:
                return sample
    model = SuiteModel(case)
    expected: Sequence[Array] | None = case.outputs
    if picks.below(3):
        draw_floats(model, picks)
        expected = _reference(model)
    if expected is None or not is_settled(model, expected):
        model, expected = SuiteModel(case), case.outputs
    return _sample(model, expected, ())


def draw_illegal_model(picks: Picks) -> Sample | None:
    """Draw a case that was changed into what ONNX does not allow, as a damaged file; return None if
    some changes led to none."""
    case = _any_case(picks)
    for _ in range(2 * _TRIES):
        sample = _changed_sample(case, picks)
        if sample is not None and sample.damaged:
            return sample
    return None


def _any_case(picks: Picks) -> SuiteCase:
    cases = suite_cases()
    # Operators with many options have many cases; those with few must not be lost among them.
    if not picks.below(2):
        return picks.pick(cases[picks.pick(list(cases))])
    return picks.pick([case for own in cases.values() for case in own])


def _changed_sample(case: SuiteCase, picks: Picks) -> Sample | None:
    """Change the form of a case, and return a damaged file if it is no legal model; return None if
    it says nothing."""
    model, names = SuiteModel(case), list[str]()
    for _ in range(1 + picks.below(2)):
        change = picks.pick(CHANGES)
        change(model, picks)
        names.append(change.__name__.strip("_").replace("_", " "))
    if picks.below(2):
        draw_floats(model, picks)
    features = tuple(f"changed:{name}" for name in dict.fromkeys(names))
    if model.opset < _OLD_REFERENCES.get(case.operator, 0):
        return None
    expected = _reference(model)
    if expected is None or not _is_valid(model):
        data = model.proto.SerializeToString()
        return Sample("onnx", data, GRAPH, features=features, damaged=True)
    if sum(array.size for array in expected) > _MOST or not is_settled(model, expected):
        return None
    sample = _sample(model, expected, features)
    try:
        import_onnx(sample.ir)  # pyright: ignore[reportArgumentType]
    except IRKitError:
        return None
    return sample


def _sample(model: SuiteModel, expected: Sequence[Array], features: tuple[str, ...]) -> Sample:
    """Make a sample whose inputs that decide a shape are initializers."""
    try:
        fixed = shape_values(model.proto, model.arrays)
    except IRKitError:  # Judging it says why.
        fixed = {}
    graph = model.proto.graph
    kept = [info for info in graph.input if info.name not in fixed]
    for name in fixed:
        graph.initializer.append(numpy_helper.from_array(model.arrays[name], name))
    del graph.input[:]
    graph.input.extend(kept)
    if features:  # The shapes of outputs may be others.
        infos = [tensor_info(info.name, a) for info, a in zip(graph.output, expected, strict=True)]
        del graph.output[:]
        graph.output.extend(infos)
    arrays = [model.arrays[info.name] for info in kept]
    largest = _largest_input(model)
    allowed = tuple(_tolerance(array, largest, model.node.op_type) for array in expected)
    names = (f"onnx:{model.node.op_type}", f"opset:{model.opset}", *features)
    return Sample(
        "onnx",
        model.proto.SerializeToString(),
        GRAPH,
        inputs=(InputSet("suite", rung_of(whole=False), tuple(arrays)),),
        expected=(tuple(expected),),
        allowed=(allowed,),
        features=names,
        may_be_refused=bool(features),
    )


def _tolerance(array: Array, largest: float, operator: str) -> Tolerance:
    share = _UNITS.get(array.dtype.name)
    if share is None and (array.dtype.kind in "iub" or bits_of(array) is not array):
        return np.ones(array.shape) if operator in _QUANTIZED else None
    share = share or 16 * 2.0**-8  # bf16
    return np.full(array.shape, share * max(largest, largest_of(array), 1.0))


@cache
def _is_inferred(case: str) -> bool:
    """Return True if inference has no complaint about a case of the suite as it is."""
    found = next(each for cases in suite_cases().values() for each in cases if each.name == case)
    try:
        onnx.shape_inference.infer_shapes(found.model, strict_mode=True)
    except Exception:  # It raises errors of any type.
        return False
    return True


def _is_valid(model: SuiteModel) -> bool:
    """Return True if ONNX's inference and checker accept a model, and its operator each type."""
    proto = model.proto
    node = proto.graph.node[-1]
    try:
        schema: Any = onnx.defs.get_schema(node.op_type, model.opset, node.domain)
    except onnx.defs.SchemaError:
        return False
    for at, name in enumerate(node.input):
        formal = schema.inputs[min(at, len(schema.inputs) - 1)]
        if name in model.arrays and _type_text(model.arrays[name]) not in formal.types:
            return False
    made = onnx.ModelProto()
    made.CopyFrom(proto)
    for info in made.graph.output:
        info.type.tensor_type.ClearField("shape")
    strict = _is_inferred(model.case)

    def work() -> bytes:
        try:
            inferred = onnx.shape_inference.infer_shapes(made, strict_mode=strict)
            onnx.checker.check_model(inferred)  # pyright: ignore[reportUnknownMemberType]
        except Exception:  # It raises errors of any type.
            return b""
        return b"valid"

    try:
        return bool(run_in_fork(work, _LIMITS))
    except ChildDied:  # Inference reads beyond lists that are too short.
        return False


def _type_text(array: Array) -> str:
    """Return the type of an array as schemas write it."""
    kind = helper.tensor_dtype_to_string(helper.np_dtype_to_tensor_dtype(array.dtype))
    return f"tensor({kind.partition('.')[2].lower()})"


def _reference(model: SuiteModel) -> Sequence[Array] | None:
    """Run a model with onnx.reference; return None if it cannot."""
    arrays = _run(model.proto, model.arrays)
    if arrays is not None and model.node.op_type in _UNDERFLOWS:
        return arrays if all(np.isfinite(each).all() for each in arrays) else None
    return arrays


def _run(proto: onnx.ModelProto, inputs: dict[str, Array]) -> list[Array] | None:
    with np.errstate(all="ignore"):
        try:
            run = cast(
                Callable[..., list[Any]], ReferenceEvaluator(proto, new_ops=[*CORRECTED]).run
            )
            found = run(None, inputs)
        except Exception:  # It raises errors of any type.
            return None
    if any(isinstance(each, (list, dict)) or each is None for each in found):
        return None
    return [np.asarray(each) for each in found]


def is_settled(model: SuiteModel, expected: Sequence[Array]) -> bool:
    """Return True if the standard says what a model computes, and onnx.reference means the same.

    Where the standard gives a function for the operator, the function must compute the same.
    """
    if not _is_stated(model):
        return False
    operator = model.node.op_type
    if operator not in _WITH_FUNCTIONS:
        return True
    try:
        inlined = inline_selected_functions(
            model.proto, [(model.node.domain, operator)], inline_schema_functions=True
        )
    except RuntimeError:  # It cannot tell the type of an input that has none.
        return False
    others = _run(inlined, model.arrays)
    return others is not None and all(
        np.allclose(each, other, rtol=0, atol=_limit(model, each), equal_nan=True)
        for each, other in zip(expected, others, strict=True)
    )


def _limit(model: SuiteModel, array: Array) -> float:
    limits = _tolerance(array, _largest_input(model), model.node.op_type)
    return 0.0 if limits is None else float(np.max(limits, initial=0.0))


def _largest_input(model: SuiteModel) -> float:
    return max((largest_of(array) for array in model.arrays.values()), default=0.0)


def _is_stated(model: SuiteModel) -> bool:
    """Return False for what the standard does not allow or does not state, and no checker sees."""
    inputs = [model.arrays[name] for name in model.node.input if name in model.arrays]
    attributes = {each.name: helper.get_attribute_value(each) for each in model.node.attribute}
    match model.node.op_type:
        case "Resize":
            return not attributes.get("exclude_outside") or attributes.get("mode") == b"cubic"
        case "ReverseSequence":
            extent = inputs[0].shape[attributes.get("time_axis", 0)]
            return bool(np.all((inputs[1] >= 1) & (inputs[1] <= extent)))
        case "Attention":  # Nothing says which steps of a softmax in 16 bits are rounded.
            kinds = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
            return attributes.get("softmax_precision", kinds[0]) in kinds
        case "QuantizeLinear":
            return bool(np.isfinite(inputs[0].astype(np.float64)).all())
        case _:
            return True
