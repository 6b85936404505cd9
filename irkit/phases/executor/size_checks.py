"""Assertions of kernels about sizes, checked before a call writes anything.

An assertion that only depends on the sizes of a call, in a kernel that each call runs, becomes a
step of the arithmetic on sizes, which refuses the call. Those of kernels in branches and loops,
which a call may not run, are left to the kernels.
"""

from collections.abc import Mapping, Sequence

from irkit.codegen import SizeArithmetic
from irkit.core import substitute, walk
from irkit.ir import GE, GT, LE, LT, And, Assert, Expr, Load, PrimFunc, Seq, Stmt, Var, script


def check_sizes(sizes: SizeArithmetic, kernel: PrimFunc, found: Mapping[Var, Expr]) -> None:
    """Add the steps that check what a kernel asserts of sizes; ``found`` are these of its call."""
    for stmt in _statements(kernel.body):
        if not isinstance(stmt, Assert) or not _known(stmt, found):
            continue
        texts = [script(substitute(value, found)) for value in stmt.values]
        for room in _rooms(stmt.cond):
            sizes.check(substitute(room, found), stmt.described(texts))


def _statements(body: Stmt) -> Sequence[Stmt]:
    return body.stmts if isinstance(body, Seq) else (body,)


def _known(stmt: Assert, found: Mapping[Var, Expr]) -> bool:
    exprs = (stmt.cond, *stmt.values)
    reads = any(next(walk(expr, Load), None) is not None for expr in exprs)
    return not reads and all(var in found for expr in exprs for var in walk(expr, Var))


def _rooms(cond: Expr) -> list[Expr]:
    """Return what must not be negative so that a condition holds, of comparisons joined by and."""
    found, waiting = list[Expr](), [cond]
    while waiting:
        match waiting.pop():
            case And(a, b):
                waiting += [b, a]
            case LE(a, b):
                found.append(b - a)
            case GE(a, b):
                found.append(a - b)
            case LT(a, b):
                found.append(b - a - 1)
            case GT(a, b):
                found.append(a - b - 1)
            case _:
                pass  # The kernel checks it.
    return found
