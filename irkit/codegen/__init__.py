"""From loop IR to native code. Reading order: host (what this machine is), llvm_types, llvm_text,
llvm_scope, llvm_int, llvm_float, llvm_math, llvm_memory, llvm_lazy, llvm_expr, llvm_layout,
llvm_stmt, llvm_module, llvm_stub; then object."""

from irkit.codegen.host import complete, host_target, runnable
from irkit.codegen.llvm_layout import OUT_OF_MEMORY
from irkit.codegen.llvm_module import EMITTER_VERSION, assertions, emit, emit_stubs
from irkit.codegen.llvm_stub import (
    BAD_ARGUMENT,
    BF16_SYMBOL,
    NDARRAY_SYMBOL,
    NUMPY_NUMBERS,
    array_fields,
    stub_symbol,
    written,
)
from irkit.codegen.llvm_types import symbol
from irkit.codegen.object import assembly, compile_object, optimise

__all__ = [
    "BAD_ARGUMENT",
    "BF16_SYMBOL",
    "EMITTER_VERSION",
    "NDARRAY_SYMBOL",
    "NUMPY_NUMBERS",
    "OUT_OF_MEMORY",
    "array_fields",
    "assembly",
    "assertions",
    "compile_object",
    "complete",
    "emit",
    "emit_stubs",
    "host_target",
    "optimise",
    "runnable",
    "stub_symbol",
    "symbol",
    "written",
]
