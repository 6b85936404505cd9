"""Import of ONNX models.

Reading order: model_file, weights_in_file and encoding_errors (reading a file), schemas and
functions (what ONNX says of an operator), model_checks (what is refused before the import),
importer (inputs and outputs), node_walk (the nodes), node_attributes, onnx_node and known (one
node, as a converter sees it), convert, user_converters (those that users register).

Models are untrusted input: what a node asks for is bounded before anything is allocated, an
attribute that the operator does not have at its version is an error, and external data are read
from the folder of the model only. A converter branches on ``node.version``, the opset version in
which the operator last changed as the model's own opset sees it. All operators are checked before
the first is converted. Inputs that decide a shape must be constants, or given as ``values``.
"""

from irkit.frontend.onnx.convert import (
    CONVERTERS as CONVERTERS,
    DATA_DEPENDENT as DATA_DEPENDENT,
    SHAPE_INPUTS as SHAPE_INPUTS,
)
from irkit.frontend.onnx.importer import (
    ImportedCut as ImportedCut,
    check_model as check_model,
    cuts_of as cuts_of,
    import_onnx as import_onnx,
    shape_values as shape_values,
)
from irkit.frontend.onnx.model_checks import (
    UnsupportedModel as UnsupportedModel,
    opset_of as opset_of,
)
from irkit.frontend.onnx.model_file import (
    ModelLike as ModelLike,
    external_files as external_files,
    keep_data as keep_data,
    load_model as load_model,
    opened_model as opened_model,
    tensors_of as tensors_of,
)
from irkit.frontend.onnx.model_inputs import (
    Shapes as Shapes,
    fixed_sizes as fixed_sizes,
    fixed_values as fixed_values,
    model_inputs as model_inputs,
    names_dimensions as names_dimensions,
)
from irkit.frontend.onnx.model_parts import (
    ModelParts as ModelParts,
    split_model as split_model,
    with_inputs as with_inputs,
)
from irkit.frontend.onnx.onnx_node import (
    Converter as Converter,
    DataDependent as DataDependent,
    ImportFailed as ImportFailed,
    OnnxNode as OnnxNode,
    UnknownShape as UnknownShape,
)
from irkit.frontend.onnx.user_converters import (
    asked_for_converters as asked_for_converters,
    load_converter as load_converter,
    register as register,
    unregister as unregister,
)
