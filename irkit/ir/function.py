"""The function of the loop IR: the unit that is lowered and compiled."""

from typing import Union

from irkit.core import Attrs, Binds, Function, Span
from irkit.ir.buffer import Buffer
from irkit.ir.expr import Expr, Var
from irkit.ir.stmt import Stmt

UNSCHEDULED = "unscheduled"
"""Attribute of a function over tensor expressions whose loops nobody has scheduled yet."""


class PrimFunc(Function, frozen=True, eq=False, weakref=True):
    """A loop function over buffers and scalars, which writes its results to buffers in place.

    A variable that is a whole dimension (or stride) of a parameter is bound by the first place it
    occurs in. The signature never changes while lowering. ``attrs`` are for passes and code
    generation, such as ``("outputs", (2,))``: the positions of the parameters that are results.
    """

    params: Binds[tuple[Union[Buffer, Var], ...]]
    body: Stmt
    attrs: Attrs = ()
    span: Span | None = None


def is_unscheduled(func: PrimFunc) -> bool:
    """Return True if the loops of a function stand as ``te.create_prim_func`` made them."""
    return any(key == UNSCHEDULED and value is True for key, value in func.attrs)


def as_scheduled(func: PrimFunc) -> PrimFunc:
    """Remove the mark of a function that nobody has scheduled; without one, return it as it is."""
    if not is_unscheduled(func):
        return func
    return func.replace(attrs=tuple(pair for pair in func.attrs if pair[0] != UNSCHEDULED))


def shape_vars(func: PrimFunc) -> tuple[Var, ...]:
    """Return the variables that the shapes and strides of the parameters bind, in order."""
    return dimension_vars(func.params)


def dimension_vars(params: tuple[Buffer | Var, ...]) -> tuple[Var, ...]:
    """Return the variables that are a whole dimension or stride of a parameter, in order."""
    scalars = {param for param in params if isinstance(param, Var)}
    found: dict[Var, None] = {}
    for param in params:
        dims: tuple[Expr, ...] = ()
        if isinstance(param, Buffer):
            dims = (*param.shape, *(param.strides or ()))
        found.update((dim, None) for dim in dims if isinstance(dim, Var) and dim not in scalars)
    return tuple(found)
