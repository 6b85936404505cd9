"""Import ONNX models. Reading order: load, check (what is refused at once), importer (the walk),
context (what a converter sees), convert."""

from irkit.frontend.onnx.convert import (
    CONVERTERS as CONVERTERS,
)
from irkit.frontend.onnx.importer import (
    Shapes as Shapes,
    import_onnx as import_onnx,
)
from irkit.frontend.onnx.model_checks import (
    UnsupportedModel as UnsupportedModel,
    opset_of as opset_of,
)
from irkit.frontend.onnx.model_file import (
    ModelLike as ModelLike,
    load_model as load_model,
)
from irkit.frontend.onnx.onnx_node import (
    ImportFailed as ImportFailed,
)
