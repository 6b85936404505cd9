"""Vectors interleaved lane by lane, on any processor: how operands of dot products are packed."""

from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import seq
from irkit.ir.dtype import BF16, I8, I16, I64, U8, DType
from irkit.ir.expr import Const, Var
from irkit.ir.function import PrimFunc
from irkit.ir.instructions.c_code import interleave_code
from irkit.ir.instructions.instruction import Instruction
from irkit.ir.stmt import For, Store

_GROUPS = ((I8, 4), (U8, 4), (I16, 2), (BF16, 2))


def interleaves() -> tuple[Instruction, ...]:
    """Return the interleavings that packing uses: ``any_interleave_2x16_bf16`` of two vectors."""
    return tuple(
        _interleave(dtype, group, lanes) for dtype, group in _GROUPS for lanes in (16, 8, 4)
    )


def _interleave(dtype: DType, group: int, lanes: int) -> Instruction:
    operands = [Buffer(f"row{n}", (Const(lanes, I64),), dtype) for n in range(group)]
    out = Buffer("out", (Const(lanes * group, I64),), dtype)
    i = Var("i")
    stores = [
        Store(out, (i * group + n,), Load(operand, (i,), None, dtype))
        for n, operand in enumerate(operands)
    ]
    meaning = PrimFunc(
        "meaning", (*operands, out), For(i, Const(0, I64), Const(lanes, I64), seq(*stores))
    )
    name = f"any_interleave_{group}x{lanes}_{dtype}"
    code = interleave_code(group, lanes)
    return Instruction(name, meaning, _code(f"i{dtype.bits}", group, lanes), "", (), code)


def _code(element: str, group: int, lanes: int) -> str:
    """Return LLVM IR that joins vectors by twos, and shuffles the last two."""
    names, wide, lines = [f"row{n}" for n in range(group)], lanes, list[str]()
    while len(names) > 2:
        joined = [f"{names[at]}_{names[at + 1]}" for at in range(0, len(names), 2)]
        for at, name in enumerate(joined):
            pair = names[2 * at], names[2 * at + 1]
            lines.append(f"{name} = {_shuffle(element, wide, pair, list(range(2 * wide)))}")
        names, wide = joined, 2 * wide
    order = [n % group * lanes + n // group for n in range(group * lanes)]
    return "\n".join([*lines, _shuffle(element, wide, (names[0], names[1]), order)])


def _shuffle(element: str, lanes: int, pair: tuple[str, str], order: list[int]) -> str:
    kind, mask = f"<{lanes} x {element}>", ", ".join([f"i32 {n}" for n in order])
    first, second = pair
    return f"shufflevector {kind} {{{first}}}, {kind} {{{second}}}, <{len(order)} x i32> <{mask}>"
