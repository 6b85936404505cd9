"""From PyTorch's objects to plain data. This alone knows them, and only by what they offer: PyTorch
is imported by whoever made them."""

import math
import re
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.core import IRKitError
from irkit.frontend.torch.program import (
    NodeRef,
    SpecialFloat,
    TorchGraph,
    TorchInput,
    TorchNode,
    TorchOutput,
    TorchProgram,
    TorchTensor,
    TypeName,
)

_DTYPES = {
    "torch.float32": "f32", "torch.float64": "f64", "torch.float16": "f16",
    "torch.bfloat16": "bf16", "torch.int64": "i64", "torch.int32": "i32", "torch.int16": "i16",
    "torch.int8": "i8", "torch.uint8": "u8", "torch.bool": "bool",
}  # fmt: skip
_KINDS = {
    "PARAMETER": "parameter", "BUFFER": "buffer", "CONSTANT_TENSOR": "constant",
    "USER_INPUT": "user",
}  # fmt: skip


_NO_GRAPHS: Mapping[str, TorchGraph] = {}


def capture(exported: Any) -> TorchProgram:
    """Return a ``torch.export.ExportedProgram`` as plain data, decomposed to core operators.

    Raises: IRKitError for what has no place there, such as a type of elements.
    """
    with _views_as_reshapes(exported):
        exported = exported.run_decompositions()
    signature = exported.graph_signature
    values = {node.name: node.meta.get("val") for node in exported.graph.nodes}
    inputs = tuple(_input(spec, values) for spec in signature.input_specs)
    outputs = tuple(_output(spec) for spec in signature.output_specs)
    tensors = {**exported.state_dict, **exported.constants}
    arrays = {each.target: array_of(tensors[each.target]) for each in inputs if each.kind != "user"}
    ranges = {
        str(symbol): (int(bounds.lower), _upper(bounds.upper))
        for symbol, bounds in exported.range_constraints.items()
    }
    graphs = _graphs_of(exported.graph_module)
    nodes = tuple(nodes_of(exported.graph.nodes, graphs))
    return TorchProgram(inputs, nodes, outputs, ranges, arrays, graphs=graphs)


@contextmanager
def _views_as_reshapes(exported: Any) -> Generator[None, None, None]:
    """Make each ``view`` of a program a ``reshape`` for a while.

    They have one meaning, but a view also asks for strides, and PyTorch's decomposition of an
    operator before it, such as attention, can give others than the operator.
    """
    nodes = [
        node
        for module in exported.graph_module.modules()
        for node in getattr(getattr(module, "graph", None), "nodes", ())
        if str(node.target) == "aten.view.default"
    ]
    targets = [node.target for node in nodes]
    reshape = import_module("torch").ops.aten.reshape.default if nodes else None
    try:
        for node in nodes:
            node.target = reshape
        yield
    finally:
        for node, target in zip(nodes, targets, strict=True):
            node.target = target


def array_of(tensor: Any) -> NDArray[Any]:
    """Return a tensor as an array, which shares its memory where NumPy has the type."""
    plain = tensor.detach().cpu()
    if str(plain.dtype) == "torch.bfloat16":
        import ml_dtypes

        bits = plain.contiguous().view(import_module("torch").int16).numpy()
        return bits.view(ml_dtypes.bfloat16)
    return np.asarray(plain.numpy())


def dtype_name(dtype: Any) -> str:
    """Return irkit's name of an element type. Raises: IRKitError if irkit has none."""
    found = _DTYPES.get(str(dtype))
    if found is None:
        raise IRKitError(f"irkit has no element type {dtype}")
    return found


def tensor_type(value: Any) -> TorchTensor:
    """Return the type of a fake or real tensor."""
    return TorchTensor(tuple(_dim(each) for each in value.shape), dtype_name(value.dtype))


def nodes_of(
    nodes: Iterable[Any], graphs: Mapping[str, TorchGraph] = _NO_GRAPHS
) -> Iterable[TorchNode]:
    """Yield the operators of a graph; ``graphs`` are those inside, which are no operators.

    Raises: IRKitError for another graph, or a tensor, inside.
    """
    for node in nodes:
        if node.op == "get_attr" and node.name not in graphs:
            raise IRKitError(f"{node.name}: a graph or tensor inside the graph is not supported")
        if node.op != "call_function":
            continue
        file, line = _users_line(node.meta.get("stack_trace") or "")
        yield TorchNode(
            node.name,
            _target(node.target),
            [_argument(each) for each in node.args],
            {name: _argument(each) for name, each in node.kwargs.items()},
            _results(node.meta.get("val")),
            file,
            line,
        )


def _graphs_of(module: Any) -> dict[str, TorchGraph]:
    """Return the graphs that the nodes of a module name, by the names of these nodes."""
    found: dict[str, TorchGraph] = {}
    for node in module.graph.nodes:
        inner = getattr(module, str(node.target), None) if node.op == "get_attr" else None
        if hasattr(inner, "graph"):
            found[node.name] = _graph(inner)
    return found


def _graph(module: Any) -> TorchGraph:
    graphs = _graphs_of(module)
    nodes = list(module.graph.nodes)
    (output,) = (node.args[0] for node in nodes if node.op == "output")
    results = cast("list[Any]", output if isinstance(output, (list, tuple)) else [output])
    return TorchGraph(
        tuple(node.name for node in nodes if node.op == "placeholder"),
        tuple(nodes_of(nodes, graphs)),
        tuple(_argument(each) for each in results),
        graphs,
    )


def symbol_range(size: Any) -> dict[str, tuple[int, int]]:
    """Return the range of a symbolic size by its name."""
    bounds = size.node.shape_env.bound_sympy(size.node.expr)
    return {str(size): (_lower(bounds.lower), _upper(bounds.upper))}


def _lower(bound: Any) -> int:
    return int(bound) if math.isfinite(bound) else 0


def _upper(bound: Any) -> int:
    return int(bound) if math.isfinite(bound) and int(bound) < 2**31 else 2**31 - 1


def _dim(size: Any) -> int | str:
    return size if isinstance(size, int) else str(size)


def _input(spec: Any, values: Mapping[str, Any]) -> TorchInput:
    kind = _KINDS.get(spec.kind.name)
    if kind is None or not hasattr(values.get(spec.arg.name), "dtype"):
        raise IRKitError(f"input {spec.arg.name!r} is a {spec.kind.name}, not a tensor")
    given = {
        "name": spec.arg.name, "kind": kind, "target": spec.target or spec.arg.name,
        "type": tensor_type(values[spec.arg.name]),
    }  # fmt: skip
    return msgspec.convert(given, TorchInput)


def _output(spec: Any) -> TorchOutput:
    kind = spec.kind.name
    if kind not in ("USER_OUTPUT", "BUFFER_MUTATION", "USER_INPUT_MUTATION"):
        raise IRKitError(f"an output that is a {kind} is not supported")
    value = NodeRef(spec.arg.name) if type(spec.arg).__name__ == "TensorArgument" else None
    if value is None:
        raise IRKitError(f"an output is a {type(spec.arg).__name__}, not a tensor")
    is_user = kind == "USER_OUTPUT"
    return TorchOutput("user" if is_user else "mutation", value, "" if is_user else spec.target)


def _target(target: Any) -> str:
    name = str(target)
    builtin = re.fullmatch(r"<(?:built-in )?function (\w+)(?: at 0x\w+)?>", name)
    return f"builtin.{builtin[1]}" if builtin else name


def _argument(given: Any) -> Any:
    if given is None or isinstance(given, (bool, int, str)):
        return given
    if isinstance(given, float):
        return given if math.isfinite(given) else SpecialFloat(str(given))
    if isinstance(given, (list, tuple)):
        return [_argument(each) for each in cast("list[Any]", given)]
    if str(given) in _DTYPES:
        return TypeName(_DTYPES[str(given)])
    if type(given).__name__ == "Node":
        return NodeRef(given.name)
    return str(given)


def _results(value: Any) -> tuple[TorchTensor, ...]:
    if hasattr(value, "dtype"):
        return (tensor_type(value),)
    if isinstance(value, (list, tuple)):
        items = cast("list[Any]", value)
        return tuple(tensor_type(each) for each in items if hasattr(each, "dtype"))
    return ()


def _users_line(trace: str) -> tuple[str, int]:
    """Return the innermost place in a trace that is not PyTorch's own."""
    found = re.findall(r'File "([^"]+)", line (\d+)', trace)
    own = [
        (file, int(line))
        for file, line in found
        if "/site-packages/torch/" not in file and not file.startswith("<")
    ]
    return own[-1] if own else ("", 0)
