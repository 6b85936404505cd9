"""The graph IR. Reading order: types, nodes, arrays (what there is); ops (the operators); infer,
build (how to make it); flow, verify, script, parse, interp, memory; level."""

from irkit.graph.arrays import ArrayData, cast_array, dtype_of
from irkit.graph.build import Builder, UniqueNames, tensor_type
from irkit.graph.codec import ARRAY_CODEC
from irkit.graph.flow import (
    bindings_of,
    bodies,
    constants_of,
    flatten_lets,
    operands,
    use_counts,
    used_inside,
)
from irkit.graph.function import GraphFunc
from irkit.graph.infer import array_type, type_of, written_type
from irkit.graph.interp import Result, arrays_of, intermediates, interpret
from irkit.graph.level import GRAPH_LEVEL, GRAPH_NODES, WHOLE_GRAPH_LEVEL
from irkit.graph.memory import MemoryPlan, MemorySlot, memory_plan, recorded_plan, without_plan
from irkit.graph.nodes import (
    Apply,
    Bind,
    Body,
    Constant,
    GraphIf,
    GraphStep,
    Invoke,
    Lambda,
    Op,
    Tuple,
    TupleGet,
    Value,
)
from irkit.graph.ops import (
    OPS,
    Array,
    Arrays,
    Attribute,
    Kind,
    OpOptions,
    OpSpec,
    as_attrs,
    attributes,
    op_spec,
    same_shape,
)
from irkit.graph.text.printer import script
from irkit.graph.text.reader import parse, parse_module
from irkit.graph.types import FuncType, TensorType, TupleType, Type
from irkit.graph.verify import verify

__all__ = [
    "ARRAY_CODEC",
    "GRAPH_LEVEL",
    "GRAPH_NODES",
    "OPS",
    "WHOLE_GRAPH_LEVEL",
    "Apply",
    "Array",
    "ArrayData",
    "Arrays",
    "Attribute",
    "Bind",
    "Body",
    "Builder",
    "Constant",
    "FuncType",
    "GraphFunc",
    "GraphIf",
    "GraphStep",
    "Invoke",
    "Kind",
    "Lambda",
    "MemoryPlan",
    "MemorySlot",
    "Op",
    "OpOptions",
    "OpSpec",
    "Result",
    "TensorType",
    "Tuple",
    "TupleGet",
    "TupleType",
    "Type",
    "UniqueNames",
    "Value",
    "array_type",
    "arrays_of",
    "as_attrs",
    "attributes",
    "bindings_of",
    "bodies",
    "cast_array",
    "constants_of",
    "dtype_of",
    "flatten_lets",
    "intermediates",
    "interpret",
    "memory_plan",
    "op_spec",
    "operands",
    "parse",
    "parse_module",
    "recorded_plan",
    "same_shape",
    "script",
    "tensor_type",
    "type_of",
    "use_counts",
    "used_inside",
    "verify",
    "without_plan",
    "written_type",
]
