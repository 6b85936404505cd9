"""Assertions of kernels about sizes, checked before a call writes anything.

An assertion that only depends on the sizes of a call, in a kernel that each call runs, becomes a
step of the arithmetic on sizes, which refuses the call. Those of kernels in branches and loops,
which a call may not run, are left to the kernels.
"""

from collections.abc import Iterator, Mapping, Sequence

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
    reads = any(next(walk(expr, Load), None) for expr in exprs)
    return not reads and all(var in found for expr in exprs for var in walk(expr, Var))


def _rooms(cond: Expr) -> Iterator[Expr]:
    """Yield what must not be negative so that a condition holds, of comparisons joined by and."""
    match cond:
        case And(a, b):
            yield from _rooms(a)
            yield from _rooms(b)
        case LE(a, b):
            yield b - a
        case GE(a, b):
            yield a - b
        case LT(a, b):
            yield b - a - 1
        case GT(a, b):
            yield a - b - 1
        case _:
            return
