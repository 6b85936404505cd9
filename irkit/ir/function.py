"""The function of the loop IR: what lowering takes and gives, and what is compiled."""

from typing import Union

from irkit.core import Attrs, Binds, Function, Span
from irkit.ir.buffer import Buffer
from irkit.ir.expr import Expr, Var
from irkit.ir.stmt import Stmt


class PrimFunc(Function, frozen=True, eq=False, weakref=True):
    """A loop function over buffers and scalars; results are written to buffers, in place.

    A variable that stands alone as a dimension (or stride) of a parameter is bound by the first
    place it stands in. The
    signature never changes while lowering. ``attrs`` are facts for passes and code generation, such
    as ``("outputs", (2,))``: the positions of the parameters that are results.
    """

    params: Binds[tuple[Union[Buffer, Var], ...]]
    body: Stmt
    attrs: Attrs = ()
    span: Span | None = None


def shape_vars(func: PrimFunc) -> tuple[Var, ...]:
    """List the variables that the shapes and strides of the parameters bind, in order."""
    return dimension_vars(func.params)


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
