"""Import a model that somebody else made, without reading any other file of this machine.

A tensor of an ONNX model can name another file as the place of its data.
"""

from pathlib import Path

import onnx

from irkit.core import FormatError, IRModule
from irkit.frontend.onnx import import_onnx, load_model, tensors_of


def import_untrusted_onnx(path: str) -> IRModule:
    """Import a model from its own file only.

    Raises: FormatError if a tensor has its data in another file; otherwise as import_onnx.
    """
    model = load_model(Path(path).read_bytes())
    for tensor in tensors_of(model):
        if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
            raise FormatError(
                f"the data of tensor {tensor.name[:80]!r} is in another file, which an uploaded "
                "model may not read",
                hint="Save the model with its data in one file, or open it with irkit inspect.",
            )
    return import_onnx(model)
