"""Rewrite a loop as a nest over the digits of its variable.

A fused loop indexes memory by ``f // 8`` and ``f % 8``. That no two iterations conflict can only be
proved once ``f`` is ``q * 8 + r``.
"""

from itertools import pairwise

from irkit.core import Recorder, recording, rewrite, substitute, walk
from irkit.ir.build import as_int
from irkit.ir.expr import Const, Expr, FloorDiv, FloorMod, Var, const
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import For, Stmt


def by_digits(func: PrimFunc, loop: For) -> tuple[PrimFunc, list[For]] | None:
    """Replace a loop by loops over its digits, outermost first; None if its body does not use
    them."""
    begin, end = as_int(loop.begin), as_int(loop.end)
    if begin != 0 or end is None:
        return None
    weights = [1]
    for weight in digit_weights(loop):
        if weight < end and all(max(weight, w) % min(weight, w) == 0 for w in weights):
            weights.append(weight)
    weights.sort()
    if len(weights) == 1:
        return None
    extents = [above // below for below, above in pairwise(weights)]
    extents.append(-(-end // weights[-1]))
    digits = [Var(f"{loop.var.name}_{at}", loop.var.dtype) for at in range(len(weights))]
    value: Expr = digits[0]
    for digit, weight in zip(digits[1:], weights[1:], strict=True):
        value = digit * weight + value
    made: Stmt = substitute(loop.body, {loop.var: value})
    nest: list[For] = []
    zero = const(0, loop.var.dtype)
    for digit, extent in zip(digits, extents, strict=True):
        made = For(digit, zero, const(extent, loop.var.dtype), made, span=loop.span)
        nest.append(made)
    whole = made

    def put(node: For) -> Stmt | None:
        return whole if node is loop else None

    with recording(Recorder()):  # A pass may ask, and this is no rewrite of its own.
        return rewrite(func, put, on=For), nest[::-1]


def digit_weights(loop: For) -> list[int]:
    """Return the divisors of indices: 4 and 32 in ``f // 4 % 8``.

    Any choice of digits is correct; these are the useful ones, those of the loop's own variable
    first.
    """
    own: set[int] = set()
    found: set[int] = set()
    for node in walk(loop.body, (FloorDiv, FloorMod)):
        at: Expr = node
        weight = 1
        weights: set[int] = set()
        while isinstance(at, (FloorDiv, FloorMod)) and isinstance(at.b, Const):
            number = int(at.b.value)
            weight *= max(1, number)
            weights.update(w for w in (weight, number) if w > 1)
            at = at.a
        (own if at is loop.var else found).update(weights)
    return [*sorted(own), *sorted(found - own)]
