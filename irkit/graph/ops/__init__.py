"""The operators. Reading order: spec (what an operator is), shapes, one family a file, table."""

from irkit.graph.ops.shapes import (
    quotient as quotient,
    same_extent as same_extent,
    same_shape as same_shape,
    written as written,
)
from irkit.graph.ops.spec import (
    KINDS as KINDS,
    Array as Array,
    Arrays as Arrays,
    Attribute as Attribute,
    AttrKind as AttrKind,
    Kind as Kind,
    OpOptions as OpOptions,
    OpSpec as OpSpec,
    as_attrs as as_attrs,
)
from irkit.graph.ops.table import (
    OPS as OPS,
    attributes as attributes,
    op_spec as op_spec,
)
