"""The primitive add_unit_loop: add a loop that runs once around a statement."""

from irkit.core import Span
from irkit.ir import For, PrimFunc, Stmt, Var, const, index, replace_stmts


def add_unit_loop(func: PrimFunc, stmt: Stmt) -> tuple[PrimFunc, Var]:
    """Add a loop that runs once around a loop or block."""
    zero = index(0)
    var = Var("u", zero.dtype)
    span = Span("schedule", "add_unit_loop", parent=stmt.span)
    made = For(var, zero, const(1, zero.dtype), stmt, span=span)
    return replace_stmts(func, {stmt: made}), var
