"""The graph IR. Reading order: types, nodes, arrays (what there is); ops (the operators); infer,
build (how to make it); then the rest."""

from irkit.graph.arrays import ArrayData, cast_array, dtype_of, numpy_dtype
from irkit.graph.build import Builder, UniqueNames, tensor_type
from irkit.graph.infer import array_type, type_of
from irkit.graph.nodes import (
    Apply,
    Bind,
    Body,
    Constant,
    GraphFunc,
    If,
    Invoke,
    Lambda,
    Op,
    Step,
    Tuple,
    TupleGet,
    Value,
)
from irkit.graph.ops import OPS, Arrays, Attribute, OpSpec, Options, as_attrs, attributes, op_spec
from irkit.graph.types import FuncType, TensorType, TupleType, Type

__all__ = [
    "OPS",
    "Apply",
    "ArrayData",
    "Arrays",
    "Attribute",
    "Bind",
    "Body",
    "Builder",
    "Constant",
    "FuncType",
    "GraphFunc",
    "If",
    "Invoke",
    "Lambda",
    "Op",
    "OpSpec",
    "Options",
    "Step",
    "TensorType",
    "Tuple",
    "TupleGet",
    "TupleType",
    "Type",
    "UniqueNames",
    "Value",
    "array_type",
    "as_attrs",
    "attributes",
    "cast_array",
    "dtype_of",
    "numpy_dtype",
    "op_spec",
    "tensor_type",
    "type_of",
]
