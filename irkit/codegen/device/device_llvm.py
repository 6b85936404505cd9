"""PTX, AMDGPU assembly and SPIR-V of the kernels of a program, by LLVM."""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from irkit.codegen.device.legality import dynamic_bytes, threads_of
from irkit.codegen.device.program import DeviceProgram
from irkit.codegen.llvm.builder.devices import LLVM_DEVICES
from irkit.codegen.llvm.compiler.host import complete_target
from irkit.codegen.llvm.compiler.object_file import assembly, compile_object
from irkit.codegen.llvm.module.kernels import emit_kernels
from irkit.core import IRKitError, Target, device_features
from irkit.processes import ChildDied, isolate

_T = TypeVar("_T")
_SECONDS = 120.0


def device_llvm(program: DeviceProgram, target: Target, kind: str) -> str:
    """Return the kernels of a program as a module of LLVM IR, for the device of a kind of text.

    Raises: IRKitError if something cannot be expressed, or LLVM does not know the processor.
    """
    device = target.device
    assert device is not None
    kernels = [
        (each.kernel, threads_of(each), dynamic_bytes(each, device) > 0)
        for each in program.launches
    ]
    return emit_kernels(kernels, _llvm_target(target, kind), LLVM_DEVICES[kind])


def device_assembly(program: DeviceProgram, target: Target, kind: str) -> str:
    """Return the kernels of a program as "ptx", "amdgpu" or "spirv" text."""
    return _compiled(assembly, program, target, kind)


def device_object(program: DeviceProgram, target: Target, kind: str) -> bytes:
    """Return the kernels of a program as an object file: of "spirv" a binary module."""
    return _compiled(compile_object, program, target, kind)


def _compiled(
    compiler: Callable[[str, Target], _T], program: DeviceProgram, target: Target, kind: str
) -> _T:
    whole, text = _llvm_target(target, kind), device_llvm(program, target, kind)
    if kind != "spirv":
        return compiler(text, whole)
    # LLVM 22 may crash on the second SPIR-V module of a process.
    try:
        return isolate(compiler, text, whole, seconds=_SECONDS)
    except ChildDied as error:
        raise IRKitError(f"LLVM makes no SPIR-V of {program.func.name!r}: it {error}") from None


def _llvm_target(target: Target, kind: str) -> Target:
    device = LLVM_DEVICES[kind]
    named = target.cpu if target.kind != "opencl" else ""
    cpu = named or device.cpu
    features = (*device.features, *device_features(cpu), *target.features)
    made = Target("llvm", cpu, features, device.triple)
    if not cpu:  # An empty processor means the host's.
        made = msgspec.structs.replace(made, cpu="generic")
    return complete_target(made)
