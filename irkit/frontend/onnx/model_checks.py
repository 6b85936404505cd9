"""Checks before the import: names that are not text or not unique, an unknown operator set,
operators without a converter."""

from collections.abc import Iterable, Iterator, Sequence

import onnx

from irkit.core import FormatError, IRKitError
from irkit.frontend.onnx.convert import CONVERTERS


class UnsupportedModel(IRKitError):
    """A model uses operators that irkit does not support; ``operators`` lists all of them."""

    def __init__(self, operators: Sequence[tuple[str, int, str]]) -> None:
        self.operators = tuple(operators)
        lines = "".join(f"\n  {name}-{version}: node {node!r}" for name, version, node in operators)
        count = len({name for name, _, _ in operators})
        super().__init__(f"the model uses {count} operators that irkit does not support:{lines}")


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
    for node in graph.node:
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
    versions = [each.version for each in model.opset_import if each.domain in ("", "ai.onnx")]
    if not versions:
        raise FormatError("the model does not say which version of the ONNX operators it uses")
    newest = onnx.defs.onnx_opset_version()
    if not 1 <= max(versions) <= newest:
        raise FormatError(
            f"the model uses version {max(versions)} of the ONNX operators; expected 1 to {newest}",
            hint="A newer onnx package may support it." if max(versions) > newest else "",
        )
    return max(versions)


def check_supported(graph: onnx.GraphProto, opset: int) -> None:
    """Check that there is a converter for every node.

    Raises: UnsupportedModel with every node that has none.
    """
    missing: list[tuple[str, int, str]] = []
    for node in graph.node:
        standard = node.domain in ("", "ai.onnx")
        version = version_of(node.op_type, opset) if standard else 0
        if not version or node.op_type not in CONVERTERS:
            name = node.op_type if standard else f"{node.domain}.{node.op_type}"
            called = node.name or ",".join(node.output)
            missing.append((name, version or (opset if standard else 0), called))
    if missing:
        raise UnsupportedModel(missing)


def version_of(op_type: str, opset: int) -> int:
    """Return the version in which an operator last changed at or before ``opset``; 0 if it did not
    exist yet."""
    schema = _schema(op_type, opset)
    return 0 if schema is None else int(schema.since_version)


def unknown_part(node: onnx.NodeProto, opset: int) -> str:
    """Return an attribute, input or output of a node that its operator does not have at this
    version; "" if there is none.

    To ignore an attribute would compute something other than the model means.
    """
    schema = _schema(node.op_type, opset)
    if schema is None:
        return ""
    for attr in node.attribute:
        if attr.name not in schema.attributes:
            return f"attribute {attr.name!r}"
    if len(node.input) > schema.max_input:
        return f"input {schema.max_input}"
    return f"output {schema.max_output}" if len(node.output) > schema.max_output else ""


def _schema(op_type: str, opset: int) -> onnx.defs.OpSchema | None:
    try:
        return onnx.defs.get_schema(op_type, opset, "")
    except onnx.defs.SchemaError:
        return None
