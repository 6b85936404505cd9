"""Import ONNX models. Reading order: load, check (what is refused at once), importer (the walk),
context (what a converter sees), convert."""

from irkit.frontend.onnx.check import UnsupportedModel, opset_of
from irkit.frontend.onnx.context import ImportFailed
from irkit.frontend.onnx.convert import CONVERTERS
from irkit.frontend.onnx.importer import Shapes, import_onnx
from irkit.frontend.onnx.load import ModelLike, load_model

__all__ = [
    "CONVERTERS",
    "ImportFailed",
    "ModelLike",
    "Shapes",
    "UnsupportedModel",
    "import_onnx",
    "load_model",
    "opset_of",
]
