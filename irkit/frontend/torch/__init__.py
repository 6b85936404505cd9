"""Import of PyTorch models that ``torch.export`` captured.

Reading order: program (plain data: the only thing that is imported), capture (from PyTorch's
objects to plain data), aten_node (a node as a converter sees it), convert, dimensions, importer.
None of them imports PyTorch; the extra ``torch`` installs it for those who export.
"""

from typing import Any

from irkit.core import IRModule
from irkit.frontend.torch.capture import (
    array_of as array_of,
    capture as capture,
    dtype_name as dtype_name,
    nodes_of as nodes_of,
    symbol_range as symbol_range,
    tensor_type as tensor_type,
)
from irkit.frontend.torch.convert import (
    CONVERTERS as CONVERTERS,
)
from irkit.frontend.torch.importer import (
    import_program as import_program,
    missing_operators as missing_operators,
)
from irkit.frontend.torch.program import (
    NodeRef as NodeRef,
    TorchInput as TorchInput,
    TorchNode as TorchNode,
    TorchOutput as TorchOutput,
    TorchProgram as TorchProgram,
    TorchTensor as TorchTensor,
    load_program as load_program,
    save_program as save_program,
)


def import_torch(exported: Any, *, constants: bool = True) -> IRModule:
    """Import what ``torch.export.export`` returned, as :func:`import_program` does."""
    return import_program(capture(exported), constants=constants)
