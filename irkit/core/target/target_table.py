"""The targets that have names: processors as data, a row for each.

Nothing else in irkit knows a processor by name. ``Target`` reads a row by its name, the automatic
schedule by its processor, and ``irkit targets`` prints them all.
"""

from typing import Literal

import msgspec

KIB, MIB = 1 << 10, 1 << 20
Ran = Literal["here", "qemu-user", "wasmtime", "pocl", "by hand", "not run"]


class TargetRow(msgspec.Struct, frozen=True):
    """A processor: what LLVM calls it, and what schedules need to know.

    Units: sizes in bytes. ``vector_bytes`` is the width of the vectors that code has: fixed, also
    where the hardware has longer ones. ``ran`` says what runs its code in irkit's tests.
    ``instructions`` are LLVM features with instructions that a schedule may choose.
    """

    name: str
    summary: str
    triple: str
    cpu: str
    features: tuple[str, ...]
    vector_bytes: int
    vector_registers: int
    l1: int
    l2: int
    l3: int
    ran: Ran = "not run"
    instructions: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """Return the architecture: the first part of the triple."""
        return self.triple.partition("-")[0]


_X86, _ARM, _RISCV = "x86_64-unknown-linux-gnu", "aarch64-linux-gnu", "riscv64-linux-gnu"
_RV64GC = ("+m", "+a", "+f", "+d", "+c")
_RV64GCV = (*_RV64GC, "+v", "+zvl128b")
_SIMD = ("+simd128",)
_AVX512_NEW = ("avx512vl", "avx512vnni", "avx512bf16")
_AMX = (*_AVX512_NEW, "avxvnni", "avx512fp16", "amx-int8", "amx-bf16")

# Name, summary, triple, processor, features; bytes and number of vector registers, and the caches.
TARGET_TABLE = (
    TargetRow("x86-64", "any x86-64 (v1)", _X86, "x86-64", (),
              16, 16, 32 * KIB, 256 * KIB, 4 * MIB, "here"),
    TargetRow("x86-64-v2", "x86-64 with SSE 4.2", _X86, "x86-64-v2", (),
              16, 16, 32 * KIB, 256 * KIB, 8 * MIB, "here"),
    TargetRow("x86-64-v3", "x86-64 with AVX2 and FMA", _X86, "x86-64-v3", (),
              32, 16, 32 * KIB, 512 * KIB, 8 * MIB, "here"),
    TargetRow("x86-64-v4", "x86-64 with AVX-512", _X86, "x86-64-v4", (),
              64, 32, 32 * KIB, MIB, 16 * MIB, "here", ("avx512vl",)),
    TargetRow("zen3", "AMD Zen 3", _X86, "znver3", (),
              32, 16, 32 * KIB, 512 * KIB, 32 * MIB, "here"),
    TargetRow("zen4", "AMD Zen 4", _X86, "znver4", (),
              64, 32, 32 * KIB, MIB, 32 * MIB, instructions=_AVX512_NEW),
    TargetRow("sapphire-rapids", "Intel Xeon, 4th generation", _X86, "sapphirerapids", (),
              64, 32, 48 * KIB, 2 * MIB, 32 * MIB, instructions=_AMX),
    TargetRow("emerald-rapids", "Intel Xeon, 5th generation", _X86, "emeraldrapids", (),
              64, 32, 48 * KIB, 2 * MIB, 256 * MIB, "here", _AMX),
    TargetRow("raspberry-pi-4", "Raspberry Pi 4, 64 bits", _ARM, "cortex-a72", (),
              16, 32, 32 * KIB, MIB, MIB, "qemu-user"),
    TargetRow("raspberry-pi-5", "Raspberry Pi 5, 64 bits", _ARM, "cortex-a76", (),
              16, 32, 64 * KIB, 512 * KIB, 2 * MIB, "qemu-user"),
    TargetRow("neoverse-n1", "AWS Graviton 2, Ampere Altra", _ARM, "neoverse-n1", (),
              16, 32, 64 * KIB, MIB, 32 * MIB, "qemu-user"),
    TargetRow("neoverse-v1", "AWS Graviton 3", _ARM, "neoverse-v1", (),
              16, 32, 64 * KIB, MIB, 32 * MIB, "qemu-user"),
    TargetRow("apple-m2", "Apple M2", "arm64-apple-macosx", "apple-m2", (),
              16, 32, 128 * KIB, 16 * MIB, 8 * MIB),
    TargetRow("rv64gc", "RISC-V without vectors", _RISCV, "generic-rv64", _RV64GC,
              16, 16, 32 * KIB, 512 * KIB, 2 * MIB, "qemu-user"),
    TargetRow("rv64gcv", "RISC-V with vectors of 128 bits", _RISCV, "generic-rv64", _RV64GCV,
              16, 32, 32 * KIB, 512 * KIB, 2 * MIB, "qemu-user"),
    TargetRow("wasm32", "WebAssembly with SIMD", "wasm32-unknown-unknown", "generic", _SIMD,
              16, 16, 32 * KIB, 256 * KIB, 2 * MIB, "wasmtime"),
)  # fmt: skip
"""All targets with names."""


def find_row(triple: str, cpu: str, features: tuple[str, ...]) -> TargetRow | None:
    """Return the row of a processor, of several the one that more of the features are about."""
    family = triple.partition("-")[0]
    rows = [row for row in TARGET_TABLE if (row.family, row.cpu) == (family, cpu)]
    fitting = [row for row in rows if set(row.features) <= set(features)]
    return max(fitting, key=lambda row: len(row.features), default=None)
