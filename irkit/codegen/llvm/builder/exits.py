"""Exits of a function: return a status, free memory."""

from irkit.codegen.llvm.builder.scope import FunctionScope

OUT_OF_MEMORY = -1
BAD_SIZE = -0x8000
"""A size that depends on arguments would wrap around (``irkit.ir.exact_sizes``)."""


def fail_if(scope: FunctionScope, cond: str, status: int | str) -> None:
    """Leave the function with a status, a number or a value, if a condition holds."""
    text = scope.text
    bad, good = text.new_label("fail"), text.new_label("ok")
    text.line(f"br i1 {cond}, label %{bad}, label %{good}, !prof !0")
    text.start(bad)
    text.line(f"store i32 {status}, ptr %status, align 4")
    text.jump("exit")
    text.start(good)
    scope.leaves_early = True


def leave(scope: FunctionScope) -> None:
    """Write the end of a function: free heap memory and return the status."""
    text = scope.text
    if not scope.leaves_early:
        text.line("ret i32 0")
        return
    text.entry += ["  %status = alloca i32, align 4", "  store i32 0, ptr %status, align 4"]
    text.jump("exit")
    text.start("exit")
    for slot in scope.heap:
        held = text.op(f"load ptr, ptr {slot}, align 8")
        text.line(f"call void @free(ptr {held})")
    text.line(f"ret i32 {text.op('load i32, ptr %status, align 4')}")
