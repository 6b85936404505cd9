"""What the ONNX specification says of an operator at a version."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Union

import msgspec
import onnx

Named = Union[onnx.NodeProto, onnx.FunctionProto, onnx.OperatorSetIdProto]


def domain_of(proto: Named) -> str:
    """Return the domain of an operator; that of the standard operators is empty."""
    return "" if proto.domain == "ai.onnx" else proto.domain


def opsets_of(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """Return the version of each domain; of several, the newest."""
    found: dict[str, int] = {}
    for each in imports:
        domain = domain_of(each)
        found[domain] = max(found.get(domain, 0), each.version)
    return found


def schema_of(node: onnx.NodeProto, opsets: Mapping[str, int]) -> Any:
    """Return the schema of an operator as a model sees it; None if it does not exist there.

    The types that ONNX ships leave out parts of a schema.
    """
    domain = domain_of(node)
    try:
        return onnx.defs.get_schema(node.op_type, opsets.get(domain, 0), domain)
    except onnx.defs.SchemaError:
        return None


def version_of(node: onnx.NodeProto, opsets: Mapping[str, int]) -> int:
    """Return the version in which an operator last changed at or before that of the model; 0 if it
    did not exist yet. Of a domain that ONNX says nothing about, it is that of the model."""
    schema, domain = schema_of(node, opsets), domain_of(node)
    if schema is not None:
        return int(schema.since_version)
    return opsets.get(domain, 0) if domain and not domain.startswith("ai.onnx") else 0


def unknown_part(node: onnx.NodeProto, opsets: Mapping[str, int]) -> str:
    """Return an attribute, input or output of a node that its operator does not have at this
    version; "" if there is none.

    To ignore an attribute would compute something other than the model means.
    """
    schema = schema_of(node, opsets)
    if schema is None:
        return ""
    for attr in node.attribute:
        if attr.name not in schema.attributes:
            return f"attribute {attr.name!r}"
    if len(node.input) > schema.max_input:
        return f"input {schema.max_input}"
    return f"output {schema.max_output}" if len(node.output) > schema.max_output else ""


class _InputTypes(msgspec.Struct, frozen=True):
    """The types that a schema allows of an input, and the variable that stands for them; inputs
    ``shared`` with others have the type that those have."""

    variable: str
    allowed: frozenset[str]
    shared: bool
    repeats: bool


@cache
def _input_types(name: str, version: int, domain: str) -> tuple[_InputTypes, ...]:
    schema: Any = onnx.defs.get_schema(name, version, domain)
    return tuple(
        _InputTypes(
            each.type_str,
            # A call gives the tensor that an optional holds.
            frozenset(map(_tensor_type, each.types)),
            each.is_homogeneous,
            each.option == onnx.defs.OpSchema.FormalParameterOption.Variadic,
        )
        for each in schema.inputs
    )


def _tensor_type(kind: str) -> str:
    """Return the element type in "tensor(float)", also where an optional holds the tensor."""
    inner = kind[9:-1] if kind.startswith("optional(") else kind
    return inner[7:-1] if inner.startswith("tensor(") else inner


def type_problem(schema: Any, names: Sequence[str], types: Sequence[str]) -> str:
    """Return in words which input has a type that the operator does not allow, or another type than
    an input that must have the same; "" if there is none.

    ``types`` are element types as ONNX calls them, "" where it is not known.
    """
    inputs = _input_types(schema.name, schema.since_version, schema.domain)
    bound: dict[str, tuple[str, str]] = {}
    for at, (name, found) in enumerate(zip(names, types, strict=True)):
        if at >= len(inputs) and not (inputs and inputs[-1].repeats):
            break
        param = inputs[min(at, len(inputs) - 1)]
        if not found:
            continue
        what = f"input {at} ({name!r}) is of type {found}"
        # Exporters write bf16 at versions of operators that list float16 only.
        if found not in param.allowed and (found != "bfloat16" or "float16" not in param.allowed):
            return f"{what}, expected {_listed(param.allowed)}"
        if param.shared:
            first, wanted = bound.setdefault(param.variable, (name, found))
            if wanted != found:
                return f"{what}, expected {wanted}, as {first!r} is"
    return ""


def _listed(kinds: Collection[str]) -> str:
    if all(kind.startswith("seq(") for kind in kinds):
        return "a sequence"
    *others, last = sorted(kinds)
    return f"{', '.join(others)} or {last}" if others else last


@cache
def _defaults(name: str, version: int, domain: str) -> dict[str, onnx.AttributeProto]:
    schema = onnx.defs.get_schema(name, version, domain)
    return {
        each: attr.default_value
        for each, attr in schema.attributes.items()
        if attr.default_value.type != onnx.AttributeProto.UNDEFINED
    }


def defaults_of(schema: Any) -> Mapping[str, onnx.AttributeProto]:
    """Return the default values of the attributes of an operator."""
    return _defaults(schema.name, schema.since_version, schema.domain)
