"""Products of tiles by the tensor cores of NVIDIA's GPUs: a warp of 32 threads computes 16 x 8 sums
of 16 products each.

Each operand is a vector with the part of thread 0 first. Thread 4 * g + t has, of ``a``, columns
2 * t and 2 * t + 1 of rows g and g + 8, then columns 2 * t + 8 and 2 * t + 9 of them; of ``b``,
these rows of column g; of ``acc`` and the result, columns 2 * t and 2 * t + 1 of rows g and g + 8.
Source: PTX ISA, mma.sync.aligned.m16n8k16.
"""

from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import call, cast, seq
from irkit.ir.dtype import BF16, F16, F32, I64, DType
from irkit.ir.expr import Const, Var
from irkit.ir.function import PrimFunc
from irkit.ir.instructions.instruction import Instruction
from irkit.ir.stmt import For, Stmt, Store

WARP = 32


def warp_products() -> tuple[Instruction, ...]:
    """Return the products of tiles of 16-bit floats, summed in f32."""
    return (_product("f16", F16), _product("bf16", BF16))


def _product(name: str, dtype: DType) -> Instruction:
    return Instruction(
        f"ptx_mma_m16n8k16_{name}",
        _meaning(dtype),
        _llvm(name),
        "nvptx64",
        ("sm_80",),
        _c(name),
        threads=WARP,
    )


def _meaning(dtype: DType) -> PrimFunc:
    """Return the loops of a product: each sum by fused additions, one term after the other."""
    acc, a = _buffer("acc", 4, F32), _buffer("a", 8, dtype)
    b, out = _buffer("b", 4, dtype), _buffer("out", 4, F32)
    g, t, high, n, half, k, e = (Var(each) for each in ("g", "t", "high", "n", "half", "k", "e"))
    # Thread 4 * g + t, row g + 8 * high, column 2 * t + n; term 8 * half + 2 * k + e.
    at = (g * 4 + t) * 4 + high * 2 + n
    x = Load(a, ((g * 4 + k) * 8 + half * 4 + high * 2 + e,), None, dtype)
    y = Load(b, (((t * 2 + n) * 4 + k) * 4 + half * 2 + e,), None, dtype)
    total = call("fma", cast(x, F32), cast(y, F32), Load(out, (at,), None, F32))
    terms: Stmt = Store(out, (at,), total)
    for var, extent in ((e, 2), (k, 4), (half, 2)):
        terms = _loop(var, extent, terms)
    body = seq(Store(out, (at,), Load(acc, (at,), None, F32)), terms)
    for var, extent in ((n, 2), (high, 2), (t, 4), (g, 8)):
        body = _loop(var, extent, body)
    return PrimFunc("meaning", (acc, a, b, out), body)


def _llvm(name: str) -> str:
    """Return the code of one thread: registers of two 16-bit floats, and of one sum."""
    lines = ["aw = bitcast <8 x i16> {a} to <4 x i32>", "bw = bitcast <4 x i16> {b} to <2 x i32>"]
    args = list[str]()
    for operand, count in (("a", 4), ("b", 2)):
        for at in range(count):
            word = f"{operand}{at}"
            lines.append(f"{word} = extractelement <{count} x i32> {{{operand}w}}, i32 {at}")
            if name == "f16":
                lines.append(f"{word}h = bitcast i32 {{{word}}} to <2 x half>")
            args.append(f"<2 x half> {{{word}h}}" if name == "f16" else f"i32 {{{word}}}")
    for at in range(4):
        lines.append(f"c{at} = extractelement <4 x float> {{acc}}, i32 {at}")
        args.append(f"float {{c{at}}}")
    kind = "{float, float, float, float}"
    ending = "f32.f32" if name == "f16" else "bf16"
    called = f"@llvm.nvvm.mma.m16n8k16.row.col.{ending}({', '.join(args)})"
    lines.append(f"d = call {kind} {called}")
    made = "poison"
    for at in range(4):
        lines.append(f"d{at} = extractvalue {kind} {{d}}, {at}")
        lines.append(f"v{at} = insertelement <4 x float> {made}, float {{d{at}}}, i32 {at}")
        made = f"{{v{at}}}"
    return "\n".join([*lines[:-1], lines[-1].partition(" = ")[2]])


def _c(name: str) -> str:
    """Return the code of one thread in CUDA C, by PTX."""
    code = f"mma.sync.aligned.m16n8k16.row.col.f32.{name}.{name}.f32"
    registers = "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
    sums = ", ".join(f'"+f"({{out}}[{at}])' for at in range(4))
    words = ", ".join(f'"r"({each}[{at}])' for each, n in (("aw", 4), ("bw", 2)) for at in range(n))
    return (
        "uint32_t aw[4], bw[2];\n"
        "memcpy(aw, {a}, 16);\nmemcpy(bw, {b}, 8);\n"
        "for (int i = 0; i < 4; ++i) {out}[i] = {acc}[i];\n"
        f'asm("{code} {registers}" : {sums} : {words});'
    )


def _buffer(name: str, row: int, dtype: DType) -> Buffer:
    return Buffer(name, (Const(row * WARP, I64),), dtype)


def _loop(var: Var, extent: int, body: Stmt) -> Stmt:
    return For(var, Const(0, I64), Const(extent, I64), body)
