"""From loop IR to native code. Reading order: host and processor (what there is),
llvm_types, llvm_debug, llvm_text, llvm_scope, llvm_int, llvm_float, llvm_math, llvm_memory,
llvm_lazy,
llvm_expr, llvm_layout, pool, pool_text and llvm_parallel (parallel loops), llvm_record, llvm_stmt,
llvm_module, llvm_stub; then masked_stores, object, and executor for models."""

from irkit.codegen.executor_plan import (
    ALIGNMENT,
    Copy,
    ExecutorPlan,
    KernelCall,
    TensorPlace,
    TensorSpec,
)
from irkit.codegen.llvm.builder.exits import OUT_OF_MEMORY
from irkit.codegen.llvm.builder.types import quoted, symbol
from irkit.codegen.llvm.compiler.host import complete, host_target, runnable
from irkit.codegen.llvm.compiler.object_file import assembly, compile_object, optimise
from irkit.codegen.llvm.compiler.processor import NEVER_USED
from irkit.codegen.llvm.module.executor import ENTRY, emit_executor
from irkit.codegen.llvm.module.module import EMITTER_VERSION, assertions, emit, emit_stubs
from irkit.codegen.llvm.module.stub import (
    BAD_ARGUMENT,
    BF16_SYMBOL,
    NDARRAY_SYMBOL,
    NUMPY_NUMBERS,
    array_fields,
    kernel_declaration,
    stub_symbol,
    written,
)
from irkit.codegen.llvm.parallel.pool import DISMISS as POOL_DISMISS
from irkit.codegen.llvm.parallel.pool import ENTER, emit_pool, serial_because
from irkit.codegen.llvm.parallel.pool import FORKED as POOL_FORKED
from irkit.codegen.llvm.parallel.pool import MAX_THREADS as MAX_POOL_THREADS
from irkit.codegen.llvm.parallel.pool import RESIZE as POOL_RESIZE
from irkit.codegen.llvm.parallel.pool import THREADS as POOL_THREADS
from irkit.codegen.llvm.statements.assertion_record import record_size

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
    "ExecutorPlan",
    "KernelCall",
    "TensorPlace",
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
