"""Operators that combine the elements of axes, and products of matrices.

Reading order: reduction, softmax, linear, einsum, fourier.
"""

from irkit.frontend.onnx.convert.reductions.einsum import (
    einsum,
)
from irkit.frontend.onnx.convert.reductions.fourier import (
    dft,
    stft,
)
from irkit.frontend.onnx.convert.reductions.linear import (
    determinant,
    gemm,
    matmul,
)
from irkit.frontend.onnx.convert.reductions.mel import mel_weight_matrix
from irkit.frontend.onnx.convert.reductions.reduction import (
    arg,
    reduce_l1,
    reduce_l2,
    reduce_log_sum,
    reduce_log_sum_exp,
    reduce_sum_square,
    reduction,
)
from irkit.frontend.onnx.convert.reductions.softmax import (
    hardmax,
    log_softmax,
    softmax,
)
from irkit.frontend.onnx.onnx_node import Converter

CONVERTERS: dict[str, Converter] = {
    "ArgMax": arg("argmax"),
    "ArgMin": arg("argmin"),
    "DFT": dft,
    "Det": determinant,
    "Einsum": einsum,
    "Gemm": gemm,
    "Hardmax": hardmax,
    "LogSoftmax": log_softmax,
    "MatMul": matmul,
    "MelWeightMatrix": mel_weight_matrix,
    "ReduceL1": reduce_l1,
    "ReduceL2": reduce_l2,
    "ReduceLogSum": reduce_log_sum,
    "ReduceLogSumExp": reduce_log_sum_exp,
    "ReduceMax": reduction("max"),
    "ReduceMean": reduction("mean"),
    "ReduceMin": reduction("min"),
    "ReduceProd": reduction("prod"),
    "ReduceSum": reduction("sum"),
    "ReduceSumSquare": reduce_sum_square,
    "STFT": stft,
    "Softmax": softmax,
}

SHAPE_INPUTS: dict[str, tuple[int, ...]] = {
    "DFT": (1, 2),
    "MelWeightMatrix": (0, 1),
    "ReduceL1": (1,),
    "ReduceL2": (1,),
    "ReduceLogSum": (1,),
    "ReduceLogSumExp": (1,),
    "ReduceMax": (1,),
    "ReduceMean": (1,),
    "ReduceMin": (1,),
    "ReduceProd": (1,),
    "ReduceSum": (1,),
    "ReduceSumSquare": (1,),
    "STFT": (1, 3),
}
