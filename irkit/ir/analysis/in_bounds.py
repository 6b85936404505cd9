"""Whether a load certainly stays inside its buffer."""

from collections.abc import Sequence

from irkit.ir.arith.interval import Ranges
from irkit.ir.arith.simplify import prove
from irkit.ir.buffer import Load
from irkit.ir.build import ge, lt
from irkit.ir.expr import Expr


def is_in_bounds(load: Load, ranges: Ranges, facts: Sequence[Expr] = ()) -> bool:
    """Return True if all indices of a load are proved to be in range."""
    for index, dim in zip(load.indices, load.buffer.shape, strict=True):
        for cond in (ge(index, 0), lt(index, dim)):
            if not prove(cond, ranges, facts):
                return False
    return True
