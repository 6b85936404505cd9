"""Operators that move, cut, join, gather and order elements.

Reading order: shape, slice_pad, gather, scatter, positions, order, constant, sequence.
"""

from irkit.frontend.onnx.convert.shapes.constant import (
    constant,
    constant_of_shape,
)
from irkit.frontend.onnx.convert.shapes.gather import (
    gather,
    gather_elements,
    gather_nd,
)
from irkit.frontend.onnx.convert.shapes.order import (
    cumulative_product,
    cumulative_sum,
    reverse_sequence,
    top_k,
)
from irkit.frontend.onnx.convert.shapes.positions import (
    eye_like,
    one_hot,
    range_of,
    shape_of,
    size_of,
    trilu,
)
from irkit.frontend.onnx.convert.shapes.scatter import (
    scatter_elements,
    scatter_nd,
    tensor_scatter,
)
from irkit.frontend.onnx.convert.shapes.sequence import (
    concat_from_sequence,
    optional,
    optional_has_element,
    sequence_at,
    sequence_construct,
    sequence_empty,
    sequence_erase,
    sequence_insert,
    sequence_length,
    split_to_sequence,
)
from irkit.frontend.onnx.convert.shapes.shape import (
    concat,
    depth_to_space,
    expand,
    flatten,
    reshape,
    space_to_depth,
    squeeze,
    tile,
    transpose,
    unsqueeze,
)
from irkit.frontend.onnx.convert.shapes.slice_pad import (
    pad,
    slice_of,
    split,
)
from irkit.frontend.onnx.onnx_node import Converter

CONVERTERS: dict[str, Converter] = {
    "Concat": concat,
    "ConcatFromSequence": concat_from_sequence,
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "CumProd": cumulative_product,
    "CumSum": cumulative_sum,
    "DepthToSpace": depth_to_space,
    "Expand": expand,
    "EyeLike": eye_like,
    "Flatten": flatten,
    "Gather": gather,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "OneHot": one_hot,
    "Optional": optional,
    "OptionalGetElement": optional,
    "OptionalHasElement": optional_has_element,
    "Pad": pad,
    "Range": range_of,
    "Reshape": reshape,
    "ReverseSequence": reverse_sequence,
    "Scatter": scatter_elements,
    "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd,
    "SequenceAt": sequence_at,
    "SequenceConstruct": sequence_construct,
    "SequenceEmpty": sequence_empty,
    "SequenceErase": sequence_erase,
    "SequenceInsert": sequence_insert,
    "SequenceLength": sequence_length,
    "Shape": shape_of,
    "Size": size_of,
    "Slice": slice_of,
    "SpaceToDepth": space_to_depth,
    "Split": split,
    "SplitToSequence": split_to_sequence,
    "Squeeze": squeeze,
    "TensorScatter": tensor_scatter,
    "Tile": tile,
    "TopK": top_k,
    "Transpose": transpose,
    "Trilu": trilu,
    "Unsqueeze": unsqueeze,
}

SHAPE_INPUTS: dict[str, tuple[int, ...]] = {
    "ConstantOfShape": (0,),
    "CumProd": (1,),
    "CumSum": (1,),
    "Expand": (1,),
    "OneHot": (1,),
    "Pad": (1, 2, 3),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "SequenceAt": (1,),
    "SequenceErase": (1,),
    "SequenceInsert": (2,),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "SplitToSequence": (1,),
    "Squeeze": (1,),
    "Tile": (1, 2),
    "TopK": (1,),
    "Unsqueeze": (1,),
}
