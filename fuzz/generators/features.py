"""What a sample has, so that what is never drawn can be seen."""

from irkit.core import walk
from irkit.ir import Buffer, Expr, For, PrimFunc, as_int


def features_of(func: PrimFunc) -> tuple[str, ...]:
    """List the node classes, types and extents of a function, each once."""
    found: dict[str, None] = {}
    for node in walk(func):
        found[f"node:{type(node).__name__}"] = None
        if isinstance(node, Expr):
            found[f"dtype:{node.dtype.element}"] = None
        elif isinstance(node, For):
            found[f"loop:{node.kind}"] = None
    for param in func.params:
        if isinstance(param, Buffer):
            found[f"dtype:{param.dtype.element}"] = None
            sizes = (as_int(dim) for dim in param.shape)
            found |= {f"extent:{'symbolic' if size is None else size}": None for size in sizes}
    return tuple(found)
