"""The memory that instructions want: which scopes their operands and results lie in."""

from irkit.ir.buffer import Buffer, Load
from irkit.ir.instructions.instruction import Instruction
from irkit.ir.instructions.registry import find_instruction
from irkit.ir.intrinsics import InstructionCall
from irkit.ir.stmt import Store


def memory_problem(node: InstructionCall | Store) -> str | None:
    """Return which operand of an instruction is loaded from memory that it does not want, or that
    its result is stored there; None if all is well.

    Only direct loads and stores count: a value that is computed, or bound to a variable, lies in
    registers.
    """
    if isinstance(node, Store):
        row = _that_wants_memory(node.value)
        return None if row is None else _problem(row, -1, "the result", "stored in", node.buffer)
    row = _that_wants_memory(node)
    if row is None:
        return None
    for at, (operand, arg) in enumerate(zip(row.operands, node.args, strict=False)):
        if isinstance(arg, Load):
            name = repr(operand.name)
            found = _problem(row, at, name, "loaded from", arg.buffer)
            if found is not None:
                return found
    return None


def _that_wants_memory(value: object) -> Instruction | None:
    row = find_instruction(value.name) if isinstance(value, InstructionCall) else None
    return row if row is not None and row.scopes else None


def _problem(row: Instruction, at: int, what: str, how: str, buffer: Buffer) -> str | None:
    wanted = row.scopes[at]
    if wanted in ("", buffer.scope):
        return None
    return (
        f"{what} of {row.name} is {how} buffer {buffer.name!r}, which is in scope "
        f"{buffer.scope!r}; expected {wanted!r}"
    )
