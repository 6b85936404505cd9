"""Checks before the import: names that are not text or not unique, an unknown operator set,
operators without a converter."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import onnx

from irkit.core import FormatError, IRKitError
from irkit.frontend.onnx.control_flow.operators import CONTROL_FLOW
from irkit.frontend.onnx.convert import CONVERTERS
from irkit.frontend.onnx.functions import Functions, body_of, has_body
from irkit.frontend.onnx.schemas import domain_of, opsets_of, version_of
from irkit.frontend.onnx.user_converters import REMEDY, user_converter


class UnsupportedModel(IRKitError):
    """A model uses operators that irkit does not support; ``operators`` lists all of them."""

    def __init__(self, operators: Sequence[tuple[str, int, str]]) -> None:
        self.operators = tuple(operators)
        nodes: dict[tuple[str, int], list[str]] = {}
        for name, version, node in operators:
            nodes.setdefault((name, version), []).append(node)
        lines = "".join(
            f"\n  {name}-{version}: {_counted(found)}" for (name, version), found in nodes.items()
        )
        count = len({name for name, _, _ in operators})
        what = "an operator" if count == 1 else f"{count} operators"
        super().__init__(f"the model uses {what} that irkit does not support:{lines}", hint=REMEDY)


def _counted(nodes: Sequence[str]) -> str:
    first = f"node {nodes[0]!r}"
    return first if len(nodes) == 1 else f"{first} and {len(nodes) - 1} more"


def check_well_formed(model: onnx.ModelProto) -> None:
    """Check that names are text, and that each is defined once.

    Raises: FormatError.
    """
    for text in _texts(model):
        # Protobuf returns bytes for a string that is not UTF-8.
        if not isinstance(text, str):
            raise FormatError(f"the model is damaged: {text!r} should be text, but is not UTF-8")
    graph = model.graph
    if graph.sparse_initializer:
        raise FormatError("the model has sparse initializers, which irkit does not support")
    _check_unique("inputs", (info.name for info in graph.input))
    _check_unique("initializers", (tensor.name for tensor in graph.initializer))
    _check_unique("outputs", (info.name for info in graph.output))


def _texts(model: onnx.ModelProto) -> Iterator[object]:
    graph = model.graph
    for info in (*graph.input, *graph.output):
        yield info.name
        yield from (dim.dim_param for dim in info.type.tensor_type.shape.dim)
    for tensor in graph.initializer:
        yield tensor.name
    yield from _node_texts(graph.node)
    for function in model.functions:
        yield from (function.name, function.domain, *function.input, *function.output)
        yield from _node_texts(function.node)


def _node_texts(nodes: Iterable[onnx.NodeProto]) -> Iterator[object]:
    for node in nodes:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        for attr in node.attribute:
            yield from (attr.name, attr.t.name)


def _check_unique(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise FormatError(f"the model is damaged: two of its {what} are named {name!r}")
        seen.add(name)


def opset_of(model: onnx.ModelProto) -> int:
    """Return the version of the standard operators that a model uses.

    Raises: FormatError if the model has none, or one that the installed onnx package does not
    know.
    """
    found = opsets_of(model.opset_import).get("")
    if found is None:
        raise FormatError("the model does not say which version of the ONNX operators it uses")
    newest = onnx.defs.onnx_opset_version()
    if not 1 <= found <= newest:
        raise FormatError(
            f"the model uses version {found} of the ONNX operators; expected 1 to {newest}",
            hint="A newer onnx package may support it." if found > newest else "",
        )
    return found


def versions_of(model: onnx.ModelProto) -> dict[str, int]:
    """Return the version of each domain that a model imports; it must be known of the standard
    operators if the model uses any.

    Raises: FormatError.
    """
    if any(domain_of(node) == "" for node in model.graph.node) or not model.opset_import:
        opset_of(model)
    return opsets_of(model.opset_import)


def check_supported(
    nodes: Iterable[onnx.NodeProto], opsets: Mapping[str, int], functions: Functions
) -> None:
    """Check that there is a converter or a function for every node.

    A function body that depends on the inputs is checked where it is expanded.
    Raises: UnsupportedModel with every node that has none.
    """
    missing: list[tuple[str, int, str]] = []
    left = [(node, opsets) for node in nodes]
    expanded: set[tuple[str, str]] = set()
    while left:
        node, versions = left.pop(0)
        local = functions.local(node)
        version = version_of(node, versions)
        name = converter_name(node)
        if local is None and version and (name in CONVERTERS or name in CONTROL_FLOW):
            graphs = [attr.g for attr in node.attribute if attr.type == onnx.AttributeProto.GRAPH]
            left += [(inner, versions) for graph in graphs for inner in graph.node]
            continue
        if local is None and user_converter(node, versions):
            continue
        body = local or body_of(node, versions)
        if body is not None:
            if (node.domain, node.op_type) not in expanded:
                expanded.add((node.domain, node.op_type))
                left += [(inner, body.opsets) for inner in body.proto.node]
        elif not has_body(node, versions):
            called = node.name or ",".join(node.output)
            missing.append((name, version or versions.get(domain_of(node), 0), called))
    if missing:
        raise UnsupportedModel(missing)


def converter_name(node: onnx.NodeProto) -> str:
    """Return the name of an operator in the table of converters: with its domain, unless it is a
    standard one."""
    domain = domain_of(node)
    return f"{domain}.{node.op_type}" if domain else node.op_type
