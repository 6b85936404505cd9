"""Instructions of a processor: their own code where the target has them, else their meaning.

The meaning becomes a function of its own, which takes the operands in memory: ``emit`` adds those
that a module uses.
"""

import re

from irkit.codegen.llvm.builder.scope import FunctionScope
from irkit.codegen.llvm.builder.types import memory_type, quoted
from irkit.codegen.llvm.expressions.memory_access import from_memory, held
from irkit.core import IRKitError
from irkit.ir import Instruction, InstructionCall, find_instruction

_CALL = re.compile(r"call (.+?) @([\w.]+)\((.*)\)")
# A type comes first in each argument: what follows a comma that is not within a type or value.
_TYPE = re.compile(r"(?:^|, )(<[^>]*>|\w+)(?= )")


def instruction_call(scope: FunctionScope, node: InstructionCall) -> str:
    """Write the code of a call, operands in the types of memory."""
    row = find_instruction(node.name)
    if row is None:
        raise IRKitError(f"there is no instruction {node.name!r}")
    args = [held(scope, arg) for arg in node.args]
    target = scope.text.module.target
    native = row.is_native(target.triple, target.features)
    if native:
        refuse_alone(row, node)
    found = _own_code(scope, row, args) if native else _by_meaning(scope, row, args)
    return from_memory(scope, node.dtype, found)


def refuse_alone(row: Instruction, node: InstructionCall) -> None:
    """Raise IRKitError for a call of an instruction of several threads that one thread makes."""
    if row.threads > 1 and node.dtype == row.dtype:
        raise IRKitError(
            f"{row.name} is executed by {row.threads} threads together; found in code of one",
            hint="Call it beside the loops over lanes, on memory in scope 'warp'.",
        )


def meaning_symbol(row: Instruction) -> str:
    """Return the name of the function that computes what an instruction means."""
    return f"irkit.meaning.{row.name}"


def _own_code(scope: FunctionScope, row: Instruction, args: list[str]) -> str:
    values = dict(zip((operand.name for operand in row.operands), args, strict=True))
    made = ""
    for line in row.llvm.strip().splitlines():
        name, _, text = line.strip().rpartition(" = ")
        _declare(scope, text)
        made = values[name] = scope.text.op(re.sub(r"\{(\w+)\}", lambda at: values[at[1]], text))
    return made


def _declare(scope: FunctionScope, text: str) -> None:
    """Declare the intrinsic that a line calls, from its types there."""
    found = _CALL.search(text)
    if found is not None:
        result, name, given = found.groups()
        kinds = ", ".join(_TYPE.findall(given))
        scope.text.module.declare(name, f"declare {result} @{name}({kinds})")


def _by_meaning(scope: FunctionScope, row: Instruction, args: list[str]) -> str:
    text = scope.text
    text.module.meanings.setdefault(meaning_symbol(row), row.meaning)
    places = list[tuple[str, str]]()
    for dtype, value in (*zip(row.types, args, strict=True), (row.dtype, "")):
        kind = memory_type(dtype)
        place = text.alloca(f"{kind}, align 64")
        if value:
            text.line(f"store {kind} {value}, ptr {place}, align 64")
        places.append(("ptr", place))
    given = ", ".join(f"{kind} {place}" for kind, place in places)
    text.line(f"call i32 {quoted(meaning_symbol(row))}({given})")
    return text.op(f"load {memory_type(row.dtype)}, ptr {places[-1][1]}, align 64")
