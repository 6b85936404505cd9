"""Operators on each element of one argument, which keep the shape."""

from collections.abc import Callable

import numpy as np

from irkit.core import DTypeError
from irkit.graph.arrays import cast_array
from irkit.graph.ops.shapes import expect_float, expect_number, float_type
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.types import TensorType, Type
from irkit.ir import BOOL, INTRINSICS, Intrinsic, from_numpy
from irkit.ir.reference import call


def _relu(x: Array) -> Array:
    return np.maximum(x, x.dtype.type(0))


def _number_type(tensors: Tensors, options: OpOptions) -> Type:
    expect_number("x", tensors[0])
    return tensors[0]


def _test_type(tensors: Tensors, options: OpOptions) -> Type:
    expect_float("x", tensors[0])
    return TensorType(tensors[0].shape, BOOL)


_TYPES = {"float": float_type, "number": _number_type}


def _not_type(tensors: Tensors, options: OpOptions) -> Type:
    if tensors[0].dtype.is_float:
        raise DTypeError(f"argument x must be a bool or an integer, found {tensors[0].dtype}")
    return tensors[0]


def _same_type(tensors: Tensors, options: OpOptions) -> Type:
    return tensors[0]


def _cast_type(tensors: Tensors, options: OpOptions) -> Type:
    return TensorType(tensors[0].shape, options.dtype("dtype"))


def _unary(
    name: str, run: Callable[[Array], Array], types: Callable[[Tensors, OpOptions], Type]
) -> OpSpec:
    def arrays(given: tuple[Array, ...], options: OpOptions) -> Array:
        # A Python number must not widen a zero-dimensional array.
        (x,) = given
        return np.asarray(run(x)).astype(x.dtype, copy=False)

    return OpSpec(name, "elementwise", ("x",), types, arrays)


def _intrinsic(row: Intrinsic) -> OpSpec:
    """Return the operator of a function of one argument, as the reference computes it."""

    def arrays(given: tuple[Array, ...], options: OpOptions) -> Array:
        (x,) = given
        return call(row.name, [x], from_numpy(x.dtype))

    types = _test_type if row.gives == "bool" else _TYPES[row.on]
    return OpSpec(row.name, "elementwise", ("x",), types, arrays)


def _cast(given: tuple[Array, ...], options: OpOptions) -> Array:
    return cast_array(given[0], options.dtype("dtype"))


ELEMENTWISE = (
    # Functions of integers alone are no operators.
    *(_intrinsic(row) for row in INTRINSICS.values() if row.arity == 1 and row.on in _TYPES),
    _unary("reciprocal", lambda x: 1 / x, float_type),
    _unary("relu", _relu, _number_type),
    _unary("negative", np.negative, _number_type),
    _unary("logical_not", np.invert, _not_type),
    _unary("identity", lambda x: x, _same_type),
    OpSpec("cast", "elementwise", ("x",), _cast_type, _cast, (Attribute("dtype", "dtype"),)),
)
