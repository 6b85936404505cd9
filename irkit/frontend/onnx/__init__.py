"""Import of ONNX models.

Reading order: model_file and encoding_errors (reading a file), model_checks (what is refused before
the import), importer (the walk over the nodes), onnx_node (one node, as a converter sees it),
convert.
"""

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
