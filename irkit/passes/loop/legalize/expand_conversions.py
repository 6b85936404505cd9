"""Bring floats into the range of an integer type before they are converted to it.

Before::

    def f(A: f32[8], C: i8[8]):
        for i in serial(0, 8):
            C[i] = cast(A[i], i8)

After::

    def f(A: f32[8], C: i8[8]):
        for i in serial(0, 8):
            t: f32 = A[i]
            C[i] = select(t == t, cast(select(t > f32(-128.0), select(t < f32(127.0), t, f32(127.0)), f32(-128.0)), i8), i8(0))

For C and the languages of devices, whose conversion of a number out of range, or of NaN, is
undefined, and cannot be done on vectors by a function. Their code generators convert what is
bounded so by the language's own conversion (``irkit/ir/math/conversions.py``).
"""  # noqa: E501 -- lines as they are printed

from irkit.core import Node, children, deep_recursion, postorder, walk, with_fields
from irkit.ir import Cast, Const, Expr, Let, PrimFunc, Stmt, Var, map_below, nested
from irkit.ir.math import needs_saturation, saturated
from irkit.passes.loop.support.evaluated import always_evaluated
from irkit.transform import define_pass


@define_pass(idempotent=True)
def expand_conversions(func: PrimFunc) -> PrimFunc:
    """Bound floats that are converted to integers, so that every conversion is defined."""
    if not any(needs_saturation(node) for node in walk(func.body, Cast)):
        return func
    with deep_recursion:
        return func.replace(body=_bounded(func.body))


def _bounded(stmt: Stmt) -> Stmt:
    """Bound the conversions of a statement, with names for what they convert in front of it."""
    roots = [child for child in children(stmt) if isinstance(child, Expr)]
    made = map_below(stmt, _bounded)
    nodes = [node for root in roots for node in postorder(root) if isinstance(node, Expr)]
    if not any(isinstance(node, Cast) and needs_saturation(node) for node in nodes):
        return made
    names: list[tuple[Var, Expr]] = []
    sure = always_evaluated(stmt, roots)
    new: dict[int, Node] = {}
    for node in nodes:
        if id(node) in new:
            continue
        below = with_fields(node, new)
        if isinstance(below, Cast) and needs_saturation(below):
            value = below.value
            if id(node) in sure and not isinstance(value, (Var, Const)):
                value = Var("t", value.dtype)
                names.append((value, below.value))
            below = saturated(value, below.dtype)
        if below is not node:
            new[id(node)] = below
    changed = with_fields(made, new)
    assert isinstance(changed, Stmt)
    return nested([Let(var, value, changed, span=stmt.span) for var, value in names], changed)
