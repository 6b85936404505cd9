"""The graph IR as a level: what the pass machinery must know about it."""

from functools import partial

import msgspec

from irkit.core import Level, Node, same
from irkit.graph.codec import ARRAY_CODEC, MAX_WHOLE, whole_array_codec
from irkit.graph.function import GraphFunc
from irkit.graph.nodes import (
    Apply,
    Bind,
    Body,
    Constant,
    GraphIf,
    GraphLoop,
    Invoke,
    Lambda,
    Op,
    Prefix,
    Tuple,
    TupleGet,
    Value,
)
from irkit.graph.text.printer import listing, script, symbols_in_order
from irkit.graph.text.reader import parse
from irkit.graph.types import FuncType, TensorType, TupleType
from irkit.graph.verify import verify
from irkit.ir import LOOP_LEVEL, Expr

GRAPH_NODES: tuple[type[Node], ...] = (
    GraphFunc,
    Value,
    Bind,
    Apply,
    Body,
    Constant,
    GraphIf,
    GraphLoop,
    Invoke,
    Lambda,
    Op,
    Prefix,
    Tuple,
    TupleGet,
    TensorType,
    TupleType,
    FuncType,
)
GRAPH_LEVEL = Level(
    name="graph",
    verify=verify,
    script=script,
    parse=partial(parse, absent=True),
    same=same,
    # Symbolic dimensions are expressions of the loop IR.
    nodes=(*GRAPH_NODES, *(cls for cls in LOOP_LEVEL.nodes if issubclass(cls, Expr))),
    signature=lambda func: (func.params, func.body.result.type),
    listing=listing,
    symbols=symbols_in_order,
    codecs=(ARRAY_CODEC, *LOOP_LEVEL.codecs),
)
# For files that are run later: they need the weights themselves, not only digests.
WHOLE_GRAPH_LEVEL = msgspec.structs.replace(
    GRAPH_LEVEL, codecs=(whole_array_codec(MAX_WHOLE), *LOOP_LEVEL.codecs)
)
