"""The record of a call: which assertion failed, and the values that its message mentions.

A kernel with such an assertion takes a pointer to i64s as its last argument: the number of the
assertion, 0 before the call, then its values. If several threads fail, the first one writes. The
pointer is null if the caller wants no record.
"""

from collections.abc import Sequence

from irkit.codegen.llvm.builder.scope import BufferPlace, FunctionScope
from irkit.codegen.llvm.expressions.expressions import evaluate
from irkit.codegen.llvm.expressions.memory_access import as_i64
from irkit.core import walk
from irkit.ir import I64, Assert, Buffer, Const, Expr, PrimFunc

RECORD = Buffer("record", (Const(0, I64),), I64)
"""Stand-in for the record among the buffers in scope."""
PARAMETER = "%record"


def record_size(func: PrimFunc) -> int:
    """Return the number of i64s in the record of a kernel; 0 if it needs none."""
    most = max((len(node.values) for node in walk(func, Assert)), default=0)
    return most + 1 if most else 0


def bind_record(scope: FunctionScope) -> str:
    """Add the record parameter to the scope and return its declaration."""
    scope.places[id(RECORD)] = BufferPlace(PARAMETER, (1,))
    return f"ptr {PARAMETER}"


def note_values(scope: FunctionScope, holds: str, number: int, values: Sequence[Expr]) -> None:
    """Write a failed assertion into the record, unless it has one already."""
    text, record = scope.text, scope.place(RECORD).pointer
    asked, free, note, done = (text.new_label(hint) for hint in ("ask", "free", "note", "noted"))
    text.line(f"br i1 {holds}, label %{done}, label %{asked}, !prof !1")
    text.start(asked)
    text.branch(text.op(f"icmp eq ptr {record}, null"), done, free)
    text.start(free)
    pair = text.op(f"cmpxchg ptr {record}, i64 0, i64 {number} monotonic monotonic")
    text.branch(text.op(f"extractvalue {{ i64, i1 }} {pair}, 1"), note, done)
    text.start(note)
    mark = len(scope.log)
    for place, value in enumerate(values, 1):
        evaluate(scope, value)
        at = text.op(f"getelementptr i64, ptr {record}, i64 {place}")
        text.line(f"store i64 {as_i64(scope, value)}, ptr {at}, align 8")
    scope.forget_since(mark)
    text.jump(done)
    text.start(done)
