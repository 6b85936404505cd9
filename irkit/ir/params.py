"""What a signature binds besides its parameters."""

from irkit.ir.buffer import Buffer
from irkit.ir.expr import Expr, Var


def dimension_vars(params: tuple[Buffer | Var, ...]) -> tuple[Var, ...]:
    """List the variables that stand alone as a dimension or stride of a parameter, in order."""
    scalars = {param for param in params if isinstance(param, Var)}
    found: dict[Var, None] = {}
    for param in params:
        dims: tuple[Expr, ...] = ()
        if isinstance(param, Buffer):
            dims = (*param.shape, *(param.strides or ()))
        found.update((dim, None) for dim in dims if isinstance(dim, Var) and dim not in scalars)
    return tuple(found)
