"""The conversion of nodes in order, with the names of one graph or of one function."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import onnx
from numpy.typing import NDArray

from irkit.core import IRKitError, ShapeError, Span
from irkit.frontend.onnx.control_flow.operators import CONTROL_FLOW
from irkit.frontend.onnx.convert import CONVERTERS, SHAPE_INPUTS
from irkit.frontend.onnx.convert.data_dependent import prefixes
from irkit.frontend.onnx.functions import FunctionBody, Functions
from irkit.frontend.onnx.known import KnownArrays
from irkit.frontend.onnx.limits import MAX_EXPANDED, MAX_FUNCTION_DEPTH, MAX_INPUTS
from irkit.frontend.onnx.model_checks import UnsupportedModel, check_supported, converter_name
from irkit.frontend.onnx.model_parts import cycle_through
from irkit.frontend.onnx.narrow_types import widened
from irkit.frontend.onnx.onnx_node import (
    Counted,
    DataDependent,
    ImportFailed,
    OnnxNode,
    UnknownShape,
    to_array,
)
from irkit.frontend.onnx.schemas import (
    defaults_of,
    domain_of,
    schema_of,
    type_problem,
    unknown_part,
)
from irkit.frontend.onnx.user_converters import user_converter
from irkit.graph import Builder, Value
from irkit.ir import from_numpy

_PLACE = re.compile(r"\((output .*, )?opset \d+\)$", re.DOTALL)
Scope = dict[str, Value | None]


class CutOutput(msgspec.Struct, frozen=True, eq=False):
    """A value of which only the first elements along an axis count, as many as ``count`` says."""

    name: str
    axis: int
    count: Value
    node: str


class NodeWalk:
    """Convert nodes one after another; ``scope`` holds the values that they can name.

    A name whose value is None is an input of a function that was left out.
    """

    def __init__(
        self,
        builder: Builder,
        known: KnownArrays,
        opsets: Mapping[str, int],
        functions: Functions,
        dims: Mapping[str, Sequence[str]],
        depth: int = 0,
    ) -> None:
        self.builder = builder
        self.known = known
        self.opsets = opsets
        self.functions = functions
        self.dims = dims
        self.depth = depth
        self.scope: Scope = {}
        self.counted: frozenset[str] | None = None
        """Nodes whose outputs the caller cuts; None if the model does it itself."""
        self.cuts: list[CutOutput] = []
        self.is_symbolic = False
        """Whether the caller named dimensions that stay open."""

    def convert(self, protos: Iterable[onnx.NodeProto]) -> None:
        """Convert nodes, and add their outputs to the scope."""
        nodes = list(protos)
        if self.depth:
            self.functions.expanded += len(nodes)
            if self.functions.expanded > MAX_EXPANDED:
                raise ImportFailed(f"functions and loops expand to more than {MAX_EXPANDED} nodes")
        for proto in nodes:
            self._node(proto, nodes)

    def result(self, name: str, what: str) -> Value:
        """Return a value that must be in the scope."""
        value = self.scope.get(name)
        if value is None:
            raise ImportFailed(f"no node defines output {name!r} of the {what}")
        return value

    def run_graph(self, graph: onnx.GraphProto, inputs: Sequence[Value]) -> list[Value]:
        """Convert a graph that is an attribute, for these inputs; it sees the names around it."""
        return self._run(graph, inputs, self.builder)

    def run_aside(self, graph: onnx.GraphProto) -> tuple[Builder, list[Value]]:
        """Convert a graph that is an attribute and has no inputs, in a body of its own."""
        builder = self.builder.inner()
        return builder, self._run(graph, [], builder)

    def run_inside(
        self, graph: onnx.GraphProto, inputs: Sequence[Value], builder: Builder
    ) -> list[Value]:
        """Convert a graph that is an attribute, in a body that has these inputs."""
        return self._run(graph, inputs, builder)

    def _run(
        self, graph: onnx.GraphProto, inputs: Sequence[Value], builder: Builder
    ) -> list[Value]:
        if self.depth >= MAX_FUNCTION_DEPTH:
            raise ImportFailed(f"graphs are nested more than {MAX_FUNCTION_DEPTH} deep")
        if len(graph.input) != len(inputs):
            raise ImportFailed(
                f"a graph takes {len(graph.input)} inputs, and is given {len(inputs)}"
            )
        inner = self._inner(self.opsets, builder)
        inner.scope = {
            **self.scope,
            **dict(zip((i.name for i in graph.input), inputs, strict=True)),
        }
        for tensor in graph.initializer:
            inner.constant(tensor.name, to_array(tensor, "initializer"))
        try:
            inner.convert(graph.node)
        except UnknownShape as error:
            error.value = error.value if error.value in self.scope else ""
            raise
        return [inner.result(info.name, "graph") for info in graph.output]

    def _inner(self, opsets: Mapping[str, int], builder: Builder) -> "NodeWalk":
        """Return the walk of a graph or function inside this one."""
        made = NodeWalk(
            builder,
            self.known,
            opsets,
            self.functions,
            self.dims,
            self.depth + 1,
        )
        made.counted = None if self.counted is None else frozenset()
        return made

    def constant(self, name: str, array: NDArray[np.generic]) -> None:
        """Add a constant to the scope."""
        array, narrow = widened(array)
        from_numpy(array.dtype)
        value = self.builder.constant(array, name=name, span=Span("onnx", name))
        self.scope[name] = value
        self.known[value] = array
        if narrow is not None:
            self.known.narrow[value] = narrow

    def _node(self, proto: onnx.NodeProto, nodes: Sequence[onnx.NodeProto]) -> None:
        try:
            self._convert(proto, nodes)
        except UnsupportedModel:
            raise
        except IRKitError as error:
            if _PLACE.search(error.message) is None:  # An inner node is the closer place.
                error.message += self._place(proto)
            raise

    def _place(self, proto: onnx.NodeProto) -> str:
        """Return the output of a node, unless it has no other name, and the opset."""
        output = next((name for name in proto.output if name), "")
        named = f"output {output!r}, " if proto.name and output else ""
        return f" ({named}opset {self.opsets.get(domain_of(proto), 0)})"

    def _convert(self, proto: onnx.NodeProto, nodes: Sequence[onnx.NodeProto]) -> None:
        name = converter_name(proto)
        schema = schema_of(proto, self.opsets)
        function = self.functions.local(proto)
        own = name in CONVERTERS or name in CONTROL_FLOW
        users = None if function or own else user_converter(proto, self.opsets)
        node = OnnxNode(
            proto,
            version=schema.since_version if schema else users.since if users else 0,
            defaults={} if schema is None else defaults_of(schema),
            inputs=[self._operand(proto, each, nodes) for each in proto.input],
            builder=self.builder,
            known=self.known,
            shape_inputs=users.shape_inputs if users else SHAPE_INPUTS.get(name, ()),
            is_one_program=self.counted is None,
        )
        if len(proto.input) > MAX_INPUTS:
            raise node.fail(f"it has {len(proto.input)} inputs; up to {MAX_INPUTS} are supported")
        unknown = "" if function else unknown_part(proto, self.opsets)
        if unknown:
            raise node.fail(f"{unknown} does not exist at version {node.version} of its operator")
        if schema is not None and function is None and users is None:
            types = [node.type_name(at) for at in range(len(node.inputs))]
            problem = type_problem(schema, proto.input, types)
            if problem:
                raise node.fail(problem)
        if users is not None:
            outputs = users.convert(node)
        elif function is None and own:
            outputs = self._converted(node, name)
        else:
            body = function or self.functions.standard(node, self.opsets)
            outputs = self._expanded(node, body)
        for at, output in enumerate(proto.output):
            if output:
                value = outputs[at] if at < len(outputs) else None
                if value is None:
                    raise node.fail(f"output {at} ({output!r}) is not supported")
                self._define(output, value, node)

    def _converted(self, node: OnnxNode, name: str) -> Sequence[Value | None]:
        try:
            flow = CONTROL_FLOW.get(name)
            result: Any = flow(node, self) if flow else CONVERTERS[name](node)
            if isinstance(result, Counted):
                return self._counted(node, result)
        except ImportFailed:
            raise
        except IRKitError as error:
            hint = (isinstance(error, ShapeError) and self._remedy()) or error.hint
            named = error.message.startswith(node.title)
            message = error.message if named else f"{node.title}: {error.message}"
            raise type(error)(message, hint=hint, span=node.span) from error
        except (ArithmeticError, LookupError, ValueError) as error:
            # Such as the second dimension of a tensor that has one.
            raise node.fail(f"its inputs and attributes do not fit together: {error}") from error
        return (result,) if isinstance(result, Value) else result

    def _counted(self, node: OnnxNode, found: Counted) -> Sequence[Value | None]:
        """Return outputs of which the first elements count: cut if their number is known, as they
        are if the caller cuts them."""
        axes = [*zip(found.outputs, found.axes, strict=True)]
        count = self.known.get(found.count)
        if count is not None:
            end = int(count.reshape(-1)[0])
            return [value and _first(node, value, axis, end) for value, axis in axes]
        if self.counted is None:
            return prefixes(node, found)
        if node.label not in self.counted:
            raise data_dependent(node)
        for name, (value, axis) in zip(node.outputs, axes, strict=False):
            if value is not None and name and axis is not None:
                self.cuts.append(CutOutput(name, axis, found.count, node.title))
        return found.outputs

    def _expanded(self, node: OnnxNode, function: FunctionBody | None) -> Sequence[Value | None]:
        """Convert the body of a function in place of a node."""
        if function is None:
            raise node.fail("its operator has no function body for these inputs")
        if self.depth >= MAX_FUNCTION_DEPTH:
            raise node.fail(f"functions are nested more than {MAX_FUNCTION_DEPTH} deep")
        inner = self._inner(function.opsets, self.builder)
        given = [*node.inputs, *[None] * len(function.inputs)]
        inner.scope = dict(zip(function.inputs, given, strict=False))
        nodes = function.nodes_for(node.proto)
        check_supported(nodes, function.opsets, self.functions)
        try:
            inner.convert(nodes)
        except IRKitError as error:
            if isinstance(error, UnknownShape):
                outer = dict(zip(function.inputs, node.proto.input, strict=False))
                error.value = outer.get(error.value, "")
            error.message = f"{node.title}: in its function body, {error.message}"
            error.span = node.span
            raise
        wanted = [node.wants(at) for at in range(len(function.outputs))]
        return [
            inner.result(name, "function") if wants else None
            for name, wants in zip(function.outputs, wanted, strict=True)
        ]

    def _remedy(self) -> str:
        """Return a hint how to fix the symbolic dimensions, or "" without any."""
        if not self.dims:
            return ""
        names = dict.fromkeys(name for each in self.dims.values() for name in each)
        inputs = ", ".join(f"{name!r}: (...)" for name in names)
        options = " ".join(f"--shape {name}=..." for name in names)
        remedy = f"Fix {', '.join(self.dims)} on import: shapes={{{inputs}}}, or {options}."
        if not self.is_symbolic:
            return remedy
        name = list(self.dims)[-1]
        return f"{remedy[:-1]}; or say how large it can be: '{name} in 1..512'."

    def _define(self, name: str, value: Value, node: OnnxNode) -> None:
        if name in self.scope:
            raise node.fail(f"{name!r} is defined twice")
        self.scope[name] = value

    def _operand(
        self, proto: onnx.NodeProto, name: str, nodes: Sequence[onnx.NodeProto]
    ) -> Value | None:
        if not name:
            return None
        if name not in self.scope:
            title = f"{proto.op_type} node {proto.name or ','.join(proto.output)!r}"
            cycle = cycle_through(proto, name, nodes)
            if cycle:
                raise ImportFailed(f"the graph has a cycle: {title} reads {cycle}")
            later = any(name in node.output for node in nodes)
            raise ImportFailed(
                f"{title} reads {name!r}, which nothing before it defines",
                hint="A later node does: nodes must be in order of execution." if later else "",
            )
        return self.scope[name]


def _first(node: OnnxNode, value: Value, axis: int | None, end: int) -> Value:
    if axis is None:
        return value
    return node.op("slice", value, begins=(0,), ends=(end,), strides=(1,), axes=(axis,))


def data_dependent(node: OnnxNode) -> DataDependent:
    """Return the error that a node gives where its outputs cannot be cut."""
    error = DataDependent(
        f"{node.title}: the size of its outputs depends on data",
        hint="irkit.compile runs such a model in two parts.",
        span=node.span,
    )
    error.outputs = tuple(name for name in node.outputs if name)
    return error
