"""Walk an ONNX graph and build the graph function it means, at the model's own operator
versions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray

from irkit.core import IRKitError, IRModule, Span
from irkit.frontend.onnx.context import ImportFailed, OnnxNode, to_array
from irkit.frontend.onnx.convert import CONVERTERS
from irkit.frontend.onnx.load import ModelLike, load_model, opset_of
from irkit.graph import Builder, TensorType, Value
from irkit.ir import Expr, Var, const, from_numpy
from irkit.ir.dtype import I64

Shapes = Mapping[str, Sequence[int]]


class UnsupportedModel(IRKitError):
    """A model that uses operators irkit does not have; ``operators`` lists all of them."""

    def __init__(self, operators: Sequence[tuple[str, int, str]]) -> None:
        self.operators = tuple(operators)
        lines = "".join(f"\n  {name}-{version}: node {node!r}" for name, version, node in operators)
        count = len({name for name, _, _ in operators})
        super().__init__(f"the model uses {count} operators that irkit does not support:{lines}")


def import_onnx(
    model: ModelLike,
    *,
    shapes: Shapes | None = None,
    values: Mapping[str, ArrayLike] | None = None,
) -> IRModule:
    """Import a model as an IRModule whose function ``main`` is the graph.

    ``shapes`` fixes the shapes of inputs, ``values`` fixes inputs altogether (they decide a shape,
    or never change).
    Inputs and outputs keep their names, in attributes ``inputs`` and ``outputs`` of the function.
    Raises: FormatError if the model is damaged; UnsupportedModel with all operators that are
    missing; ImportFailed, DTypeError
    or ShapeError for a node that makes no sense.
    """
    proto = load_model(model)
    opset = opset_of(proto)
    _check_supported(proto.graph, opset)
    return _Importer(proto, opset, shapes or {}, values or {}).run()


def _check_supported(graph: onnx.GraphProto, opset: int) -> None:
    missing: list[tuple[str, int, str]] = []
    for node in graph.node:
        standard = node.domain in ("", "ai.onnx")
        if not standard or node.op_type not in CONVERTERS:
            name = node.op_type if standard else f"{node.domain}.{node.op_type}"
            version = _version(node.op_type, opset) if standard else 0
            missing.append((name, version, node.name or ",".join(node.output)))
    if missing:
        raise UnsupportedModel(missing)


def _version(op_type: str, opset: int) -> int:
    """Find the version in which an operator last changed at or before ``opset``."""
    try:
        return int(onnx.defs.get_schema(op_type, opset, "").since_version)
    except onnx.defs.SchemaError:
        return opset


class _Importer:
    def __init__(
        self, proto: onnx.ModelProto, opset: int, shapes: Shapes, values: Mapping[str, ArrayLike]
    ) -> None:
        self.graph = proto.graph
        self.opset = opset
        self.shapes = shapes
        self.values = values
        self.builder = Builder("main")
        self.scope: dict[str, Value] = {}
        self.known: dict[Value, NDArray[np.generic]] = {}
        self.dims: dict[str, Var] = {}

    def run(self) -> IRModule:
        initializers = {each.name for each in self.graph.initializer}
        inputs = [info for info in self.graph.input if info.name not in initializers]
        self._check_names({info.name for info in inputs})
        for info in inputs:
            self._input(info)
        for tensor in self.graph.initializer:
            self._constant(tensor.name, to_array(tensor, "initializer"))
        for proto in self.graph.node:
            self._node(proto)
        results = [self._result(info.name) for info in self.graph.output]
        func = self.builder.finish(
            *results,
            inputs=tuple(info.name for info in inputs if info.name not in self.values),
            outputs=tuple(info.name for info in self.graph.output),
        )
        return IRModule({"main": func})

    def _check_names(self, inputs: set[str]) -> None:
        for what, given in (("shapes", self.shapes), ("values", self.values)):
            unknown = sorted(set(given) - inputs)
            if unknown:
                raise IRKitError(
                    f"{what} names {unknown[0]!r}, which is no input of the model; "
                    f"its inputs are: {', '.join(sorted(inputs)) or 'none'}"
                )

    def _input(self, info: onnx.ValueInfoProto) -> None:
        if not info.type.HasField("tensor_type"):
            raise ImportFailed(f"input {info.name!r} is no tensor; only tensors are supported")
        tensor = info.type.tensor_type
        try:
            dtype = from_numpy(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)))
        except (KeyError, TypeError) as error:
            name = onnx.TensorProto.DataType.Name(tensor.elem_type)
            raise ImportFailed(f"input {info.name!r} has unsupported type {name}") from error
        if info.name in self.values:
            self._constant(info.name, np.asarray(self.values[info.name]))
            return
        shape = self._shape(info.name, tensor)
        self.scope[info.name] = self.builder.param(info.name, TensorType(shape, dtype))

    def _shape(self, name: str, tensor: onnx.TypeProto.Tensor) -> tuple[Expr, ...]:
        dims = list(tensor.shape.dim)
        given = self.shapes.get(name)
        if given is not None:
            fits = not tensor.HasField("shape") or len(given) == len(dims)
            if not fits or any(
                not dim.dim_param and dim.HasField("dim_value") and dim.dim_value != want
                for dim, want in zip(dims, given, strict=False)
            ):
                was = tuple(dim.dim_param or dim.dim_value or "?" for dim in dims)
                raise IRKitError(
                    f"shapes gives input {name!r} shape {tuple(given)}, but it is {was}"
                )
            return tuple(const(int(dim), I64) for dim in given)
        if not tensor.HasField("shape"):
            raise ImportFailed(
                f"input {name!r} has no shape", hint=f"Give it one: shapes={{{name!r}: (...)}}."
            )
        return tuple(self._dim(dim, name, at) for at, dim in enumerate(dims))

    def _dim(self, dim: onnx.TensorShapeProto.Dimension, name: str, at: int) -> Expr:
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            return const(dim.dim_value, I64)
        key = dim.dim_param or f"{name}_{at}"
        return self.dims.setdefault(key, Var(key))

    def _constant(self, name: str, array: NDArray[np.generic]) -> None:
        from_numpy(array.dtype)
        value = self.builder.constant(array, name=name, span=Span("onnx", name))
        self.scope[name] = value
        self.known[value] = array

    def _node(self, proto: onnx.NodeProto) -> None:
        node = OnnxNode(
            proto,
            version=_version(proto.op_type, self.opset),
            inputs=[self._operand(proto, name) for name in proto.input],
            builder=self.builder,
            known=self.known,
        )
        try:
            result: Any = CONVERTERS[proto.op_type](node)
        except ImportFailed:
            raise
        except IRKitError as error:
            raise type(error)(
                f"{node.title}: {error.message}", hint=error.hint, span=node.span
            ) from error
        values: Sequence[Value | None] = (result,) if isinstance(result, Value) else result
        for name, value in zip(proto.output, values, strict=False):
            if name and value is not None:
                self._define(name, value, node)
        missing = [name for name in proto.output if name and name not in self.scope]
        if missing:
            raise node.fail(f"output {missing[0]!r} is not supported")

    def _define(self, name: str, value: Value, node: OnnxNode) -> None:
        if name in self.scope:
            raise node.fail(f"{name!r} is defined twice")
        self.scope[name] = value

    def _operand(self, proto: onnx.NodeProto, name: str) -> Value | None:
        if not name:
            return None
        if name not in self.scope:
            title = proto.name or ",".join(proto.output)
            raise ImportFailed(
                f"{proto.op_type} node {title!r} reads {name!r}, which nothing before it defines"
            )
        return self.scope[name]

    def _result(self, name: str) -> Value:
        if name not in self.scope:
            raise ImportFailed(f"output {name!r} of the model is defined nowhere")
        return self.scope[name]
