"""Converters of ONNX operators, one for each: from an ``OnnxNode`` to its outputs as graph values.

Reading order: elementwise, shape, constant, linear, activation, norm; window, conv, pool.
"""

from collections.abc import Callable, Sequence

from irkit.frontend.onnx.convert.activation import softmax
from irkit.frontend.onnx.convert.constant import constant, constant_of_shape
from irkit.frontend.onnx.convert.conv import conv
from irkit.frontend.onnx.convert.elementwise import (
    binary,
    clip,
    dropout,
    identity,
    unary,
    variadic,
)
from irkit.frontend.onnx.convert.linear import gemm, matmul
from irkit.frontend.onnx.convert.norm import batch_normalization, lrn
from irkit.frontend.onnx.convert.pool import average_pool, global_average_pool, max_pool
from irkit.frontend.onnx.convert.shape import (
    concat,
    flatten,
    reshape,
    squeeze,
    transpose,
    unsqueeze,
)
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value

Converter = Callable[[OnnxNode], Value | Sequence[Value | None]]

CONVERTERS: dict[str, Converter] = {
    "Add": binary("add"),
    "AveragePool": average_pool,
    "BatchNormalization": batch_normalization,
    "Clip": clip,
    "Concat": concat,
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "Conv": conv,
    "Div": binary("divide"),
    "Dropout": dropout,
    "Flatten": flatten,
    "Gemm": gemm,
    "GlobalAveragePool": global_average_pool,
    "Identity": identity,
    "LRN": lrn,
    "MatMul": matmul,
    "MaxPool": max_pool,
    "Mul": binary("multiply"),
    "Relu": unary("relu"),
    "Reshape": reshape,
    "Sigmoid": unary("sigmoid"),
    "Softmax": softmax,
    "Squeeze": squeeze,
    "Sub": binary("subtract"),
    "Sum": variadic("add"),
    "Tanh": unary("tanh"),
    "Transpose": transpose,
    "Unsqueeze": unsqueeze,
}
