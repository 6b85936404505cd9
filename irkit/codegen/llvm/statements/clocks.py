"""Clocks of loops: a table for each kernel that has any, to which ``start_clock`` and
``stop_clock`` add.

The table holds two i64 for each clock: the ticks of a counter of the processor, and iterations. To
start subtracts the counter and to stop adds it, atomically, so that threads and recursion need no
more. The counter runs at a constant rate on processors of this century; where a target has none
that a program may read, it stands still.
"""

from irkit.codegen.llvm.arithmetic.conversions import convert
from irkit.codegen.llvm.builder.scope import FunctionScope
from irkit.codegen.llvm.builder.text import ModuleText
from irkit.codegen.llvm.builder.types import quoted, symbol
from irkit.codegen.llvm.expressions.expressions import evaluate
from irkit.core import walk
from irkit.ir import I64, Call, Evaluate, PrimFunc, as_int, is_hint

ENTRIES = 2
"""Numbers that the table holds for each clock."""


def clocks_symbol(name: str) -> str:
    """Return the symbol of the table of a kernel."""
    return f"{symbol(name)}.clocks"


def clock_count(func: PrimFunc) -> int:
    """Return how many clocks the table of a function has: one more than the highest number."""
    numbers = [
        as_int(stmt.value.args[0])
        for stmt in walk(func.body, Evaluate)
        if is_hint(stmt) and isinstance(stmt.value, Call) and stmt.value.name != "prefetch"
    ]
    return max([number + 1 for number in numbers if number is not None], default=0)


def write_clock(scope: FunctionScope, call: Call) -> None:
    """Write the start or the stop of a clock."""
    module, number = scope.text.module, as_int(call.args[0])
    assert number is not None, "the verifier asks for constant numbers"
    module.clocks = max(module.clocks, number + 1)
    scope.begin_statement()
    if call.name == "start_clock":
        count = convert(scope.text, call.args[1].dtype, I64, evaluate(scope, call.args[1]))
        ran = scope.text.intrinsic("smax", "i64", count, "0")
        _add(scope, "add", number * ENTRIES + 1, ran)
        _add(scope, "sub", number * ENTRIES, _now(scope))
    else:
        _add(scope, "add", number * ENTRIES, _now(scope))


def declare_clocks(module: ModuleText, name: str) -> str:
    """Return the definition of the table of a kernel; empty if it has no clocks."""
    if not module.clocks:
        return ""
    size, module.clocks = module.clocks * ENTRIES, 0
    return f"{quoted(clocks_symbol(name))} = global [{size} x i64] zeroinitializer"


def _now(scope: FunctionScope) -> str:
    kind = "readcyclecounter" if _is_x86(scope.text.module) else "readsteadycounter"
    scope.text.module.declare(f"llvm.{kind}", f"declare i64 @llvm.{kind}()")
    return scope.text.op(f"call i64 @llvm.{kind}()")


def _is_x86(module: ModuleText) -> bool:
    return module.target.triple.startswith(("x86_64", "i686", "i386"))


def _add(scope: FunctionScope, operation: str, place: int, value: str) -> None:
    table = quoted(clocks_symbol(scope.text.module.kernel))
    pointer = f"getelementptr (i64, ptr {table}, i64 {place})"
    scope.text.op(f"atomicrmw {operation} ptr {pointer}, i64 {value} monotonic")
