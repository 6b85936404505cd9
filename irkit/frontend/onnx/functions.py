"""Function bodies of operators: those of a model, and those that ONNX defines."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import onnx

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.frontend.onnx.schemas import defaults_of, domain_of, opsets_of, schema_of
from irkit.graph import TensorType, Value
from irkit.ir import as_int, numpy_dtype


class FunctionBody(msgspec.Struct, frozen=True):
    """The body of a function, whose nodes may refer to attributes of the call."""

    proto: onnx.FunctionProto
    opsets: Mapping[str, int]
    defaults: Mapping[str, onnx.AttributeProto]

    @property
    def inputs(self) -> list[str]:
        return list(self.proto.input)

    @property
    def outputs(self) -> list[str]:
        return list(self.proto.output)

    def nodes_for(self, call: onnx.NodeProto) -> list[onnx.NodeProto]:
        """Return the nodes with the attributes of a call."""
        given = {**self.defaults, **{attr.name: attr for attr in call.attribute}}
        return [_with_attributes(node, given) for node in self.proto.node]


def _with_attributes(
    node: onnx.NodeProto, given: Mapping[str, onnx.AttributeProto]
) -> onnx.NodeProto:
    """Replace references to attributes of a call; one that the call leaves out is dropped."""
    made = onnx.NodeProto()
    made.CopyFrom(node)
    del made.attribute[:]
    for attr in node.attribute:
        value = given.get(attr.ref_attr_name) if attr.ref_attr_name else attr
        if value is None:
            continue
        kept = made.attribute.add()
        kept.CopyFrom(value)
        kept.name = attr.name
        if kept.type == onnx.AttributeProto.GRAPH:
            inner = [_with_attributes(each, given) for each in kept.g.node]
            del kept.g.node[:]
            kept.g.node.extend(inner)
    return made


class Functions:
    """The functions of a model, and the function bodies of standard operators."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._local = {
            (domain_of(each), each.name, each.overload): _of_model(each) for each in model.functions
        }
        self.expanded = 0
        """Nodes that were put in place of calls and loops so far."""

    def local(self, node: onnx.NodeProto) -> FunctionBody | None:
        """Return the function of the model that a node calls."""
        return self._local.get((domain_of(node), node.op_type, node.overload))

    def standard(self, node: OnnxNode, opsets: Mapping[str, int]) -> FunctionBody | None:
        """Return the function body of an operator for the inputs of a node."""
        schema = schema_of(node.proto, opsets)
        if schema is None:
            return None
        if schema.has_function:
            return _of_schema(schema, schema.function_body, opsets)
        if not schema.has_context_dependent_function:
            return None
        version = max(
            each
            for each in schema.context_dependent_function_opset_versions
            if each <= opsets[domain_of(node.proto)]
        )
        types = [_type_proto(value).SerializeToString() for value in node.inputs]
        data = schema.get_context_dependent_function_with_opset_version(
            version, node.proto.SerializeToString(), types
        )
        if not data:
            return None
        return _of_schema(schema, onnx.FunctionProto.FromString(data), opsets)


def has_body(node: onnx.NodeProto, opsets: Mapping[str, int]) -> bool:
    """Return True if ONNX defines an operator by a function body, at least for some inputs."""
    schema = schema_of(node, opsets)
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def body_of(node: onnx.NodeProto, opsets: Mapping[str, int]) -> FunctionBody | None:
    """Return the function body of an operator if it is the same for all inputs."""
    schema = schema_of(node, opsets)
    if schema is None or not schema.has_function:
        return None
    return _of_schema(schema, schema.function_body, opsets)


def _of_model(proto: onnx.FunctionProto) -> FunctionBody:
    defaults = {attr.name: attr for attr in proto.attribute_proto}
    return FunctionBody(proto, opsets_of(proto.opset_import), defaults)


def _of_schema(schema: Any, proto: onnx.FunctionProto, opsets: Mapping[str, int]) -> FunctionBody:
    # A body imports the version it was written for; without, it is that of its caller.
    return FunctionBody(proto, {**opsets, **opsets_of(proto.opset_import)}, defaults_of(schema))


def _type_proto(value: Value | None) -> onnx.TypeProto:
    """Return the type of an input as ONNX has it; one that was left out has none."""
    if value is None or not isinstance(value.type, TensorType):
        return onnx.TypeProto()
    shape: Sequence[int | None] = [as_int(dim) for dim in value.type.shape]
    kind = onnx.helper.np_dtype_to_tensor_dtype(numpy_dtype(value.type.dtype))
    return onnx.helper.make_tensor_type_proto(kind, shape)
