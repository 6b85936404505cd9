"""Every operator: its rule, or the reason why it has none. A test goes over the operators."""

from irkit.graph.differentiation.applied import Rule
from irkit.graph.differentiation.rules.broadcast import BROADCAST
from irkit.graph.differentiation.rules.elementwise import ELEMENTWISE
from irkit.graph.differentiation.rules.indexing import INDEXING
from irkit.graph.differentiation.rules.linear import LINEAR
from irkit.graph.differentiation.rules.normalization import NORMALIZATION
from irkit.graph.differentiation.rules.pooling import POOLING
from irkit.graph.differentiation.rules.reduction import REDUCTION
from irkit.graph.differentiation.rules.shaping import SHAPING

_FAMILIES = (
    ELEMENTWISE,
    BROADCAST,
    LINEAR,
    POOLING,
    REDUCTION,
    NORMALIZATION,
    SHAPING,
    INDEXING,
)
RULES: dict[str, Rule] = {name: rule for family in _FAMILIES for name, rule in family.items()}

_BOOLS = "its result is bools"
_BITS = "it takes integers and bools only"
_PLACE = "its result is the place of an element, an integer"
_PACKED = "the pass block-channels makes it, after gradients are taken"
_INTEGERS = "it takes and returns integers only"

NOT_DIFFERENTIABLE: dict[str, str] = {
    **dict.fromkeys(("isnan", "isinf", "isfinite"), _BOOLS),
    **dict.fromkeys(
        ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), _BOOLS
    ),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), _BOOLS),
    **dict.fromkeys(("logical_not", "bitwise_and", "bitwise_or", "bitwise_xor"), _BITS),
    **dict.fromkeys(("shift_left", "shift_right"), _BITS),
    **dict.fromkeys(("argmax", "argmin"), _PLACE),
    **dict.fromkeys(("conv_integer", "matmul_integer"), _INTEGERS),
    **dict.fromkeys(("conv_blocked", "depthwise_blocked"), _PACKED),
    **dict.fromkeys(("block_channels", "unblock_channels", "lrn_blocked"), _PACKED),
    **dict.fromkeys(("conv_gathered", "gather_channels"), _PACKED),
    "attention": "the pass fuse-attention makes it, after gradients are taken",
    "conv_winograd": "the pass use-winograd makes it, after gradients are taken",
    "matmul_panels": "panels are for inference; differentiate the product of the matrix",
    "matmul_4bit": "weights packed in 4 bits are for inference; train them unpacked",
    "matmul_8bit": "weights of 8 bits are for inference; train them in floats",
    "matmul_quantized_panels": "panels are for inference; differentiate the product of the matrix",
}
"""Operators that no gradient passes, with the reason. But for what
compilation makes of others, ``matmul_4bit`` and ``matmul_8bit``, they return no floats, so nothing
that a float depends on smoothly goes through them."""
