"""Devices with threads that LLVM has code for, as data: what their kernels have in another way."""

import msgspec


class LLVMDevice(msgspec.Struct, frozen=True):
    """What a kernel for a device says in LLVM IR.

    ``head`` is the calling convention. ``index`` is a call, with places for ``block`` or ``thread``
    in the words of ``words``, and for the axis as a letter and as a number; it gives an integer of
    ``index_bits``. ``warp_barrier`` is where the threads of a warp wait for each other. ``stack``
    and ``flat`` are the address spaces of local arrays and of pointers that may point anywhere.
    ``attributes`` has places for the threads of a block.
    """

    name: str
    triple: str
    cpu: str
    head: str
    features: tuple[str, ...]
    index: str
    words: tuple[str, str]
    index_bits: int
    declarations: tuple[str, ...]
    barrier: tuple[str, ...]
    attributes: str
    warp_barrier: tuple[str, ...] = ()
    stack: int = 0
    flat: int = 0


_AXES = "xyz"
PTX = LLVMDevice(
    "ptx",
    "nvptx64-nvidia-cuda",
    "sm_80",
    "ptx_kernel",
    ("+ptx80",),
    "call i32 @llvm.nvvm.read.ptx.sreg.{word}.{axis}()",
    ("ctaid", "tid"),
    32,
    (
        *(f"declare i32 @llvm.nvvm.read.ptx.sreg.tid.{axis}()" for axis in _AXES),
        *(f"declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.{axis}()" for axis in _AXES),
        "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) convergent nounwind",
        "declare void @llvm.nvvm.bar.warp.sync(i32) convergent nounwind",
    ),
    ("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)",),
    '"nvvm.reqntid"="{x},{y},{z}"',
    ("call void @llvm.nvvm.bar.warp.sync(i32 -1)",),
)
AMDGPU = LLVMDevice(
    "amdgpu",
    "amdgcn-amd-amdhsa",
    "gfx942",
    "amdgpu_kernel",
    (),
    "call i32 @llvm.amdgcn.{word}.id.{axis}()",
    ("workgroup", "workitem"),
    32,
    (
        *(f"declare i32 @llvm.amdgcn.workitem.id.{axis}()" for axis in _AXES),
        *(f"declare i32 @llvm.amdgcn.workgroup.id.{axis}()" for axis in _AXES),
        "declare void @llvm.amdgcn.s.barrier() convergent nounwind",
        "declare void @llvm.amdgcn.wave.barrier() convergent nounwind",
    ),
    (
        'fence syncscope("workgroup") release',
        "call void @llvm.amdgcn.s.barrier()",
        'fence syncscope("workgroup") acquire',
    ),
    '"amdgpu-flat-work-group-size"="{threads},{threads}"',
    (
        'fence syncscope("wavefront") release',
        "call void @llvm.amdgcn.wave.barrier()",
        'fence syncscope("wavefront") acquire',
    ),
    stack=5,
)
SPIRV = LLVMDevice(
    "spirv",
    "spirv64v1.2-unknown-unknown",
    "",
    "spir_kernel",
    (),
    "call spir_func i64 @{word}(i32 {number})",
    ("_Z12get_group_idj", "_Z12get_local_idj"),
    64,
    (
        "declare spir_func i64 @_Z12get_group_idj(i32)",
        "declare spir_func i64 @_Z12get_local_idj(i32)",
        "declare spir_func void @_Z7barrierj(i32) convergent nounwind",
    ),
    ("call spir_func void @_Z7barrierj(i32 3)",),
    "",
    flat=4,
)
LLVM_DEVICES = {each.name: each for each in (PTX, AMDGPU, SPIRV)}
