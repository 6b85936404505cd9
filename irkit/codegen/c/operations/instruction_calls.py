"""Instructions of a processor: a call of the function that computes what one means."""

import re

from irkit.codegen.c.lanes import declared, over_lanes
from irkit.codegen.c.memory_access import from_memory, to_memory
from irkit.codegen.c.types import lane, memory_type
from irkit.codegen.c.writer import Code, FunctionWriter
from irkit.codegen.llvm.expressions.instruction_calls import refuse_alone
from irkit.core import IRKitError, device_features
from irkit.ir import DType, Expr, Instruction, InstructionCall, find_instruction

_OPERAND = re.compile(r"\{(\w+)\}")


def instruction_call(writer: FunctionWriter, node: InstructionCall) -> Code:
    """Write the code of a call, operands and result in arrays."""
    row = find_instruction(node.name)
    if row is None:
        raise IRKitError(f"there is no instruction {node.name!r}")
    places = [_in_memory(writer, arg) for arg in node.args]
    result, element = writer.name("result"), node.dtype.element
    writer.line(_array(writer, node.dtype, result))
    if _is_own(writer, row):
        refuse_alone(row, node)
        _own_code(writer, row, [*places, result])
    else:
        call = f"irkit_meaning_{row.name}"
        writer.source.meanings.setdefault(call, row.meaning)
        writer.line(f"{call}({', '.join([*places, result])});")
    if node.dtype.lanes == 1:
        return from_memory(writer, element, f"{result}[0]")
    made = declared(writer, lane(node.dtype), node.dtype.lanes)
    value = from_memory(writer, element, f"{result}[lane]").text
    text = f"-({value})" if element.is_bool else value
    over_lanes(writer, node.dtype.lanes, f"{made}[lane] = {text};")
    return Code(made)


def _is_own(writer: FunctionWriter, row: Instruction) -> bool:
    """Return True if the language has code of an instruction, and the target the instruction."""
    arch, target = writer.source.dialect.arch, writer.source.target
    features = (*device_features(target.cpu or "sm_80"), *target.features)
    return bool(arch and row.arch and row.c) and row.is_native(arch, features)


def _own_code(writer: FunctionWriter, row: Instruction, places: list[str]) -> None:
    """Write the code of an instruction, operands and result in arrays."""
    named = {param.name: place for param, place in zip(row.meaning.params, places, strict=True)}
    with writer.block(""):
        for line in row.c.strip().splitlines():
            text = _OPERAND.sub(lambda at: named.get(at[1], at[0]), line)
            writer.line(text)


def _array(writer: FunctionWriter, dtype: DType, name: str) -> str:
    head = writer.source.dialect.aligned.format(align=16 if writer.source.dialect.arch else 64)
    return f"{head}{memory_type(dtype.element)} {name}[{dtype.lanes}];"


def _in_memory(writer: FunctionWriter, arg: Expr) -> str:
    """Put an operand into an array."""
    name, lanes = writer.name("operand"), arg.dtype.lanes
    code = writer.of(arg)
    value = code.bits or writer.named(arg.dtype, code)
    writer.line(_array(writer, arg.dtype, name))
    text = value if lanes == 1 else f"{value}[lane]"
    if not code.bits:
        text = to_memory(writer, arg.dtype.element, text, in_vector=lanes > 1)
    over_lanes(writer, lanes, f"{name}[lane] = {text};")
    return name
