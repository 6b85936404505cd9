"""Operators of quantized tensors.

Reading order: quantize.
"""

from irkit.frontend.onnx.convert.quantized.quantize import (
    conv_integer,
    dequantize_linear,
    matmul_integer,
    matmul_nbits,
    qlinear_binary,
    qlinear_conv,
    qlinear_matmul,
    quantize_linear,
)
from irkit.frontend.onnx.onnx_node import Converter

CONVERTERS: dict[str, Converter] = {
    "ConvInteger": conv_integer,
    "DequantizeLinear": dequantize_linear,
    "MatMulInteger": matmul_integer,
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul,
    "QuantizeLinear": quantize_linear,
    "com.microsoft.MatMulNBits": matmul_nbits,
    "com.microsoft.QLinearAdd": qlinear_binary("add"),
    "com.microsoft.QLinearMul": qlinear_binary("multiply"),
}

# Weights are packed anew on import.
SHAPE_INPUTS: dict[str, tuple[int, ...]] = {"com.microsoft.MatMulNBits": (1, 3)}
