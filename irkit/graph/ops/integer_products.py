"""Convolution and matrix multiplication of narrow integers, summed exactly in 32 bits."""

import numpy as np

from irkit.core import DTypeError
from irkit.graph.ops.linear import CONV, MATMUL
from irkit.graph.ops.spec import Array, OpOptions, OpSpec, Tensors
from irkit.graph.types import TensorType, Type
from irkit.ir import I32

_WIDEST = 16


def _expect_narrow(name: str, given: TensorType) -> TensorType:
    """Return the type of an operand as it is multiplied, which is i32."""
    if not given.dtype.is_integer or given.dtype.bits > _WIDEST:
        raise DTypeError(
            f"argument {name} must hold integers of at most {_WIDEST} bits, found {given.dtype}"
        )
    return TensorType(given.shape, I32)


def _conv_type(tensors: Tensors, options: OpOptions) -> Type:
    return CONV.types(_widened("xw", tensors), options)


def _matmul_type(tensors: Tensors, options: OpOptions) -> Type:
    return MATMUL.types(_widened("ab", tensors), options)


def _widened(names: str, tensors: Tensors) -> Tensors:
    return tuple(_expect_narrow(*each) for each in zip(names, tensors, strict=True))


def _conv(given: tuple[Array, ...], options: OpOptions) -> Array:
    found = CONV.arrays(_wide(given), options)
    assert not isinstance(found, tuple)
    return found


def _matmul(given: tuple[Array, ...], options: OpOptions) -> Array:
    found = MATMUL.arrays(_wide(given), options)
    assert not isinstance(found, tuple)
    return found


def _wide(given: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(array.astype(np.int32) for array in given)


INTEGER_PRODUCTS = (
    OpSpec(
        "conv_integer",
        "complex",
        ("x", "w"),
        _conv_type,
        _conv,
        CONV.attributes,
        resolve=CONV.resolve,
    ),
    OpSpec("matmul_integer", "complex", ("a", "b"), _matmul_type, _matmul),
)
