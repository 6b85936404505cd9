"""Compute functions such as exp by arithmetic, which every target has.

Before::

    def f(A: f32[8], C: f32[8]):
        for i in serial(0, 8):
            C[i] = exp2(A[i])

After::

    def f(A: f32[8], C: f32[8]):
        for i in serial(0, 8):
            t: f32 = A[i]
            t_1: f32 = select(t < f32(-151.0), f32(-151.0), t)
            t_2: f32 = select(t_1 > f32(129.0), f32(129.0), t_1)
            t_3: f32 = strict_add(t_2, f32(12582912.0))
            t_4: f32 = strict_mul(strict_sub(t_2, strict_sub(t_3, f32(12582912.0))), f32(0.6931471824645996))
            t_5: f32 = muladd(muladd(muladd(f32(0.001382010872475803), t_4, f32(0.00836868491023779)), t_4, f32(0.04166827350854874)), t_4, f32(0.1666652113199234))
            t_6: f32 = strict_add(muladd(muladd(t_5, t_4, f32(0.4999999403953552)), strict_mul(t_4, t_4), t_4), f32(1.0))
            t_7: u32 = reinterpret(t_3, u32) - u32(1262485504)
            t_8: u32 = cast(cast(t_7, i32) >> i32(1), u32)
            t_9: f32 = reinterpret(t_8 + u32(127) << u32(23), f32)
            t_10: u32 = t_7 - t_8 + u32(127) << u32(23)
            C[i] = strict_mul(strict_mul(t_6, t_9), reinterpret(t_10, f32))

A function of f32 or f64 becomes polynomials and operations on bits (``irkit/ir/math``). The sums
and products are ``strict``, which nothing contracts, so a number has the same result in every
loop. Parts that are used more than once get names; under a condition they stay where they are,
since they may hold loads that it guards.
"""  # noqa: E501 -- lines as they are printed

from irkit.core import Node, children, deep_recursion, postorder, walk, with_fields
from irkit.ir import (
    Broadcast,
    Call,
    Const,
    Expr,
    Ldexp,
    Let,
    PrimFunc,
    Stmt,
    Var,
    map_below,
    nested,
)
from irkit.ir.math import MathFeatures, expansion, has_expansion
from irkit.passes.loop.support.evaluated import always_evaluated
from irkit.transform import define_pass

MOST_HEIGHT = 2
"""Of an expression on one line of an expansion."""


@define_pass(idempotent=True, changes_rounding=True)
def expand_functions(func: PrimFunc, *, fuses: bool = True, scales: bool = False) -> PrimFunc:
    """Replace functions and products by powers of 2 by arithmetic and operations on bits.

    Args:
        fuses: the target rounds a sum of a product once.
        scales: the target multiplies by a power of 2 in one instruction.
    """
    features = MathFeatures(fuses, scales)
    if not any(has_expansion(node, features) for node in walk(func.body, (Call, Ldexp))):
        return func
    with deep_recursion:
        return func.replace(body=_FunctionExpander(features).visit(func.body))


class _FunctionExpander:
    """Rewrites statements, each with the names for what its expressions share in front of it."""

    def __init__(self, features: MathFeatures) -> None:
        self.features = features

    def visit(self, stmt: Stmt) -> Stmt:
        roots = [child for child in children(stmt) if isinstance(child, Expr)]
        made = map_below(stmt, self.visit)
        nodes = [node for root in roots for node in postorder(root) if isinstance(node, Expr)]
        if not any(has_expansion(node, self.features) for node in nodes):
            return made
        names: list[tuple[Var, Expr]] = []
        sure = always_evaluated(stmt, roots)
        new: dict[int, Node] = {}
        for node in nodes:
            if id(node) in new:
                continue
            below = with_fields(node, new)
            assert isinstance(below, Expr)
            found = expansion(below, self.features)
            if found is not None:
                below = _named(found, below, names) if id(node) in sure else found
            if below is not node:
                new[id(node)] = below
        changed = with_fields(made, new)
        assert isinstance(changed, Stmt)
        around = [Let(var, value, changed, span=stmt.span) for var, value in names]
        return nested(around, changed)


def _named(root: Expr, given: Expr, names: list[tuple[Var, Expr]]) -> Expr:
    """Bind to names what an expansion uses more than once, and what is high.

    Its leaves are the operands of what is expanded.
    """
    leaves = {id(each) for each in children(given)}
    uses: dict[int, int] = {}
    order: list[Expr] = []

    def enter(node: Expr) -> None:
        uses[id(node)] = uses.get(id(node), 0) + 1
        if uses[id(node)] == 1:
            if id(node) not in leaves:
                for below in children(node):
                    enter(below)  # pyright: ignore[reportArgumentType] -- expressions hold expressions
            order.append(node)

    enter(root)
    new: dict[int, Node] = {}
    heights: dict[int, int] = {}
    for node in order:
        is_leaf = id(node) in leaves
        below = node if is_leaf else with_fields(node, new)
        assert isinstance(below, Expr)
        parts = () if is_leaf else children(node)
        height = 0 if _is_trivial(node) else 1 + max([heights[id(each)] for each in parts] or [0])
        if height and (uses[id(node)] > 1 or (height > MOST_HEIGHT and node is not root)):
            var, height = Var("t", node.dtype), 0
            names.append((var, below))
            below = var
        heights[id(node)] = height
        if below is not node:
            new[id(node)] = below
    made = new.get(id(root), root)
    assert isinstance(made, Expr)
    return made


def _is_trivial(expr: Expr) -> bool:
    return isinstance(expr, (Var, Const)) or (
        isinstance(expr, Broadcast) and isinstance(expr.value, (Var, Const))
    )
