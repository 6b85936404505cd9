"""Make every loop start at 0.

Before::

    def f(A: f32[64], C: f32[64], n: i64):
        for i in serial(2, 10):
            C[i] = A[i + 1]
        for j in parallel(n, 64):
            C[j] = A[j]

After::

    def f(A: f32[64], C: f32[64], n: i64):
        for i in serial(0, 8):
            C[i + 2] = A[i + 2 + 1]
        for j in parallel(0, 64 - n):
            C[j + n] = A[j + n]

Steps are always 1 here. A begin that reads memory, or is long, gets a name in front of the loop.
"""

from itertools import islice

from irkit.core import Node, any_node, remark, rewrite, substitute, walk
from irkit.ir import Expr, For, Let, Load, PrimFunc, Stmt, Var, as_int, const
from irkit.ir.arith import Ranges, bounds, loop_ranges, simplify as simplest
from irkit.transform import define_pass

MAX_REPEATED = 4  # nodes of a begin that is written at each use of the variable


@define_pass(idempotent=True)
def canonicalize_loops(func: PrimFunc) -> PrimFunc:
    """Make every loop run from 0, and add its begin to each use of its variable.

    A loop whose extent may not fit its type is left alone.
    """
    if all(as_int(loop.begin) == 0 for loop in walk(func.body, For)):
        return func
    ranges = loop_ranges(func)

    def from_zero(loop: For) -> Stmt | None:
        if as_int(loop.begin) == 0:
            return None
        if not _fits(loop, ranges):
            remark(loop, "its number of iterations may not fit its type: left as it begins")
            return None
        begin, named = loop.begin, None
        if any_node(begin, Load) or len(list(islice(walk(begin), MAX_REPEATED + 1))) > MAX_REPEATED:
            begin = named = Var(f"{loop.var.name}_begin", begin.dtype)
        var = loop.var.copied()
        assert isinstance(var, Var)
        shift: dict[Node, Node] = {loop.var: var + begin}
        moved = loop.replace(
            var=var,
            begin=const(0, var.dtype),
            end=_extent(begin, loop.end),
            body=substitute(loop.body, shift),
        )
        return moved if named is None else Let(named, loop.begin, moved)

    return rewrite(func, from_zero, on=For)


def _extent(begin: Expr, end: Expr) -> Expr:
    extent = end - begin
    return extent if any_node(extent, Load) else simplest(extent)


def _fits(loop: For, ranges: Ranges) -> bool:
    """Return True if the extent fits the type; 64-bit indices are assumed not to wrap around."""
    dtype = loop.var.dtype
    if dtype.kind == "i" and dtype.bits == 64:
        return True
    first, last = bounds(loop.begin, ranges), bounds(loop.end, ranges)
    if first.low is None or first.high is None or last.low is None or last.high is None:
        return False
    return dtype.low <= last.low - first.high and last.high - first.low <= dtype.high
