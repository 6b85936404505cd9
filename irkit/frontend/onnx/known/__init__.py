"""What is known on import of the values of tensors.

Reading order: arrays (whole arrays), sizes (integers that are computed from dimensions).
"""

from irkit.frontend.onnx.known.arrays import (
    KnownArrays as KnownArrays,
)
from irkit.frontend.onnx.known.sizes import (
    KnownSizes as KnownSizes,
    as_sizes as as_sizes,
)
