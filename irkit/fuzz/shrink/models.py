"""Make an ONNX model smaller: end it sooner, begin it later, and leave out nodes and attributes.

The result is a model again, so ``onnx.reference`` computes its expected results, as it did for the
whole. Names that a node reads inside of its own graphs (If, Loop, Scan) count as read by the node.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import msgspec
import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import helper, numpy_helper

from irkit.debug import Family, InputSet, all_moves
from irkit.fuzz.generators.onnx_models.model_samples import model_results, model_values
from irkit.fuzz.generators.sample import Array, Sample, Tolerance, Unusable

_OPSET = 15
# Without these, a node of an old operator set trains, or is one that onnx.reference refuses.
_KEPT = frozenset({"is_test", "broadcast"})
_GENEROUS = 16.0
Names: TypeAlias = Sequence[str]
Types: TypeAlias = dict[str, tuple[int, int]]
"""The element type and the rank of each value."""
Candidate: TypeAlias = tuple[onnx.ModelProto, Names, Names]
"""A model, the names of its results, and those of values to be given to it."""


def smaller_models(sample: Sample) -> list[Callable[[Sample], Sample | None]]:
    """List the ways to leave out a part of a model, mostly those that leave least first."""
    whole = _OriginalModel.of(sample)
    return [] if whole is None else [partial(_cut, whole, each) for each in _candidates(whole)]


MODEL_FAMILIES: tuple[Family[Sample], ...] = (
    Family("model", smaller_models, all_moves, together=False),
)


def _cut(whole: "_OriginalModel", candidate: Candidate, sample: Sample) -> Sample | None:
    small = _completed(candidate, whole)
    smaller = small is not None and _size(small) < _size(whole.model)
    return _sample_of(sample, small, whole) if small is not None and smaller else None


class _OriginalModel(msgspec.Struct, frozen=True, eq=False):
    """A model, its values for each set of inputs, their types, and which are always the same."""

    model: onnx.ModelProto
    values: list[dict[str, Array]]
    types: Types
    constant: frozenset[str]

    @classmethod
    def of(cls, sample: Sample) -> "_OriginalModel | None":
        if not isinstance(sample.ir, bytes) or sample.damaged:
            return None
        try:
            model = onnx.load_model_from_string(sample.ir)
        except DecodeError:
            return None
        # Where windows go beyond the end, ONNX infers other shapes than ONNX Runtime computes.
        if not _is_valid(model, shapes=False):
            return None
        known = onnx.shape_inference.infer_shapes(model).graph
        infos = (*known.input, *known.output, *known.value_info)
        types = {info.name: _type(info) for info in infos}
        names = [name for name in _made_by(model) if name in types]
        inputs = [info.name for info in model.graph.input]
        values: list[dict[str, Array]] = []
        for each in sample.inputs:
            args = dict(zip(inputs, map(np.asarray, each.args), strict=True))
            try:
                values.append({**args, **model_values(_ending_at(model, names, types), args)})
            except Unusable:
                return None
        return cls(model, values, types, _constant(model))

    def alike(self, a: str, b: str) -> bool:
        """Return True if two values are known to be of one type and shape."""
        known = self.values[0]
        if a not in known or b not in known or self.types[a] != self.types[b]:
            return False
        return known[a].shape == known[b].shape


def _candidates(whole: _OriginalModel) -> Iterator[Candidate]:
    model, constant = whole.model, whole.constant
    made, results = _made_by(model), [info.name for info in model.graph.output]
    for name in made:
        yield model, (name,), ()
    if len(results) > 1:
        for name in results:
            yield model, [each for each in results if each != name], ()
    folded = [name for name in made if name in constant and name not in results]
    if folded:
        yield model, results, folded
    for name in reversed(made):
        if name not in results:
            yield model, results, (name,)
    for at, node in enumerate(model.graph.node):
        for name in dict.fromkeys(node.input):
            if whole.alike(name, node.output[0]) and not set(node.output) & set(results):
                yield _bypassed(model, at, name), results, ()
    for at, node in enumerate(model.graph.node):
        for attribute in node.attribute:
            if attribute.name not in _KEPT:
                yield _without(model, at, attribute.name), results, ()
    if model.opset_import[0].version != _OPSET:
        newer = _copy(model)
        newer.opset_import[0].version = _OPSET
        yield newer, results, ()


def _completed(candidate: Candidate, whole: _OriginalModel) -> onnx.ModelProto | None:
    """Keep what the results need, and declare the inputs; return None if that is not a valid
    model."""
    model, results, given = candidate
    needed, nodes = set(results), list[onnx.NodeProto]()
    for node in reversed(model.graph.node):
        if needed & (set(node.output) - set(given)):
            nodes.append(node)
            needed.update(_read_by(node))
    if not nodes or not all(name in whole.types for name in (*results, *given)):
        return None
    made = _ending_at(model, results, whole.types)
    graph = made.graph
    _replace(graph.node, reversed(nodes))
    _replace(graph.initializer, [each for each in graph.initializer if each.name in needed])
    _replace(graph.input, [each for each in graph.input if each.name in needed])
    for name in given:
        if name in needed and name in whole.constant:
            graph.initializer.append(numpy_helper.from_array(_value(whole, 0, name), name))
        elif name in needed:
            shape = whole.values[0][name].shape
            info = helper.make_tensor_value_info(name, whole.types[name][0], shape)
            graph.input.append(info)
    return made if _is_valid(made) else None


def _is_valid(model: onnx.ModelProto, *, shapes: bool = True) -> bool:
    try:
        onnx.checker.check_model(model, full_check=shapes)  # pyright: ignore[reportUnknownMemberType]
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def _sample_of(sample: Sample, model: onnx.ModelProto, whole: _OriginalModel) -> Sample | None:
    """Make a sample of a model, if onnx.reference can compute its results.

    Tolerances are wider than those of the whole: nobody chose the numbers, and other rounding must
    not pass for the fault.
    """
    inputs, expected, allowed = list[InputSet](), list[Any](), list[Any]()
    for number, each in enumerate(sample.inputs):
        arrays = {info.name: _value(whole, number, info.name) for info in model.graph.input}
        exact = each.kind != "fractions"
        try:
            found, limits = model_results(model, arrays, whole=exact)
        except Unusable:
            return None
        if any(not each.size for each in found):
            return None  # A window that does not fit, which is refused.
        inputs.append(InputSet(each.name, each.kind, tuple(arrays.values())))
        expected.append(found)
        allowed.append(tuple(map(_widened, limits)))
    return msgspec.structs.replace(
        sample,
        ir=model.SerializeToString(),
        inputs=tuple(inputs),
        expected=tuple(expected),
        allowed=tuple(allowed),
    )


def _widened(limit: Tolerance) -> Tolerance:
    return None if limit is None else limit * _GENEROUS


def _value(whole: _OriginalModel, number: int, name: str) -> Array:
    dtype = helper.tensor_dtype_to_np_dtype(whole.types[name][0])
    return np.array(whole.values[number][name], dtype, order="C")


def _size(model: onnx.ModelProto) -> tuple[int, ...]:
    """Return the size of a model, the most important count first."""
    graph = model.graph
    attributes = sum(len(node.attribute) for node in graph.node)
    old = model.opset_import[0].version != _OPSET
    return len(graph.node), len(graph.output), attributes, len(graph.input), old


def _made_by(model: onnx.ModelProto) -> list[str]:
    return [name for node in model.graph.node for name in node.output if name]


def _read_by(node: onnx.NodeProto) -> set[str]:
    """List the names that a node reads, in nested graphs too."""
    found, waiting = set[str](), [node]
    while waiting:
        each = waiting.pop()
        found.update(each.input)
        for attr in each.attribute:
            for graph in (*attr.graphs, *((attr.g,) if attr.HasField("g") else ())):
                found.update(info.name for info in graph.output)
                waiting += graph.node
    return found - {""}


def _constant(model: onnx.ModelProto) -> frozenset[str]:
    """List the values that depend on no input."""
    found = {each.name for each in model.graph.initializer}
    for node in model.graph.node:
        if _read_by(node) <= found:
            found.update(node.output)
    return frozenset(found)


def _ending_at(model: onnx.ModelProto, results: Names, types: Types) -> onnx.ModelProto:
    made = _copy(model)
    kinds = [types[name] for name in results]
    infos = [_info(name, *kind) for name, kind in zip(results, kinds, strict=True)]
    _replace(made.graph.output, infos)
    del made.graph.value_info[:]
    return made


def _type(info: onnx.ValueInfoProto) -> tuple[int, int]:
    tensor = info.type.tensor_type
    return tensor.elem_type, len(tensor.shape.dim)


def _info(name: str, element: int, rank: int) -> onnx.ValueInfoProto:
    """Declare a value of any extents: those of the whole may differ."""
    return helper.make_tensor_value_info(name, element, [None] * rank)


def _bypassed(model: onnx.ModelProto, at: int, name: str) -> onnx.ModelProto:
    """Replace the first result of a node by one of its operands."""
    made = _copy(model)
    gone = made.graph.node[at].output[0]
    for node in made.graph.node:
        for place, each in enumerate(node.input):
            if each == gone:
                node.input[place] = name
    return made


def _without(model: onnx.ModelProto, at: int, name: str) -> onnx.ModelProto:
    made = _copy(model)
    node = made.graph.node[at]
    _replace(node.attribute, [attr for attr in node.attribute if attr.name != name])
    return made


def _copy(model: onnx.ModelProto) -> onnx.ModelProto:
    made = onnx.ModelProto()
    made.CopyFrom(model)
    return made


def _replace(field: Any, items: Any) -> None:
    kept = list(items)
    del field[:]
    field.extend(kept)
