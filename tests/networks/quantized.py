"""An exported resnet18, quantised by ONNX Runtime: with QDQ pairs, and dynamically."""

from typing import Any

import onnx
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process
from torchvision import models

from tests.networks.vision import classifier


class OneBatch(CalibrationDataReader):
    """The given inputs, once."""

    def __init__(self, feeds: dict[str, Any]) -> None:
        self.left = [feeds]

    def get_next(self) -> dict[str, Any] | None:
        return self.left.pop() if self.left else None


def prepared(source: str, target: str) -> str:
    """Write a model with its shapes and without batch norms, as the tools want it."""
    path = f"{target}.prepared.onnx"
    quant_pre_process(source, path, skip_symbolic_shape=True)
    return path


def with_qdq(source: str, target: str, feeds: dict[str, Any]) -> None:
    """Quantise weights by channel and activations, by QuantizeLinear and DequantizeLinear."""
    quantize_static(
        prepared(source, target), target, OneBatch(feeds), quant_format=QuantFormat.QDQ,
        per_channel=True, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
    )  # fmt: skip


def dynamically(source: str, target: str, feeds: dict[str, Any]) -> None:
    """Quantise weights, and activations when the model runs, by DynamicQuantizeLinear."""
    quantize_dynamic(prepared(source, target), target, weight_type=QuantType.QUInt8)
    onnx.checker.check_model(target)


NETWORKS = (
    classifier("resnet18_qdq", models.resnet18, quantize=with_qdq),
    classifier("resnet18_dynamic_int8", models.resnet18, quantize=dynamically),
)
