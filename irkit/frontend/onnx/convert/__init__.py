"""One converter for each ONNX operator. A converter takes a ``OnnxNode`` and returns its outputs as
graph values."""

from collections.abc import Callable, Sequence

from irkit.frontend.onnx.context import OnnxNode
from irkit.frontend.onnx.convert import elementwise, nn, shape
from irkit.graph import Value

Converter = Callable[[OnnxNode], Value | Sequence[Value | None]]

CONVERTERS: dict[str, Converter] = {
    "Add": elementwise.binary("add"),
    "AveragePool": nn.average_pool,
    "BatchNormalization": nn.batch_normalization,
    "Clip": elementwise.clip,
    "Concat": shape.concat,
    "Constant": shape.constant,
    "ConstantOfShape": shape.constant_of_shape,
    "Conv": nn.conv,
    "Div": elementwise.binary("divide"),
    "Dropout": elementwise.dropout,
    "Flatten": shape.flatten,
    "Gemm": nn.gemm,
    "GlobalAveragePool": nn.global_average_pool,
    "Identity": elementwise.identity,
    "LRN": nn.lrn,
    "MatMul": nn.matmul,
    "MaxPool": nn.max_pool,
    "Mul": elementwise.binary("multiply"),
    "Relu": elementwise.unary("relu"),
    "Reshape": shape.reshape,
    "Sigmoid": elementwise.unary("sigmoid"),
    "Softmax": nn.softmax,
    "Squeeze": shape.squeeze,
    "Sub": elementwise.binary("subtract"),
    "Sum": elementwise.variadic("add"),
    "Tanh": elementwise.unary("tanh"),
    "Transpose": shape.transpose,
    "Unsqueeze": shape.unsqueeze,
}

__all__ = ["CONVERTERS", "Converter"]
