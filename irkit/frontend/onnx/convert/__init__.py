"""Converters of ONNX operators, one for each: from an ``OnnxNode`` to its outputs as graph values.

Each folder holds a family of operators, with the table of its converters: math, shapes,
reductions, nn, quantized, ml, data_dependent; so does recurrent.
"""

from irkit.frontend.onnx.convert import (
    data_dependent,
    math,
    ml,
    nn,
    quantized,
    recurrent,
    reductions,
    shapes,
)
from irkit.frontend.onnx.onnx_node import Converter

_FAMILIES = (math, shapes, reductions, nn, recurrent, quantized, ml, data_dependent)

CONVERTERS: dict[str, Converter] = {
    name: converter for family in _FAMILIES for name, converter in family.CONVERTERS.items()
}

DATA_DEPENDENT = frozenset(data_dependent.CONVERTERS)
"""Operators whose outputs are as large as the data make them."""

SHAPE_INPUTS: dict[str, tuple[int, ...]] = {
    "If": (0,),
    "Loop": (0, 1),
    **{name: inputs for family in _FAMILIES for name, inputs in family.SHAPE_INPUTS.items()},
}
"""Inputs that must be known on import, by operator: a converter can read the arrays of these."""
