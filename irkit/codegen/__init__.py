"""From loop IR to native code. Reading order: host and processor (what there is),
llvm_types, llvm_debug, llvm_text, llvm_scope, llvm_int, llvm_float, llvm_math, llvm_memory,
llvm_lazy,
llvm_expr, llvm_layout, pool, pool_text and llvm_parallel (parallel loops), llvm_record, llvm_stmt,
llvm_module, llvm_stub; then masked_stores, object, and executor for models."""

from irkit.codegen.executor import (
    ALIGNMENT,
    ENTRY,
    Copy,
    KernelCall,
    Place,
    Plan,
    TensorSpec,
    emit_executor,
)
from irkit.codegen.host import complete, host_target, runnable
from irkit.codegen.llvm_layout import OUT_OF_MEMORY
from irkit.codegen.llvm_module import EMITTER_VERSION, assertions, emit, emit_stubs
from irkit.codegen.llvm_record import record_size
from irkit.codegen.llvm_stub import (
    BAD_ARGUMENT,
    BF16_SYMBOL,
    NDARRAY_SYMBOL,
    NUMPY_NUMBERS,
    array_fields,
    kernel_declaration,
    stub_symbol,
    written,
)
from irkit.codegen.llvm_types import quoted, symbol
from irkit.codegen.object import assembly, compile_object, optimise
from irkit.codegen.pool import DISMISS as POOL_DISMISS
from irkit.codegen.pool import ENTER, emit_pool, serial_because
from irkit.codegen.pool import FORKED as POOL_FORKED
from irkit.codegen.pool import MAX_THREADS as MAX_POOL_THREADS
from irkit.codegen.pool import RESIZE as POOL_RESIZE
from irkit.codegen.pool import THREADS as POOL_THREADS
from irkit.codegen.processor import NEVER_USED

__all__ = [
    "ALIGNMENT",
    "BAD_ARGUMENT",
    "BF16_SYMBOL",
    "EMITTER_VERSION",
    "ENTER",
    "ENTRY",
    "MAX_POOL_THREADS",
    "NDARRAY_SYMBOL",
    "NEVER_USED",
    "NUMPY_NUMBERS",
    "OUT_OF_MEMORY",
    "POOL_DISMISS",
    "POOL_FORKED",
    "POOL_RESIZE",
    "POOL_THREADS",
    "Copy",
    "KernelCall",
    "Place",
    "Plan",
    "TensorSpec",
    "array_fields",
    "assembly",
    "assertions",
    "compile_object",
    "complete",
    "emit",
    "emit_executor",
    "emit_pool",
    "emit_stubs",
    "host_target",
    "kernel_declaration",
    "optimise",
    "quoted",
    "record_size",
    "runnable",
    "serial_because",
    "stub_symbol",
    "symbol",
    "written",
]
