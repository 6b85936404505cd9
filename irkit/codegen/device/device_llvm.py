"""PTX, AMDGPU assembly and SPIR-V of the kernels of a program, by LLVM."""

import re
from typing import Any

import msgspec
from llvmlite import binding

from irkit.codegen.device.legality import threads_of
from irkit.codegen.device.program import DeviceProgram
from irkit.codegen.llvm.builder.devices import LLVM_DEVICES
from irkit.codegen.llvm.compiler.host import complete_target
from irkit.codegen.llvm.compiler.object_file import assembly
from irkit.codegen.llvm.module.kernels import emit_kernel
from irkit.core import Target

llvm: Any = binding  # llvmlite comes without types.


def device_llvm(program: DeviceProgram, target: Target, kind: str) -> list[str]:
    """Return each kernel of a program as LLVM IR, for the device of a kind of text."""
    whole = _llvm_target(target, kind)
    device = LLVM_DEVICES[kind]
    return [
        emit_kernel(each.kernel, threads_of(each), whole, device) for each in program.launches
    ]


def device_assembly(program: DeviceProgram, target: Target, kind: str) -> str:
    """Return the kernels of a program as "ptx", "amdgpu" or "spirv" text, one after the other.

    Raises: IRKitError if something cannot be expressed, or LLVM does not know the processor.
    """
    whole = _llvm_target(target, kind)
    return "\n".join(assembly(text, whole) for text in device_llvm(program, target, kind))


def _llvm_target(target: Target, kind: str) -> Target:
    device = LLVM_DEVICES[kind]
    named = target.cpu if target.kind != "opencl" else ""
    cpu = named or device.cpu
    made = Target("llvm", cpu, (*device.features, *target.features), device.triple)
    if not cpu:  # An empty processor means the host's.
        made = msgspec.structs.replace(made, cpu="generic")
    return complete_target(made)
