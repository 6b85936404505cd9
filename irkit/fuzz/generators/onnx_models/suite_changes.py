"""Changes of a model of one operator: of its attributes, extents, types, inputs, and of the version
of the operator set. The result may be no legal model."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, helper

from irkit.frontend.onnx import SHAPE_INPUTS
from irkit.fuzz.generators.onnx_models.suite_cases import SuiteCase, attribute_values
from irkit.fuzz.generators.sample import Array
from irkit.fuzz.picks import Picks

_TYPES = ("float32", "float64", "float16", "int32", "int64", "int8", "uint8", "uint64", "bool")
_OF_INDICES = ("OneHot",)
"""Operators that have indices of floats, which onnx.reference does not make whole."""


class SuiteModel:
    """A model of one operator, and its inputs, which changes change."""

    def __init__(self, case: SuiteCase) -> None:
        self.case = case.name
        self.proto = onnx.ModelProto()
        self.proto.CopyFrom(case.model)
        self.arrays = dict(case.inputs)

    @property
    def node(self) -> onnx.NodeProto:
        return self.proto.graph.node[-1]

    @property
    def opset(self) -> int:
        own = self.node.domain
        versions = [each.version for each in self.proto.opset_import if each.domain == own]
        return versions[0] if versions else 0

    def set_array(self, name: str, array: Array) -> None:
        """Replace the array of an input, and the type of that."""
        self.arrays[name] = array
        info = next(each for each in self.proto.graph.input if each.name == name)
        info.CopyFrom(tensor_info(name, array))


def tensor_info(name: str, array: Array) -> Any:
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, kind, list(array.shape))


def largest_of(array: Array) -> float:
    """Return the largest magnitude of the finite numbers of an array."""
    with np.errstate(all="ignore"):
        values = np.abs(array.astype(np.float64)) if array.dtype.kind != "c" else np.abs(array)
        return float(np.max(values, initial=0.0, where=np.isfinite(values)))


def draw_floats(model: SuiteModel, picks: Picks) -> None:
    """Draw other floats of the same size. A single one can decide a shape, and stays."""
    if model.node.op_type in _OF_INDICES:
        return
    rng = np.random.default_rng(picks.below(1 << 16))
    whole = picks.below(2)
    shapes = SHAPE_INPUTS.get(model.node.op_type, ())
    steering = {model.node.input[at] for at in shapes if at < len(model.node.input)}
    for name, array in model.arrays.items():
        if (
            name not in steering
            and array.dtype.kind == "f"
            and array.size > 1
            and np.all(np.isfinite(array))
        ):
            high = max(2.0, largest_of(array))
            low = 0.0 if np.all(array >= 0) else -high
            drawn = rng.uniform(low, high, array.shape)
            model.arrays[name] = (np.round(drawn) if whole else drawn).astype(array.dtype)


def _integers(model: SuiteModel, picks: Picks) -> None:
    """Draw other integers within the same range; they can be indices, or decide a shape."""
    rng = np.random.default_rng(picks.below(1 << 16))
    for name, array in model.arrays.items():
        low, high = (
            (array.min(), array.max()) if array.size and array.dtype.kind in "iu" else (0, 0)
        )
        if low < high:
            drawn = rng.integers(int(low), int(high), array.shape, array.dtype, endpoint=True)
            model.arrays[name] = np.asarray(drawn)
        elif array.dtype.kind == "b" and array.size:
            model.arrays[name] = np.asarray(rng.integers(0, 2, array.shape) > 0)


def _attribute(model: SuiteModel, picks: Picks) -> None:
    """Change, add or leave out an attribute: the suite says which values it has elsewhere."""
    node = model.node
    pools = {name: pool for (op, name), pool in attribute_values().items() if op == node.op_type}
    if not pools:
        return
    name = picks.pick(sorted(pools))
    old = [each for each in node.attribute if each.name == name]
    for each in old:
        node.attribute.remove(each)
    if old and picks.one_in(4):
        return
    made = AttributeProto()
    made.CopyFrom(picks.pick([*pools[name], *old]))
    if made.type == AttributeProto.INT and picks.below(2):
        made.i = picks.pick((made.i + 1, made.i - 1, -made.i, 1 - made.i, 0))
    elif made.type == AttributeProto.INTS and made.ints and picks.below(2):
        at = picks.below(len(made.ints))
        made.ints[at] = picks.pick((made.ints[at] + 1, made.ints[at] - 1, 1, 2, 0))
    elif made.type == AttributeProto.FLOAT and picks.below(2):
        made.f = picks.pick((made.f * 0.5, -made.f, made.f + 1.0, 0.0))
    node.attribute.append(made)


def _extent(model: SuiteModel, picks: Picks) -> None:
    """Change an extent wherever it stands in the inputs."""
    sizes = sorted({size for array in model.arrays.values() for size in array.shape if size})
    if not sizes:
        return
    old = picks.pick(sizes)
    new = picks.pick((old + 1, 1, 2, 3, 5, max(old - 1, 1)))
    for name, array in list(model.arrays.items()):
        for axis, size in enumerate(array.shape):
            if size == old:
                array = np.take(array, range(new), axis=axis, mode="wrap")
        model.set_array(name, array)


def _one_extent(model: SuiteModel, picks: Picks) -> None:
    """Change one extent of one input: to 1, which broadcasts, or to one more or less."""
    name = picks.pick(list(model.arrays)) if model.arrays else ""
    array = model.arrays.get(name)
    if array is None or not array.ndim or not array.size:
        return
    axis = picks.below(array.ndim)
    new = picks.pick((1, array.shape[axis] + 1, max(array.shape[axis] - 1, 1), 2))
    model.set_array(name, np.take(array, range(new), axis=axis, mode="wrap"))


def _element_type(model: SuiteModel, picks: Picks) -> None:
    """Change the type of all inputs of a type."""
    types = sorted({array.dtype.name for array in model.arrays.values()})
    if not types:
        return
    old, new = picks.pick(types), np.dtype(picks.pick(_TYPES))
    for name, array in list(model.arrays.items()):
        if array.dtype.name == old:
            with np.errstate(all="ignore"):
                model.set_array(name, array.astype(new))


def _without_input(model: SuiteModel, picks: Picks) -> None:
    """Leave out an input, such as an optional one."""
    node = model.node
    used = [at for at, name in enumerate(node.input) if name in model.arrays]
    if not used:
        return
    at = picks.pick(used[::-1])
    name = node.input[at]
    node.input[at] = ""
    while node.input and not node.input[-1]:
        node.input.pop()
    if not any(name in each.input for each in model.proto.graph.node):
        _drop_input(model, name)


def _drop_input(model: SuiteModel, name: str) -> None:
    del model.arrays[name]
    kept = [info for info in model.proto.graph.input if info.name != name]
    del model.proto.graph.input[:]
    model.proto.graph.input.extend(kept)


def _fewer_outputs(model: SuiteModel, picks: Picks) -> None:
    """Leave out the last output, such as an optional one."""
    node, graph = model.node, model.proto.graph
    if len(node.output) > 1 and len(graph.output) == len(node.output):
        node.output.pop()
        graph.output.pop()


def _version(model: SuiteModel, picks: Picks) -> None:
    """Take an older version of the operator set; inputs that were attributes there become these
    again."""
    node = model.node
    if node.domain:
        return
    every: Any = onnx.defs.get_all_schemas_with_history()
    own = [each for each in every if (each.name, each.domain) == (node.op_type, "")]
    older = sorted(each.since_version for each in own if each.since_version < model.opset)
    if not older:
        return
    version = picks.pick(older[::-1])
    if picks.below(2):
        later = [each for each in (*older, model.opset) if each > version]
        version = later[0] - 1
    here = [entry for entry in model.proto.opset_import if not entry.domain]
    newest: Any = onnx.defs.get_schema(node.op_type, model.opset)
    old: Any = onnx.defs.get_schema(node.op_type, version)
    here[0].version = version
    names = [each.name for each in newest.inputs]
    for at in reversed(range(len(node.input))):
        name = names[at] if at < len(names) else ""
        array = model.arrays.get(node.input[at])
        if name in old.attributes and at >= len(old.inputs) and array is not None:
            if not array.size:
                return  # The type of an attribute is that of its numbers.
            wants_list = str(old.attributes[name].type).endswith("S")
            value: Any = (
                np.atleast_1d(array).tolist() if wants_list else array.reshape(-1)[0].item()
            )
            node.attribute.append(helper.make_attribute(name, value))
            _drop_input(model, node.input[at])
            del node.input[at]
    for attr in list(node.attribute):
        if attr.name not in old.attributes:
            node.attribute.remove(attr)


Change = Callable[[SuiteModel, Picks], None]
CHANGES: tuple[Change, ...] = (
    *(_attribute, _attribute, _attribute, _extent, _extent, _one_extent, _element_type),
    *(_version, _version, _without_input, _fewer_outputs, _integers),
)
