"""Products of tiles: AMX-INT8 and AMX-BF16 of x86.

A tile is 16 rows of 64 bytes, here a vector of 1024 bytes. ``acc`` and the result are 16 rows of 16
sums, ``a`` is 16 rows of 16 groups of 4 bytes, and ``b`` has the groups of a column below each
other, as the tensor intrinsic ``pack_16x4_i8`` leaves them. LLVM keeps the vectors in registers for
tiles, reads and writes them there, and configures the tiles.
"""

from irkit.ir.dtype import BF16, I8, I32, U8, DType
from irkit.ir.instructions.instruction import Instruction
from irkit.ir.instructions.meanings import flushing_tile_meaning, tile_meaning

_TILE = "<256 x i32>"
_LAID_OUT = "call x86_amx @llvm.x86.cast.vector.to.tile.v256i32"
_TAKEN = "@llvm.x86.cast.tile.to.vector.v256i32(x86_amx {product})"


def tile_products() -> tuple[Instruction, ...]:
    """Return the products of tiles that irkit knows."""
    kinds = (("ss", I8, I8), ("su", I8, U8), ("us", U8, I8), ("uu", U8, U8))
    return (*[_bytes(signs, a, b) for signs, a, b in kinds], _bf16())


def _bytes(signs: str, a: DType, b: DType) -> Instruction:
    name = f"tdpb{signs}d"
    return Instruction(
        f"x86_{name}_16x16x64",
        tile_meaning(a, b, I32),
        _code(name, "<1024 x i8>", _TILE),
        "x86_64",
        ("amx-int8",),
    )


def _bf16() -> Instruction:
    """Make the product of bf16 numbers, which takes denormals as zeros whatever the mode is.

    Source: Intel's Instruction Set Extensions, TDPBF16PS.
    """
    return Instruction(
        "x86_tdpbf16ps_16x16x32",
        flushing_tile_meaning(BF16),
        _code("tdpbf16ps", "<512 x i16>", "<256 x float>"),
        "x86_64",
        ("amx-bf16",),
    )


def _code(name: str, operand: str, sums: str) -> str:
    """Return LLVM IR that makes tiles of vectors, and a vector of their product."""
    lines = list[str]()
    for given, kind in (("acc", sums), ("a", operand), ("b", operand)):
        words = given
        if kind != _TILE:
            words = f"{given}_words"
            lines.append(f"{words} = bitcast {kind} {{{given}}} to {_TILE}")
        lines.append(f"{given}_tile = {_LAID_OUT}({_TILE} {{{words}}})")
    tiles = ", ".join(f"x86_amx {{{each}_tile}}" for each in ("acc", "a", "b"))
    lines.append(
        f"product = call x86_amx @llvm.x86.{name}.internal(i16 16, i16 64, i16 64, {tiles})"
    )
    if sums == _TILE:
        return "\n".join([*lines, f"call {_TILE} {_TAKEN}"])
    lines.append(f"taken = call {_TILE} {_TAKEN}")
    return "\n".join([*lines, f"bitcast {_TILE} {{taken}} to {sums}"])
