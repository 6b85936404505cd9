"""Host code as text: what launches the kernels of a program, for OpenCL and for CUDA.

Both are a C function around the same steps as the calls of irkit itself: memory, loops, conditions
and launches. It takes memory of the device, then the numbers; it does nothing more after the first
error, and returns it.
"""

from irkit.codegen.c.expressions import evaluate
from irkit.codegen.c.memory_access import element_pointer
from irkit.codegen.c.source_file import c_symbol
from irkit.codegen.c.types import memory_type, value_type
from irkit.codegen.c.writer import ATOM, TIMES, UNARY, Code, FunctionWriter, SourceText
from irkit.codegen.device.legality import described, dynamic_bytes
from irkit.codegen.device.program import (
    DeviceProgram,
    HostBranch,
    HostLoop,
    Launch,
    Steps,
    Temporary,
)
from irkit.codegen.dialect import C11, CUDA
from irkit.codegen.llvm.module.stub import written_buffers
from irkit.core import Node, Target, deep_recursion
from irkit.ir import Buffer, DType, Expr, Var, strided_count

_OPENCL = """\
/* {title}: the host's side, for OpenCL 1.2, written by irkit.
 *
 * kernels are those of the program, in this order:
 *   {launches}
 * Memory is CL_MEM_READ_WRITE, from the first element on. Returns the first error, or CL_SUCCESS.
 */
#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>
"""
_CUDA = """\
/* {title}: the host's side, for CUDA's runtime, written by irkit: goes after the kernels.
 *
 *   {launches}
 * Pointers are memory of the device. Returns the first cudaError_t, or 0.
 */
"""


class _Host:
    """Writer of one host function."""

    def __init__(self, program: DeviceProgram, target: Target) -> None:
        self.program = program
        self.is_cuda = target.kind == "cuda"
        assert target.device is not None
        self.device = target.device
        self.source = SourceText(target, dialect=CUDA if self.is_cuda else C11)
        self.writer = FunctionWriter(self.source)
        self.names: dict[Node, str] = {}
        self.count = 0

    def function(self) -> str:
        func, writer = self.program.func, self.writer
        name = c_symbol(func.name)
        writer.names(name)
        before = [] if self.is_cuda else ["context", "queue", "kernels"]
        for taken in (*before, "status", "stream"):
            writer.names(taken)
        written = written_buffers(func)
        params = ["cl_context context", "cl_command_queue queue", "const cl_kernel *kernels"]
        params = [] if self.is_cuda else params
        for param in func.params:
            if isinstance(param, Buffer):
                self.names[param] = writer.name(param.name)
                kind = element_pointer(param.dtype, constant=param not in written)
                params.append(f"{kind if self.is_cuda else 'cl_mem '}{self.names[param]}")
        params += [self._number(var) for var in self.program.scalars]
        params += ["cudaStream_t stream"] if self.is_cuda else []
        kind = 'extern "C" int' if self.is_cuda else "cl_int"
        writer.line(f"{'int' if self.is_cuda else 'cl_int'} status = 0;")
        self.steps(self.program.steps)
        writer.line("return status;")
        body = "\n".join(writer.lines)
        helpers = "\n".join([*self.source.helpers.values(), ""]) if self.source.helpers else ""
        return f"{helpers}{kind} {name}({', '.join(params)}) {{\n{body}\n}}\n"

    def _number(self, var: Var) -> str:
        """Bind a number, and return its declaration as a parameter."""
        name, dtype = self.writer.name(var.name), var.dtype
        ends = (0, 0) if dtype.is_float else (dtype.low, dtype.high)
        self.writer.values[id(var)] = Code(name, ATOM, *ends)
        self.names[var] = name
        return f"{memory_type(dtype)} {name}"

    def value(self, expr: Expr) -> Code:
        self.writer.begin_statement()
        return evaluate(self.writer, expr)

    def steps(self, steps: Steps) -> None:
        for step in steps:
            match step:
                case Launch():
                    self.launch(step)
                case Temporary():
                    self.temporary(step)
                case HostLoop():
                    self.loop(step)
                case HostBranch():
                    with self.writer.block(f"if ({self.value(step.cond).text})"):
                        self.steps(step.then)
                    if step.otherwise:
                        with self.writer.block("else"):
                            self.steps(step.otherwise)

    def loop(self, step: HostLoop) -> None:
        loop, writer = step.loop, self.writer
        begin, end = self.value(loop.begin), self.value(loop.end)
        name, kind = writer.name(loop.var.name), value_type(loop.var.dtype)
        writer.values[id(loop.var)] = Code(name, ATOM, begin.low, max(begin.low, end.high - 1))
        self.names[loop.var] = name
        head = f"for ({kind} {name} = {begin.text}; {name} < {end.within(ATOM)}; ++{name})"
        with writer.block(head):
            self.steps(step.steps)

    def temporary(self, step: Temporary) -> None:
        buffer, writer = step.buffer, self.writer
        name = self.names[buffer] = writer.name(buffer.name)
        with writer.block(""):
            parts = [str(buffer.dtype.bytes)]
            dims = buffer.shape
            if buffer.strides is not None:
                dims = (strided_count(buffer.shape, buffer.strides),)
            parts += [f"(size_t){self.value(dim).within(UNARY)}" for dim in dims]
            size = " * ".join(parts)
            if self.is_cuda:
                kind = memory_type(buffer.dtype)
                writer.line(f"{kind} *{name} = NULL;")
                writer.line(f"if (!status) status = (int)cudaMalloc((void **)&{name}, {size});")
                self.steps(step.steps)
                writer.line(f"cudaFree({name});")
                return
            writer.line(f"cl_mem {name} = NULL;")
            create = f"clCreateBuffer(context, CL_MEM_READ_WRITE, {size}, NULL, &status)"
            writer.line(f"if (!status) {name} = {create};")
            self.steps(step.steps)
            writer.line(f"if ({name}) clReleaseMemObject({name});")

    def launch(self, launch: Launch) -> None:
        writer = self.writer
        grid, block = ([self.value(dim) for dim in dims] for dims in (launch.grid, launch.block))
        number, self.count = self.count, self.count + 1
        runs = [f"{dim.within(TIMES)} > 0" for dim in grid if not dim.is_literal]
        when = " && ".join(["!status", *runs])
        with writer.block(f"if ({when})"):
            if self.is_cuda:
                blocks, threads = (", ".join(d.text for d in dims) for dims in (grid, block))
                args = ", ".join(self.names[param] for param in launch.kernel.params)
                name = c_symbol(launch.kernel.name)
                asked = dynamic_bytes(launch, self.device)
                if asked:
                    what = "cudaFuncAttributeMaxDynamicSharedMemorySize"
                    writer.line(f"status = (int)cudaFuncSetAttribute({name}, {what}, {asked});")
                run = f"{name}<<<dim3({blocks}), dim3({threads}), {asked}, stream>>>({args});"
                writer.line(f"if (!status) {run}" if asked else run)
                writer.line(f"{'if (!status) ' if asked else ''}status = (int)cudaGetLastError();")
                return
            local = ", ".join(dim.text for dim in block)
            total = ", ".join(
                f"(size_t){blocks.within(UNARY)} * {threads.within(UNARY)}"
                for blocks, threads in zip(grid, block, strict=True)
            )
            writer.line(f"const size_t local[3] = {{{local}}}, global[3] = {{{total}}};")
            for place, param in enumerate(launch.kernel.params):
                given = self.names[param]
                if isinstance(param, Var):
                    given = self._typed(param.dtype, given)
                call = f"clSetKernelArg(kernels[{number}], {place}, sizeof {given}, &{given})"
                writer.line(f"if (!status) status = {call};")
            run = f"clEnqueueNDRangeKernel(queue, kernels[{number}], 3, NULL, global, local,"
            writer.line(f"if (!status) status = {run} 0, NULL, NULL);")

    def _typed(self, dtype: DType, given: str) -> str:
        """Return a variable of the type of a parameter, whose address can be taken."""
        return self.writer.named(dtype, Code(given)) if given.isidentifier() else given


@deep_recursion
def host_source(program: DeviceProgram, target: Target) -> str:
    """Return the host code of a program as text."""
    launches = "\n *   ".join(map(described, program.launches))
    head = (_CUDA if target.kind == "cuda" else _OPENCL).format(
        title=program.func.name, launches=launches
    )
    return f"{head}\n{_Host(program, target).function()}"
