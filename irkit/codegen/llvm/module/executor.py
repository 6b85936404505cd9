"""The executor: one function that calls the kernels of a model in order, over a planned arena."""

from irkit.codegen.executor_plan import ExecutorPlan, TensorPlace
from irkit.codegen.llvm.builder.types import quoted, symbol

ENTRY = "irkit_run"
_TABLES = {"input": "inputs", "output": "outputs", "param": "params", "arena": "arena"}


def emit_executor(plan: ExecutorPlan) -> str:
    """Return the executor as LLVM IR.

    It is ``i64 @irkit_run(ptr inputs, ptr outputs, ptr params, ptr arena)`` and returns 0, or the
    number of the call that failed, from 1, in the upper 32 bits and the status of the kernel in the
    lower.
    """
    kernels = {call.kernel: len(call.args) + call.records for call in plan.calls}
    lines = [
        f"declare i32 {quoted(symbol(name))}({', '.join(['ptr'] * count)})"
        for name, count in kernels.items()
    ]
    lines.append("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    lines.append(f"define i64 @{ENTRY}(ptr %inputs, ptr %outputs, ptr %params, ptr %arena) {{")
    lines.append("entry:")
    places = _addresses(plan, lines)
    for number, call in enumerate(plan.calls):
        given = [*(places[place] for place in call.args), *["null"] * call.records]
        args = ", ".join(f"ptr {place}" for place in given)
        lines += [
            f"  %s{number} = call i32 {quoted(symbol(call.kernel))}({args})",
            f"  %f{number} = icmp ne i32 %s{number}, 0",
            f"  br i1 %f{number}, label %fail{number}, label %next{number}",
            f"fail{number}:",
            f"  %w{number} = zext i32 %s{number} to i64",
            f"  %c{number} = or i64 %w{number}, {(number + 1) << 32}",
            f"  ret i64 %c{number}",
            f"next{number}:",
        ]
    lines += [
        f"  call void @llvm.memcpy.p0.p0.i64(ptr {places[copy.to]}, ptr {places[copy.source]}, "
        f"i64 {copy.size}, i1 false)"
        for copy in plan.copies
    ]
    return "\n".join([*lines, "  ret i64 0", "}", ""])


def _addresses(plan: ExecutorPlan, lines: list[str]) -> dict[TensorPlace, str]:
    """Compute every address once, at the start."""
    used = [place for call in plan.calls for place in call.args]
    used += [place for copy in plan.copies for place in (copy.to, copy.source)]
    names: dict[TensorPlace, str] = {}
    for place in dict.fromkeys(used):
        name = f"%{place.kind}{place.at}"
        table = _TABLES[place.kind]
        if place.kind in ("param", "arena"):
            lines.append(f"  {name} = getelementptr i8, ptr %{table}, i64 {place.at}")
        else:
            lines.append(f"  {name}.at = getelementptr ptr, ptr %{table}, i64 {place.at}")
            lines.append(f"  {name} = load ptr, ptr {name}.at")
        names[place] = name
    return names
