"""Whether the iterations of a loop may run in any order, or at the same time.

They may if, for every buffer that one of them writes, different iterations touch different
elements.
That is shown by one dimension, or by several neighbours read as one row-major index, which moves on
by more than all inner loops together reach.
"""

from collections.abc import Iterator, Sequence

from irkit.core import Node, substitute, walk
from irkit.ir import (
    Buffer,
    Expr,
    For,
    Interval,
    Load,
    PrimFunc,
    Store,
    Var,
    bounds,
    linear,
    loop_ranges,
    product,
    simplify,
)
from irkit.ir.arith import Ranges
from irkit.schedule.state import blocks_below, variables

Indices = tuple[Expr, ...]


def dependence(func: PrimFunc, loop: For) -> str:
    """Say why the iterations of a loop may depend on each other; empty if they surely do not."""
    ranges = loop_ranges(func)
    touched: dict[Buffer, list[Indices]] = {}
    written: dict[Buffer, None] = {}
    for access, indices in _accesses(loop):
        touched.setdefault(access.buffer, []).append(indices)
        if isinstance(access, Store):
            written[access.buffer] = None
    inner = {each.var for each in walk(loop.body, on=For)}
    for buffer in written:
        views = _views(buffer, touched[buffer])
        if not any(_are_apart(view, loop.var, inner, ranges) for view in views):
            return f"its iterations may touch the same elements of {buffer.name!r}"
    return ""


def _accesses(loop: For) -> Iterator[tuple[Load | Store, Indices]]:
    """List loads and stores, their indices in terms of loops and not of axes."""
    for block in blocks_below(loop.body):
        bindings: dict[Node, Node] = {axis.var: axis.binding for axis in block.axes}
        for part in (block.init, block.body):
            for access in () if part is None else walk(part, on=(Load, Store)):
                yield access, tuple(substitute(index, bindings) for index in access.indices)


def _views(buffer: Buffer, accesses: Sequence[Indices]) -> Iterator[list[Expr]]:
    """Read accesses by each dimension, then by each run of neighbouring ones."""
    rank = buffer.rank
    for length in range(1, rank + 1):
        for first in range(rank - length + 1):
            dims = range(first, first + length)
            steps = [product(buffer.shape[dim + 1 : first + length]) for dim in dims]
            yield [
                sum(
                    (indices[dim] * step for dim, step in zip(dims[1:], steps[1:], strict=True)),
                    indices[first] * steps[0],
                )
                for indices in accesses
            ]


def _are_apart(view: Sequence[Expr], var: Var, inner: set[Var], ranges: Ranges) -> bool:
    found = [_parts(expr, var, inner, ranges) for expr in view]
    known = [part for part in found if part is not None]
    if len(known) != len(found):
        return False
    coefficients = {coefficient for coefficient, _, _ in known}
    outers = {outer for _, outer, _ in known}
    if len(coefficients) != 1 or len(outers) != 1:
        return False
    lows = [reach.low for _, _, reach in known]
    highs = [reach.high for _, _, reach in known]
    if None in lows or None in highs:
        return False
    spread = max(high or 0 for high in highs) - min(low or 0 for low in lows)
    return spread < abs(coefficients.pop())


def _parts(
    expr: Expr, var: Var, inner: set[Var], ranges: Ranges
) -> tuple[int, frozenset[tuple[Expr, int]], Interval] | None:
    """Split an index into its step along ``var``, what only outer loops move, and the reach of the
    rest."""
    form = linear(simplify(expr, ranges))
    if form is None:
        return None
    step, outer, reach = 0, list[tuple[Expr, int]](), Interval(form.constant, form.constant)
    for atom, coefficient in form.terms:
        used = variables(atom)
        if atom is var:
            step = coefficient
        elif var in used:
            return None
        elif used & inner:
            reach = reach + bounds(atom, ranges) * Interval(coefficient, coefficient)
        else:
            outer.append((atom, coefficient))
    return step, frozenset(outer), reach
