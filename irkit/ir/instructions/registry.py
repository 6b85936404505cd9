"""The instructions that text can name: irkit's own, and those that a program defines."""

from functools import cache

from irkit.core import IRKitError
from irkit.ir.instructions.dot_products import dot_products
from irkit.ir.instructions.fused_products import fused_products
from irkit.ir.instructions.instruction import Instruction
from irkit.ir.instructions.interleaves import interleaves
from irkit.ir.instructions.tensor_cores import warp_products
from irkit.ir.instructions.tiles import tile_products

_DEFINED: dict[str, Instruction] = {}


def define_instruction(instruction: Instruction) -> Instruction:
    """Make an instruction known to this process under its name, and return it.

    Raises: IRKitError if another instruction has the name.
    """
    known = find_instruction(instruction.name)
    if known is not None and known is not instruction:
        raise IRKitError(f"there already is an instruction {instruction.name!r}")
    _DEFINED[instruction.name] = instruction
    return instruction


def find_instruction(name: str) -> Instruction | None:
    """Return the instruction of a name, or None."""
    return _shipped().get(name) or _DEFINED.get(name)


def known_instructions() -> tuple[Instruction, ...]:
    """Return irkit's own instructions and those that this process defined."""
    return (*_shipped().values(), *_DEFINED.values())


def defines_instructions() -> bool:
    """Return True if this process defined an instruction."""
    return bool(_DEFINED)


def instructions_want_memory() -> bool:
    """Return True if an instruction that this process defined names memory scopes."""
    return any(row.scopes for row in _DEFINED.values())


@cache
def _shipped() -> dict[str, Instruction]:
    rows = (*dot_products(), *fused_products(), *tile_products(), *warp_products(), *interleaves())
    return {row.name: row for row in rows}
