"""Instructions of a processor: a call of the function that computes what one means."""

from irkit.codegen.c.lanes import declared, over_lanes
from irkit.codegen.c.memory_access import from_memory, to_memory
from irkit.codegen.c.types import lane, memory_type
from irkit.codegen.c.writer import Code, FunctionWriter
from irkit.core import IRKitError
from irkit.ir import Expr, InstructionCall, find_instruction


def instruction_call(writer: FunctionWriter, node: InstructionCall) -> Code:
    """Write the code of a call, operands and result in arrays."""
    row = find_instruction(node.name)
    if row is None:
        raise IRKitError(f"there is no instruction {node.name!r}")
    call = f"irkit_meaning_{row.name}"
    writer.source.meanings.setdefault(call, row.meaning)
    places = [_in_memory(writer, arg) for arg in node.args]
    result, element = writer.name("result"), node.dtype.element
    writer.line(f"_Alignas(64) {memory_type(element)} {result}[{node.dtype.lanes}];")
    writer.line(f"{call}({', '.join([*places, result])});")
    if node.dtype.lanes == 1:
        return from_memory(writer, element, f"{result}[0]")
    made = declared(writer, lane(node.dtype), node.dtype.lanes)
    value = from_memory(writer, element, f"{result}[lane]").text
    text = f"-({value})" if element.is_bool else value
    over_lanes(writer, node.dtype.lanes, f"{made}[lane] = {text};")
    return Code(made)


def _in_memory(writer: FunctionWriter, arg: Expr) -> str:
    """Put an operand into an array."""
    name, lanes = writer.name("operand"), arg.dtype.lanes
    value = writer.named(arg.dtype, writer.of(arg))
    writer.line(f"_Alignas(64) {memory_type(arg.dtype.element)} {name}[{lanes}];")
    one = value if lanes == 1 else f"{value}[lane]"
    text = to_memory(writer, arg.dtype.element, one, in_vector=lanes > 1)
    over_lanes(writer, lanes, f"{name}[lane] = {text};")
    return name
