"""Sizes that are only known at a call, as the doors compute with them.

Reading order: arithmetic (numbers, and expressions over dimensions), kernels (loop functions that
compute with dimensions: counts, windows that dimensions place), kernel_dims (dimensions in the text
of a loop function), rank_kernel (the first elements in order).
"""

from irkit.frontend.sizes.arithmetic import (
    AxisWindow as AxisWindow,
    Dim as Dim,
    add as add,
    clamped as clamped,
    divide as divide,
    larger as larger,
    multiply as multiply,
    same_size as same_size,
    settled as settled,
    sliced as sliced,
    smaller as smaller,
    subtract as subtract,
)
from irkit.frontend.sizes.kernel_dims import (
    KernelDims as KernelDims,
)
from irkit.frontend.sizes.kernels import (
    counting_kernel as counting_kernel,
    size_kernel as size_kernel,
    window_kernel as window_kernel,
)
from irkit.frontend.sizes.rank_kernel import (
    rank_kernel as rank_kernel,
)
