"""Operators whose outputs are as large as their data make them.

Reading order: compress, unique, non_max_suppression, prefixes (how outputs are cut).

Each is a loop function that fills room for the most elements, up to ``MAX_ROOM``, and counts those
it finds: more than there is room for is an error at the call. Where the count is known on import,
the output is cut then.
"""

from irkit.frontend.onnx.convert.data_dependent.compress import (
    compress,
    non_zero,
)
from irkit.frontend.onnx.convert.data_dependent.non_max_suppression import (
    non_max_suppression,
)
from irkit.frontend.onnx.convert.data_dependent.prefixes import (
    prefix_along as prefix_along,
    prefixes as prefixes,
)
from irkit.frontend.onnx.convert.data_dependent.unique import (
    unique,
)
from irkit.frontend.onnx.onnx_node import Converter

CONVERTERS: dict[str, Converter] = {
    "Compress": compress,
    "NonMaxSuppression": non_max_suppression,
    "NonZero": non_zero,
    "Unique": unique,
}

SHAPE_INPUTS: dict[str, tuple[int, ...]] = {
    "NonMaxSuppression": (2,),
}
