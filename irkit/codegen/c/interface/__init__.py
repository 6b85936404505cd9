"""A model as C: its kernels, the run over a planned arena, and functions for other programs.

Reading order: header_text, interface_text and call_text (what is the same in every model),
folder_text (what is written beside it), foreign_text (kernels of backends), model_tables (tensors,
dimensions, state as data), execution (sizes and calls as code), model_file (the whole).

All of it but kernels of backends is one file, so that everything but the interface is ``static``
and two models fit into one program.
"""

from irkit.codegen.c.interface.foreign_text import (
    ForeignKernel as ForeignKernel,
    link_flags as link_flags,
)
from irkit.codegen.c.interface.model_file import (
    c_prefix as c_prefix,
    emit_header as emit_header,
    emit_interface as emit_interface,
    folder_files as folder_files,
    interface_names as interface_names,
)
