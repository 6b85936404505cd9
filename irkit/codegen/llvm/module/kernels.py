"""Kernels for devices with threads as LLVM IR.

Buffers are pointers to the device's memory. Inside, pointers may point anywhere; LLVM infers where
they do, since each is made from a parameter, from memory of the block, or from a local array.
"""

import re
from collections.abc import Sequence

from irkit.codegen.alignment import Alignment
from irkit.codegen.llvm.builder.devices import LLVMDevice
from irkit.codegen.llvm.builder.scope import BufferPlace, FunctionScope
from irkit.codegen.llvm.builder.text import FunctionText, ModuleText
from irkit.codegen.llvm.builder.types import memory_type, quoted
from irkit.codegen.llvm.expressions.memory_access import from_memory
from irkit.codegen.llvm.statements.buffers import place_buffer
from irkit.codegen.llvm.statements.statements import write
from irkit.codegen.wrapping_loops import wrapping_loops
from irkit.core import IRKitError, Target, deep_recursion
from irkit.ir import Buffer, PrimFunc
from irkit.ir.math import with_wide_floats

_UNUSUAL = re.compile(r"[^A-Za-z0-9_]")
_CALLED = re.compile(r"declare \S+ @(?!llvm\.|_Z)([\w.]+)\(")
_POINTER = re.compile(r"\bptr\b(?! addrspace)")
_ATTRIBUTES = """
attributes #0 = { nounwind nobuiltin }
attributes #1 = { nounwind willreturn memory(none) alwaysinline }
attributes #2 = { nounwind willreturn nobuiltin memory(none) }
attributes #3 = { nounwind willreturn }
!0 = !{!"branch_weights", i32 1, i32 1000000}
!1 = !{!"branch_weights", i32 1000000, i32 1}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.vectorize.enable", i1 false}
"""
Block = tuple[int, int, int]


@deep_recursion
def emit_kernels(
    kernels: Sequence[tuple[PrimFunc, Block, bool]], target: Target, device: LLVMDevice
) -> str:
    """Return kernels, whose loops over blocks and threads are those of their launches, as a module.

    Beside each kernel is the number of threads of a block along x, y and z, and whether the launch
    asks for the memory that they share.
    Raises: IRKitError if something cannot be expressed, or needs a library of the device.
    """
    module = ModuleText(target)
    module.device = device
    for place, text in enumerate(device.declarations):
        module.declare(f"device{place}", text)
    attributes = _ATTRIBUTES
    for place, (kernel, (x, y, z), dynamic) in enumerate(kernels, 10):
        module.shared_end = 0 if dynamic else None
        module.functions.append(_function(module, kernel, device, f"#{place}"))
        threads = device.attributes.format(x=x, y=y, z=z, threads=x * y * z)
        attributes += f"attributes #{place} = {{ nounwind convergent nobuiltin {threads} }}\n"
    text = module.render()
    called = _CALLED.search(text)
    if called is not None:
        raise IRKitError(
            f"kernel {kernels[0][0].name!r} calls {called[1]}, for which {device.name} has no code "
            "here",
            hint='Compute it in f32, or use the source of "opencl" or "cuda", whose compilers '
            "have a library.",
            span=kernels[0][0].span,
        )
    if device.flat:
        text = _POINTER.sub(f"ptr addrspace({device.flat})", text)
    return text + attributes


def _function(module: ModuleText, kernel: PrimFunc, device: LLVMDevice, attributes: str) -> str:
    kernel = with_wide_floats(kernel)
    text = FunctionText(module)
    scope = FunctionScope(text)
    attrs = dict(kernel.attrs)
    alias = " noalias" if attrs.get("noalias") is not False else ""
    if attrs.get("contract") is False:
        scope.flags = ""
    scope.alignment = alignment = Alignment()
    declared: list[str] = []
    for place, param in enumerate(kernel.params):
        name = f"%{_UNUSUAL.sub('_', param.name)}.{place}"
        if isinstance(param, Buffer):
            declared.append(f"ptr addrspace(1){alias} {name}")
            made = text.op(f"addrspacecast ptr addrspace(1) {name} to ptr")
            scope.places[id(param)] = BufferPlace(made, ())
            alignment.begins(param, max(param.dtype.bytes, param.align))
        else:
            declared.append(f"{memory_type(param.dtype)} {name}")
            scope.values[id(param)] = from_memory(scope, param.dtype, name)
    for param in kernel.params:
        if isinstance(param, Buffer):
            place_buffer(scope, param, scope.places[id(param)].pointer)
    module.kernel, module.wrapping = kernel.name, wrapping_loops(kernel)
    write(scope, kernel.body)
    text.line("ret void")
    head = f"define {device.head} void {quoted(kernel.name)}({', '.join(declared)}) {attributes}"
    return f"{head} {{\n{text.body()}\n}}"
