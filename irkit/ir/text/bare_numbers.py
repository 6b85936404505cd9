"""Find what is written without a type, and build it in the type of what it meets.

A number is bare, and so is a choice or arithmetic of nothing but bare numbers: ``select(a < b, 1,
0)`` stored into i32 is of i32, as the number 1 would be. ``i64(1)`` says its type and is not bare.
"""

import ast

from irkit.ir import build
from irkit.ir.conditional import Conditional, Select
from irkit.ir.dtype import DType
from irkit.ir.expr import Binary, Broadcast, Cast, Const, Expr, Neg, Scalar, as_expr, binary
from irkit.ir.operators import FLOATS, NUMBERS, OPERATORS

_ARITHMETIC = tuple(
    row.python for row in OPERATORS.values() if row.python and FLOATS <= row.kinds <= NUMBERS
)
_OF_TWO = frozenset(row.sign for row in OPERATORS.values() if row.python is None)


def bare_number(node: ast.expr) -> Scalar | None:
    """Read a number with its signs; None if something else is written."""
    signs = 0
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, signs = node.operand, signs + 1
    if not (isinstance(node, ast.Constant) and isinstance(node.value, (int, float))):
        return None
    if not signs:
        return node.value
    return None if isinstance(node.value, bool) else -node.value if signs % 2 else node.value


def is_bare(node: ast.expr) -> bool:
    """Return True if an expression is written without any type, as ``1`` or ``2 if c else 3``."""
    match node:
        case ast.IfExp(body=a, orelse=b):
            return is_bare(a) and is_bare(b)
        case ast.Call(func=ast.Name("select"), args=[_, a, b], keywords=[]):
            return is_bare(a) and is_bare(b)
        case ast.Call(func=ast.Name(name), args=[a, b], keywords=[]) if name in _OF_TWO:
            return is_bare(a) and is_bare(b)
        case ast.BinOp(left=a, op=op, right=b):
            return isinstance(op, _ARITHMETIC) and is_bare(a) and is_bare(b)
        case _:
            return bare_number(node) is not None


def retyped(expr: Expr, like: DType) -> Expr:
    """Build what was read of a bare expression anew, each number as one that meets ``like``.

    Raises: DTypeError if a number does not fit into that type.
    """
    match expr:
        case Const(value):
            return as_expr(value, like)
        case Broadcast(value) | Cast(value):
            made = retyped(value, like)
            lanes = expr.dtype.lanes
            return made if made.dtype.lanes == lanes else build.broadcast(made, lanes)
        case Select(cond, then, otherwise):
            return build.select(cond, retyped(then, like), retyped(otherwise, like))
        case Conditional(cond, then, otherwise):
            return build.if_then_else(cond, retyped(then, like), retyped(otherwise, like))
        case Binary(a, b):
            return binary(type(expr), retyped(a, like), retyped(b, like))
        case Neg(a):
            made = retyped(a, like)
            return Neg(made, made.dtype)
        case _:
            return expr
