"""Small arrays that are only read and written as whole vectors at fixed places: C gets a variable
for each, since compilers keep such an array in memory."""

from irkit.codegen.c.buffer_sizes import constant_size
from irkit.codegen.c.types import lane, memory_lane, padded
from irkit.codegen.c.writer import FunctionWriter
from irkit.core import walk
from irkit.ir import Allocate, For, InstructionCall, Load, Ramp, Store, View, as_int

MOST = 64
"""Variables in place of one array."""


def declare_registers(writer: FunctionWriter, node: Allocate) -> bool:
    """Declare the variables in place of an allocated array; return False if it is no such array."""
    buffer = node.buffer
    lanes, size = _lanes(node), constant_size(buffer)
    if size is None or not lanes or size % lanes or size > MOST * lanes:
        return False
    kind = writer.source.vector(lane(buffer.dtype), lanes)
    names = {first: writer.name(buffer.name) for first in range(0, size, lanes)}
    for name in names.values():
        writer.line(f"{kind} {name} = {writer.source.zeros(kind)};")
    writer.registers[id(buffer)] = names
    return True


def _lanes(node: Allocate) -> int:
    """Return the lanes of the vectors that an array consists of; 0 if it does not."""
    buffer, dtype = node.buffer, node.buffer.dtype
    if buffer.rank != 1 or buffer.is_shared or lane(dtype) != memory_lane(dtype):
        return 0
    found: int = 0
    for below in walk(node.body, (Load, Store, View, For, InstructionCall)):
        match below:
            case For(kind=kind):
                if kind in ("parallel", "thread"):
                    return 0
            case View(source=source):
                if source is buffer:
                    return 0
            case InstructionCall(args=args):
                if any(isinstance(each, Load) and each.buffer is buffer for each in args):
                    return 0
            case Load() | Store() if below.buffer is buffer:
                lanes = _lanes_of_access(below)
                if not lanes or found not in (0, lanes):
                    return 0
                found = lanes
            case _:
                pass
    return found


def _lanes_of_access(access: Load | Store) -> int:
    """Return the lanes of an access to a whole vector at a fixed place; 0 for another access."""
    (index,) = access.indices
    value = access.value if isinstance(access, Store) else access
    if not isinstance(index, Ramp) or access.mask is not None or as_int(index.stride) != 1:
        return 0
    first, lanes = as_int(index.base), index.dtype.lanes
    whole = first is not None and first >= 0 and first % lanes == 0
    return lanes if whole and value.dtype.lanes == lanes == padded(lanes) else 0
