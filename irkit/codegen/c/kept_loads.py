"""Vectors that are read once and used several times: GCC would read them from memory for each use.

GCC 12 folds a load into every instruction that takes an operand from memory, whatever the number of
its uses. In the inner loop of a product that is one load for each use instead of one for each
vector, and a load that crosses two lines of the cache takes twice as long. An empty statement of
assembly that has the vector as its operand makes GCC keep it in a register.
"""

from irkit.codegen.c.types import lane, padded
from irkit.codegen.c.writer import Code, FunctionWriter
from irkit.core import children, walk
from irkit.ir import Let, Load, PrimFunc, Ramp, Var, as_int

_FEATURES = {16: "__SSE2__", 32: "__AVX__", 64: "__AVX512F__"}
"""What a processor of x86 needs for registers of so many bytes."""
_KEEP = """\
#if defined(__GNUC__) && !defined(__clang__) && defined(FEATURE)
#define MACRO(x) __asm__("" : "+v"(x))
#else
#define MACRO(x) (void)(x)
#endif
"""


def note_kept(writer: FunctionWriter, func: PrimFunc) -> None:
    """Record the variables of a function that are vectors from memory with more than one use."""
    if writer.source.dialect.has_threads:
        return
    lets = [let for let in walk(func.body, Let) if _is_vector_of_memory(let)]
    if not lets:
        return
    uses: dict[int, int] = {}
    for node in walk(func.body):
        for below in children(node):
            if isinstance(below, Var):
                uses[id(below)] = uses.get(id(below), 0) + 1
    writer.kept = {id(let.var) for let in lets if uses.get(id(let.var), 0) > 1}


def _is_vector_of_memory(let: Let) -> bool:
    load, dtype = let.value, let.var.dtype
    if not isinstance(load, Load) or load.mask is not None or dtype.lanes != padded(dtype.lanes):
        return False
    last = load.indices[-1]
    together = isinstance(last, Ramp) and as_int(last.stride) == 1
    return (
        together and dtype.is_float and dtype.bits >= 32 and dtype.bytes * dtype.lanes in _FEATURES
    )


def kept(writer: FunctionWriter, let: Let, value: Code) -> Code | None:
    """Bind a vector that stays in a register to a variable; return None if it is no such."""
    dtype, load = let.var.dtype, let.value
    if id(let.var) not in writer.kept or not isinstance(load, Load):
        return None
    if id(load.buffer) in writer.registers:  # It is in a register.
        return None
    made = writer.variable(dtype, value, let.var.name, changes=True)
    macro = f"irkit_keep_{writer.source.vector(lane(dtype), dtype.lanes)}"
    text = _KEEP.replace("MACRO", macro).replace("FEATURE", _FEATURES[dtype.bytes * dtype.lanes])
    writer.line(f"{writer.source.helper(macro, lambda: text)}({made.text});")
    return made
