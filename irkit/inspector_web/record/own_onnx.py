"""Import a model that the user named, with the converters that the user gave for it."""

from irkit.core import IRModule
from irkit.frontend.onnx import import_onnx, load_converter
from irkit.inspector_web.runs.run import Source


def import_own_onnx(source: Source) -> IRModule:
    """Import a model with the inputs that are fixed, in whichever process asks.

    Raises: IRKitError, as import_onnx does, or for a converter that cannot be loaded.
    """
    for path in source.converters:
        load_converter(path)
    return import_onnx(source.path, shapes=source.shapes, values=source.values)
