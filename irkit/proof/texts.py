"""Expressions and claims as text for people, of bounded length."""

from typing import cast

from irkit.core import children, postorder
from irkit.ir import Expr, script
from irkit.ir.arith import Claim

MOST_NODES = 60
MOST_LETTERS = 100


def expr_text(expr: Expr) -> str:
    """Return an expression as text, or its size if it is large."""
    order = postorder(expr)
    sizes: dict[int, int] = {}
    for node in order:  # As printed, where a shared part is printed each time.
        sizes[id(node)] = 1 + sum(sizes[id(child)] for child in children(node))
    if sizes[id(expr)] > MOST_NODES:
        kind = cast(Expr, order[-1]).__class__.__name__
        return f"an expression of {len(order)} nodes ({kind}, {expr.dtype})"
    text = script(expr)
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 3]}..."


def claim_text(claim: Claim) -> str:
    """Return a claim as text, with what it assumes."""
    given = [expr_text(fact) for fact in claim.facts]
    for var in claim.variables:
        known = claim.ranges.get(var)
        if known is not None:
            low = "" if known.low is None else f"{known.low} <= "
            given.append(f"{low}{var.name}" + ("" if known.high is None else f" <= {known.high}"))
    where = f", where {' and '.join(given)}" if given else ""
    return f"{expr_text(claim.before)} = {expr_text(claim.after)}{where}"
