"""The table of all operators."""

from irkit.core import IRKitError
from irkit.graph.nodes import Op
from irkit.graph.ops.attention import ATTENTION
from irkit.graph.ops.blocked import BLOCKED
from irkit.graph.ops.broadcast import BROADCAST
from irkit.graph.ops.elementwise import ELEMENTWISE
from irkit.graph.ops.gathered import GATHERED
from irkit.graph.ops.indexing import INDEXING
from irkit.graph.ops.integer_products import INTEGER_PRODUCTS
from irkit.graph.ops.linear import LINEAR
from irkit.graph.ops.normalization import NORMALIZATION
from irkit.graph.ops.packed_weights import PACKED_WEIGHTS
from irkit.graph.ops.panels import PANELS
from irkit.graph.ops.pooling import POOLING
from irkit.graph.ops.quantized_panels import QUANTIZED_PANELS
from irkit.graph.ops.reduction import REDUCTION
from irkit.graph.ops.scatter import SCATTER
from irkit.graph.ops.shaping import SHAPING
from irkit.graph.ops.spec import OpOptions, OpSpec
from irkit.graph.ops.winograd import WINOGRAD
from irkit.graph.types import TensorType

_FAMILIES = (
    ELEMENTWISE,
    BROADCAST,
    LINEAR,
    INTEGER_PRODUCTS,
    PACKED_WEIGHTS,
    BLOCKED,
    GATHERED,
    PANELS,
    QUANTIZED_PANELS,
    POOLING,
    REDUCTION,
    NORMALIZATION,
    SHAPING,
    INDEXING,
    SCATTER,
    WINOGRAD,
    ATTENTION,
)
OPS: dict[str, OpSpec] = {spec.name: spec for family in _FAMILIES for spec in family}


def op_spec(name: str) -> OpSpec:
    """Return the description of an operator.

    Raises: IRKitError if there is none of that name.
    """
    spec = OPS.get(name)
    if spec is None:
        raise IRKitError(f"unknown operator {name!r}", hint="irkit.graph.OPS lists the operators.")
    return spec


def attributes(op: Op) -> OpOptions:
    """Return the complete attributes of an application: with defaults, full lengths, and axes
    counted from the front."""
    ranks = [len(arg.type.shape) if isinstance(arg.type, TensorType) else 0 for arg in op.args]
    return op_spec(op.name).options(op.attrs, tuple(ranks))
