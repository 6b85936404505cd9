"""Compute indices and loop variables in 32 bits if they fit.

Before::

    def f(A: f32[64], C: f32[64]):
        for i in serial(0, 4):
            for j in serial(0, 16):
                if i * 16 + j < 60:
                    C[i * 16 + j] = A[i * 16 + j]

After::

    def f(A: f32[64], C: f32[64]):
        for i in serial(i32(0), i32(4)):
            for j in serial(i32(0), i32(16)):
                if i * i32(16) + j < i32(60):
                    C[i * i32(16) + j] = A[i * i32(16) + j]

Every intermediate result must fit, not only the last; symbolic extents stay in 64 bits.
"""

from irkit.core import Node, Rules, postorder, rewrite, substitute, walk
from irkit.ir import (
    ANY,
    I32,
    I64,
    Add,
    Binary,
    Cast,
    Compare,
    Const,
    Expr,
    FloorDiv,
    FloorMod,
    For,
    Load,
    Max,
    Min,
    Mul,
    PrimFunc,
    Store,
    Sub,
    Var,
    cast,
    hole,
    no_blocks,
    peephole,
)
from irkit.ir.arith import Interval, bounds, loop_ranges
from irkit.transform import define_pass

_ARITHMETIC = (Add, Sub, Mul, FloorDiv, FloorMod, Min, Max)

_NARROW = hole("narrow", I32)
CASTS = Rules(
    "casts",
    peephole("narrow-the-widened", cast(cast(_NARROW, I64), I32), _NARROW),
    peephole("cast-once", cast(cast(_NARROW, I64), ANY), cast(_NARROW, ANY)),
)


@define_pass(idempotent=True, needs=(no_blocks,), atomic=True)
def narrow_indices(func: PrimFunc) -> PrimFunc:
    """Turn 64-bit loop variables, index arithmetic and comparisons into 32-bit ones if no
    intermediate value can leave that range."""
    narrow = _Narrow(loop_ranges(func))
    loops = [loop for loop in walk(func.body, For) if narrow.loop(loop)]
    wide: dict[Node, Node] = {loop.var: Cast(narrow.vars[loop.var], I64) for loop in loops}
    body = substitute(func.body, wide)

    def narrow_loop(loop: For) -> For | None:
        var = narrow.vars.get(loop.var)
        if var is None:
            return None
        begin, end = narrow.expr(loop.begin), narrow.expr(loop.end)
        assert begin is not None
        assert end is not None
        return loop.replace(var=var, begin=begin, end=end)

    def narrow_access(access: Load | Store) -> Node:
        return access.replace(indices=_narrowed(access.indices, narrow))

    def narrow_comparison(test: Compare) -> Compare | None:
        left, right = narrow.expr(test.a), narrow.expr(test.b)
        return None if left is None or right is None else test.replace(a=left, b=right)

    rules = Rules("narrow", CASTS, narrow_loop, narrow_access, narrow_comparison)
    return func.replace(body=rewrite(body, rules))


def _narrowed(indices: tuple[Expr, ...], narrow: "_Narrow") -> tuple[Expr, ...]:
    made = [narrow.expr(index) for index in indices]
    if all(index is None for index in made):
        return indices
    return tuple(a if b is None else b for a, b in zip(indices, made, strict=True))


class _Narrow:
    """Narrow forms of expressions, and of the loop variables in ``vars``."""

    def __init__(self, ranges: dict[Var, Interval]) -> None:
        self.ranges = ranges
        self.vars: dict[Var, Var] = {}
        self._made: dict[int, Expr | None] = {}
        self._within: dict[int, Interval] = {}
        self._alive: list[Expr] = []

    def loop(self, loop: For) -> bool:
        """Record the variable of a loop if it and its bounds fit, and return True if so; outer
        loops must come first."""
        bounds_fit = self.expr(loop.begin) is not None and self.expr(loop.end) is not None
        if loop.var.dtype != I64 or not bounds_fit:
            return False
        var = Var(loop.var.name, I32)
        self.vars[loop.var] = var
        self.ranges[var] = self.ranges[loop.var]
        return True

    def expr(self, expr: Expr) -> Expr | None:
        """Return an expression for the same value in 32 bits; None if it may not fit."""
        if expr.dtype != I64:
            return None
        made = self._made
        self._alive.append(expr)
        for node in postorder(expr):
            if id(node) not in made:
                assert isinstance(node, Expr)
                made[id(node)] = self._narrow(node) if node.dtype == I64 else None
        return made[id(expr)]

    def _narrow(self, node: Expr) -> Expr | None:
        narrow: Expr | None = None
        match node:
            case Const(int() as value):
                self._within[id(node)] = Interval(value, value)
                narrow = Const(value, I32) if I32.low <= value <= I32.high else None
            case Var() if node in self.vars:
                self._within[id(node)] = bounds(node, self.ranges)
                narrow = self.vars[node]
            case Cast(value) if value.dtype == I32:
                self._within[id(node)] = bounds(value, self.ranges)
                narrow = value
            case Binary(a, b) if isinstance(node, _ARITHMETIC):
                left, right = self._made[id(a)], self._made[id(b)]
                if left is not None and right is not None and self._fits(node, a, b):
                    narrow = type(node)(left, right, I32)
            case _:
                pass
        return narrow

    def _fits(self, node: Binary, a: Expr, b: Expr) -> bool:
        # Variables stand for the operands, so a deep sum is not analysed again at every level.
        x, y = Var("x"), Var("y")
        known = {x: self._within[id(a)], y: self._within[id(b)]}
        found = self._within[id(node)] = bounds(type(node)(x, y, I64), known)
        low, high = found.low, found.high
        return low is not None and high is not None and I32.low <= low and high <= I32.high
