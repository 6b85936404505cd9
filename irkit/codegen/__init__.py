"""From loop IR to native code.

Reading order: llvm (LLVM IR and object files), c (C source),
dialect (what OpenCL C and CUDA C have in another way), alignment (of addresses in kernels),
wrapping_loops (which LLVM must not vectorise), warp_barrier (a statement of kernels), device
(kernels and their launches), legalisation (what each of them wants replaced before), then
executor_plan (the plan of a model's executor, as data), size_arithmetic (its arithmetic on sizes,
from expressions).
"""

from irkit.codegen.c.interface import (
    ForeignKernel as ForeignKernel,
    c_prefix as c_prefix,
    emit_header as emit_header,
    emit_interface as emit_interface,
    folder_files as folder_files,
    interface_names as interface_names,
    link_flags as link_flags,
)
from irkit.codegen.c.source_file import (
    c_signature as c_signature,
    c_symbol as c_symbol,
    emit_c as emit_c,
)
from irkit.codegen.device.device_llvm import (
    device_assembly as device_assembly,
    device_llvm as device_llvm,
    device_object as device_object,
)
from irkit.codegen.device.device_source import (
    OPENCL_OPTIONS as OPENCL_OPTIONS,
    device_source as device_source,
)
from irkit.codegen.device.host_text import (
    host_source as host_source,
)
from irkit.codegen.device.lanes import (
    join_lanes as join_lanes,
)
from irkit.codegen.device.legality import (
    check_program as check_program,
    dynamic_bytes as dynamic_bytes,
)
from irkit.codegen.device.program import (
    DeviceProgram as DeviceProgram,
    HostBranch as HostBranch,
    HostLoop as HostLoop,
    Launch as Launch,
    Steps as Steps,
    Temporary as Temporary,
    device_program as device_program,
)
from irkit.codegen.executor_plan import (
    MOST_BYTES as MOST_BYTES,
    Branch as Branch,
    Copy as Copy,
    ExecutorPlan as ExecutorPlan,
    FlowKind as FlowKind,
    ImportedFunction as ImportedFunction,
    KernelCall as KernelCall,
    MeasuredSize as MeasuredSize,
    Region as Region,
    Repeat as Repeat,
    RowCopy as RowCopy,
    Size as Size,
    SizeStep as SizeStep,
    TensorPlace as TensorPlace,
    TensorSpec as TensorSpec,
    control_flow as control_flow,
    evaluate_sizes as evaluate_sizes,
    iteration_of as iteration_of,
    refusal as refusal,
)
from irkit.codegen.legalisation import (
    Options as Options,
    legalisation as legalisation,
)
from irkit.codegen.llvm.builder.exits import (
    BAD_SIZE as BAD_SIZE,
    OUT_OF_MEMORY as OUT_OF_MEMORY,
)
from irkit.codegen.llvm.builder.types import (
    quoted as quoted,
    symbol as symbol,
)
from irkit.codegen.llvm.compiler.host import (
    complete_target as complete_target,
    host_target as host_target,
    is_foreign as is_foreign,
    runnable_target as runnable_target,
)
from irkit.codegen.llvm.compiler.library import (
    has_llvm as has_llvm,
    llvm_binding as llvm_binding,
)
from irkit.codegen.llvm.compiler.object_file import (
    assembly as assembly,
    assembly_and_object as assembly_and_object,
    compile_object as compile_object,
    optimise as optimise,
)
from irkit.codegen.llvm.compiler.processor import (
    NEVER_USED as NEVER_USED,
)
from irkit.codegen.llvm.module.executor import (
    ENTRY as ENTRY,
    SIZES as SIZES,
    emit_executor as emit_executor,
)
from irkit.codegen.llvm.module.module import (
    EMITTER_VERSION as EMITTER_VERSION,
    assertions as assertions,
    emit as emit,
    emit_stubs as emit_stubs,
)
from irkit.codegen.llvm.module.stub import (
    BAD_ARGUMENT as BAD_ARGUMENT,
    BF16_SYMBOL as BF16_SYMBOL,
    NDARRAY_SYMBOL as NDARRAY_SYMBOL,
    NUMPY_NUMBERS as NUMPY_NUMBERS,
    array_fields as array_fields,
    kernel_declaration as kernel_declaration,
    stub_symbol as stub_symbol,
    written_buffers as written_buffers,
)
from irkit.codegen.llvm.parallel.pool import (
    ENTER as ENTER,
    MAX_POOL_THREADS as MAX_POOL_THREADS,
    POOL_DISMISS as POOL_DISMISS,
    POOL_FORKED as POOL_FORKED,
    POOL_RESIZE as POOL_RESIZE,
    POOL_THREADS as POOL_THREADS,
    emit_pool as emit_pool,
    why_serial as why_serial,
)
from irkit.codegen.llvm.statements.assertion_record import (
    record_size as record_size,
)
from irkit.codegen.llvm.statements.clocks import (
    clock_count as clock_count,
    clocks_symbol as clocks_symbol,
)
from irkit.codegen.plan_text import (
    PlanLine as PlanLine,
    plan_lines as plan_lines,
)
from irkit.codegen.run_refusals import (
    measured_refusal as measured_refusal,
    undefined_state as undefined_state,
)
from irkit.codegen.size_arithmetic import (
    SizeArithmetic as SizeArithmetic,
)
