"""Features of a sample, from which coverage is counted."""

from irkit.core import walk
from irkit.ir import Allocate, Block, Buffer, Call, Expr, For, PrimFunc, View, as_int


def features_of(func: PrimFunc) -> tuple[str, ...]:
    """Return the node classes, functions, kinds of loops, types and extents of a function, each
    once."""
    found: dict[str, None] = {}
    buffers = [param for param in func.params if isinstance(param, Buffer)]
    if any(not isinstance(param, Buffer) for param in func.params):
        found["node:Var"] = None
    for node in walk(func):
        found[f"node:{type(node).__name__}"] = None
        if isinstance(node, Call):
            found[f"call:{node.name}"] = None
        if isinstance(node, Expr):
            found[f"dtype:{node.dtype.element}"] = None
        elif isinstance(node, For):
            found[f"loop:{node.kind}"] = None
        elif isinstance(node, (Allocate, View)):
            buffers.append(node.buffer)
        elif isinstance(node, Block) and (node.reads or node.writes):
            found["node:Region"] = None
    for buffer in buffers:
        found["node:Buffer"] = None
        found[f"dtype:{buffer.dtype.element}"] = None
        sizes = (as_int(dim) for dim in buffer.shape)
        found |= {f"extent:{'symbolic' if size is None else size}": None for size in sizes}
    return tuple(found)
