"""Dot product instructions: AVX-512 VNNI, AVX-VNNI and AVX512-BF16 of x86; sdot, udot and usdot of
AArch64.

Each lane of 32 bits adds the products of a few neighbours. The form ``..._one`` takes one group of
``a`` for all lanes, which the processor repeats as it reads it from memory.
"""

from irkit.ir.dtype import BF16, I8, I16, I32, U8, U32, DType
from irkit.ir.instructions.c_code import neon_dot_code, x86_bf16_code, x86_dot_code
from irkit.ir.instructions.instruction import Instruction
from irkit.ir.instructions.meanings import dot_meaning, flushing_dot_meaning

_WIDE = ("avx512vnni",)
_NARROW = ("avxvnni|avx512vnni", "avxvnni|avx512vl")


def dot_products() -> tuple[Instruction, ...]:
    """Return the dot product instructions that irkit knows, the widest of each kind first."""
    return tuple(
        row
        for one in (False, True)
        for row in (
            *(_vpdpbusd(bits, one) for bits in (512, 256, 128)),
            *(_vpdpwssd(bits, one) for bits in (512, 256, 128)),
            *(_vdpbf16ps(bits, one) for bits in (512, 256, 128)),
            _neon("sdot", I8, I8, "dotprod", one),
            _neon("udot", U8, U8, "dotprod", one),
            _neon("usdot", U8, I8, "i8mm", one),
        )
    )


def _vpdpbusd(bits: int, one: bool) -> Instruction:
    lanes = bits // 32
    return Instruction(
        _name("x86_vpdpbusd", bits, one),
        dot_meaning(U8, I8, I32, lanes, 4, one=one),
        _code("i32", "i8", lanes, 4, one, f"llvm.x86.avx512.vpdpbusd.{bits}"),
        "x86_64",
        _WIDE if bits == 512 else _NARROW,
        x86_dot_code(bits, "dpbusd_epi32", one=one),
    )


def _vpdpwssd(bits: int, one: bool) -> Instruction:
    lanes = bits // 32
    return Instruction(
        _name("x86_vpdpwssd", bits, one),
        dot_meaning(I16, I16, I32, lanes, 2, one=one),
        _code("i32", "i16", lanes, 2, one, f"llvm.x86.avx512.vpdpwssd.{bits}"),
        "x86_64",
        _WIDE if bits == 512 else _NARROW,
        x86_dot_code(bits, "dpwssd_epi32", one=one),
    )


def _vdpbf16ps(bits: int, one: bool) -> Instruction:
    """Make the product of bf16 numbers, which takes denormals as zeros whatever the mode is."""
    lanes = bits // 32
    return Instruction(
        _name("x86_vdpbf16ps", bits, one),
        flushing_dot_meaning(BF16, lanes, one=one),
        _code("float", "bfloat", lanes, 2, one, f"llvm.x86.avx512bf16.dpbf16ps.{bits}"),
        "x86_64",
        ("avx512bf16",) if bits == 512 else ("avx512bf16", "avx512vl"),
        x86_bf16_code(bits, one=one),
    )


def _neon(name: str, a: DType, b: DType, feature: str, one: bool) -> Instruction:
    kinds = ("u8" if a == U8 else "s8", "u8" if b == U8 else "s8", "u32" if b == U8 else "s32")
    call = "vusdotq" if name == "usdot" else "vdotq"
    return Instruction(
        _name(f"aarch64_{name}", 128, one),
        dot_meaning(a, b, U32 if a == b == U8 else I32, 4, 4, one=one),
        _code("i32", "i8", 4, 4, one, f"llvm.aarch64.neon.{name}.v4i32.v16i8"),
        "aarch64",
        (feature,),
        neon_dot_code(call, *kinds, one=one),
    )


def _name(name: str, bits: int, one: bool) -> str:
    return f"{name}_{bits}{'_one' if one else ''}"


def _code(result: str, element: str, lanes: int, group: int, one: bool, intrinsic: str) -> str:
    """Return LLVM IR that calls an intrinsic on the sum so far and two vectors of groups."""
    wide, sums = f"<{lanes * group} x {element}>", f"<{lanes} x {result}>"
    held, few = (
        f"<{n} x {'i16' if element == 'bfloat' else element}>" for n in (lanes * group, group)
    )
    words = f"<{lanes} x i32>"
    if one:
        lines = [
            f"word = bitcast {few} {{a}} to i32",
            f"first = insertelement {words} poison, i32 {{word}}, i32 0",
            f"every = shufflevector {words} {{first}}, {words} poison, {words} zeroinitializer",
            f"x = bitcast {words} {{every}} to {wide}",
        ]
    else:
        lines = [f"x = bitcast {held} {{a}} to {wide}"]
    lines.append(f"y = bitcast {held} {{b}} to {wide}")
    lines.append(f"call {sums} @{intrinsic}({sums} {{acc}}, {wide} {{x}}, {wide} {{y}})")
    return "\n".join(lines)
