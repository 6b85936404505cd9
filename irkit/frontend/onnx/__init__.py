"""Import ONNX models. Reading order: load, check (what is refused at once), importer (the walk),
context (what a converter sees), convert."""

from irkit.frontend.onnx.convert import CONVERTERS
from irkit.frontend.onnx.importer import Shapes, import_onnx
from irkit.frontend.onnx.model_checks import UnsupportedModel, opset_of
from irkit.frontend.onnx.model_file import ModelLike, load_model
from irkit.frontend.onnx.onnx_node import ImportFailed

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
