"""Build loops around a block: new ones over a shape, or copies of existing ones."""

from collections.abc import Callable, Mapping, Sequence

from irkit.core import Span, substitute
from irkit.ir import Axis, Block, Buffer, Expr, For, Stmt, Store, Var, const
from irkit.schedule.analysis.guards import joined


def buffer_copy_nest(name: str, source: Buffer, to: Buffer, span: Span) -> Stmt:
    """Return a nest that copies a whole buffer, element by element."""
    return nest_over(name, to.shape, lambda at: Store(to, at, source[at]), span)


def nest_over(
    name: str,
    shape: Sequence[Expr],
    store: Callable[[tuple[Var, ...]], Store],
    span: Span,
    conditions: Sequence[Expr] = (),
) -> Stmt:
    """Return a block with loops that runs a store at all points of a shape, if all conditions
    hold."""
    axes = [
        Axis(Var(f"v{at}", dim.dtype), dim, Var(f"c{at}", dim.dtype))
        for at, dim in enumerate(shape)
    ]
    body, predicate = store(tuple(axis.var for axis in axes)), joined(conditions)
    made: Stmt = Block(name, tuple(axes), body, predicate=predicate, span=span)
    for axis in reversed(axes):
        assert isinstance(axis.binding, Var)
        zero = const(0, axis.binding.dtype)
        made = For(axis.binding, zero, axis.extent, made, span=span)
    return made


def computed_nest(name: str, axes: Sequence[Axis], store: Store, span: Span) -> Stmt:
    """Return a block with loops that runs a store at all points of the axes of another block."""
    theirs = [axis.var for axis in axes]
    return nest_over(
        name,
        [axis.extent for axis in axes],
        lambda own: substitute(store, dict(zip(theirs, own, strict=True))),
        span,
    )


def nest_like(loops: Sequence[For], own: Mapping[Var, Var], body: Stmt, span: Span) -> Stmt:
    """Wrap copies of loops around a body that already uses their new variables; ``own`` maps old to
    new ones."""
    for loop in reversed(loops):
        begin, end = substitute(loop.begin, own), substitute(loop.end, own)
        body = loop.replace(var=own[loop.var], begin=begin, end=end, body=body, span=span)
    return body
