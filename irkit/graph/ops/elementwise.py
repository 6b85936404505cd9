"""Operators on each element of one argument, which keep the shape."""

import math
from collections.abc import Callable

import numpy as np

from irkit.core import DTypeError
from irkit.graph.arrays import cast_array
from irkit.graph.ops.shapes import expect_float
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.types import TensorType, Type
from irkit.ir import BOOL


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _erf(x: Array) -> Array:
    wide = np.asarray(x, np.float64)
    found = np.fromiter(map(math.erf, wide.ravel().tolist()), np.float64, wide.size)
    return found.reshape(x.shape).astype(x.dtype)


def _relu(x: Array) -> Array:
    return np.maximum(x, x.dtype.type(0))


# Operators named like an intrinsic of the loop IR have its meaning.
_FLOAT: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
    "erf": _erf,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
}
_NUMBER: dict[str, Callable[[Array], Array]] = {
    "relu": _relu,
    "negative": np.negative,
    "abs": np.abs,
    "sign": np.sign,
}
_TESTS: dict[str, Callable[[Array], Array]] = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}


def _float_type(tensors: Tensors, options: OpOptions) -> Type:
    expect_float("x", tensors[0])
    return tensors[0]


def _number_type(tensors: Tensors, options: OpOptions) -> Type:
    if tensors[0].dtype.is_bool:
        raise DTypeError("argument x must be a number, found bool")
    return tensors[0]


def _test_type(tensors: Tensors, options: OpOptions) -> Type:
    expect_float("x", tensors[0])
    return TensorType(tensors[0].shape, BOOL)


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
        found = np.asarray(run(x))
        return found if types is _test_type else found.astype(x.dtype, copy=False)

    return OpSpec(name, "elementwise", ("x",), types, arrays)


def _cast(given: tuple[Array, ...], options: OpOptions) -> Array:
    return cast_array(given[0], options.dtype("dtype"))


ELEMENTWISE = (
    *(_unary(name, run, _float_type) for name, run in _FLOAT.items()),
    *(_unary(name, run, _number_type) for name, run in _NUMBER.items()),
    *(_unary(name, run, _test_type) for name, run in _TESTS.items()),
    _unary("logical_not", np.invert, _not_type),
    _unary("identity", lambda x: x, _same_type),
    OpSpec("cast", "elementwise", ("x",), _cast_type, _cast, (Attribute("dtype", "dtype"),)),
)
