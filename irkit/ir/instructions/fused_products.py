"""Products of AVX512-FP16 added in f16 with one rounding, where loop IR would round twice."""

from irkit.ir.instructions.c_code import x86_fused_code
from irkit.ir.instructions.instruction import Instruction
from irkit.ir.instructions.meanings import fused_meaning


def fused_products() -> tuple[Instruction, ...]:
    """Return the fused products that irkit knows, the widest first; the form ``..._one`` takes one
    ``a`` for all lanes."""
    return tuple(_vfmaddph(lanes, one) for one in (False, True) for lanes in (32, 16, 8))


def _vfmaddph(lanes: int, one: bool) -> Instruction:
    return Instruction(
        f"x86_vfmaddph_{16 * lanes}{'_one' if one else ''}",
        fused_meaning(lanes, one=one),
        _code(lanes, one),
        "x86_64",
        ("avx512fp16",) if lanes == 32 else ("avx512fp16", "avx512vl"),
        x86_fused_code(16 * lanes, one=one),
    )


def _code(lanes: int, one: bool) -> str:
    """Return LLVM IR that multiplies and adds lanes, which are 16 bits in memory."""
    held, wide = f"<{lanes} x i16>", f"<{lanes} x half>"
    factor, lines = "a", list[str]()
    if one:
        factor = "every"
        lines = [
            f"first = insertelement {held} poison, i16 {{a}}, i32 0",
            f"every = shufflevector {held} {{first}}, {held} poison, "
            f"<{lanes} x i32> zeroinitializer",
        ]
    operands = (("x", factor), ("y", "b"), ("z", "acc"))
    lines += [f"{name} = bitcast {held} {{{given}}} to {wide}" for name, given in operands]
    given = ", ".join(f"{wide} {{{name}}}" for name, _ in operands)
    lines.append(f"sum = call {wide} @llvm.fma.v{lanes}f16({given})")
    return "\n".join([*lines, f"bitcast {wide} {{sum}} to {held}"])
