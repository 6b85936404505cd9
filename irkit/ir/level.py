"""The loop IR as a level: what the pass machinery must know about it."""

from irkit.core import Codec, Level, Node, same
from irkit.ir.buffer import Buffer
from irkit.ir.dtype import DType, dtype
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Axis, Region
from irkit.ir.text.expr_printer import printed_classes
from irkit.ir.text.names import symbols_in_order
from irkit.ir.text.printer import listing, script
from irkit.ir.text.reader import parse
from irkit.ir.text.stmt_printer import printed_statements
from irkit.ir.verify.statements import verify

LOOP_NODES: tuple[type[Node], ...] = (
    PrimFunc,
    Buffer,
    Axis,
    Region,
    *printed_statements(),
    *printed_classes(),
)
LOOP_LEVEL = Level(
    name="loop",
    verify=verify,
    script=script,
    parse=parse,
    same=same,
    nodes=LOOP_NODES,
    signature=lambda func: func.params,
    listing=listing,
    symbols=symbols_in_order,
    codecs=(Codec("dtype", DType, str, dtype),),
)
