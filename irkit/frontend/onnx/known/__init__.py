"""What is known on import of the values of tensors.

Reading order: arrays (whole arrays), sizes (integers that are computed from dimensions).
"""

from irkit.frontend.onnx.known.arrays import (
    KnownArrays as KnownArrays,
)
from irkit.frontend.onnx.known.sizes import (
    Dim as Dim,
    KnownSizes as KnownSizes,
    add as add,
    as_sizes as as_sizes,
    larger as larger,
    multiply as multiply,
    subtract as subtract,
)
