"""Sizes that are only known at a call, as the doors compute with them.

Reading order: arithmetic (numbers, and expressions over dimensions), kernels (loop functions that
compute with dimensions: counts, windows that dimensions place).
"""

from irkit.frontend.sizes.arithmetic import (
    Dim as Dim,
    Window as Window,
    add as add,
    divide as divide,
    larger as larger,
    multiply as multiply,
    same_size as same_size,
    settled as settled,
    sliced as sliced,
    smaller as smaller,
    subtract as subtract,
)
from irkit.frontend.sizes.kernels import (
    counting_kernel as counting_kernel,
    size_kernel as size_kernel,
    window_kernel as window_kernel,
)
