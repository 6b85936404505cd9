"""Converters of PyTorch's core operators, one family a file: elementwise, shapes, slices,
stores, pads, order, reductions, layers. An operator is known by its name without namespace and
overload."""

from irkit.frontend.torch.aten_node import Convert
from irkit.frontend.torch.convert.elementwise import ELEMENTWISE
from irkit.frontend.torch.convert.layers import LAYERS
from irkit.frontend.torch.convert.order import ORDER
from irkit.frontend.torch.convert.pads import PADS
from irkit.frontend.torch.convert.reductions import REDUCTIONS
from irkit.frontend.torch.convert.shapes import SHAPES
from irkit.frontend.torch.convert.slices import SLICES
from irkit.frontend.torch.convert.stores import STORES

CONVERTERS: dict[str, Convert] = {
    **ELEMENTWISE,
    **SHAPES,
    **SLICES,
    **STORES,
    **PADS,
    **ORDER,
    **REDUCTIONS,
    **LAYERS,
}
