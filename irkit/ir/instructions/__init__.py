"""Instructions of processors as functions of vectors, each with its meaning as a loop function.

Reading order: instruction (what is declared), meanings, dot_products, fused_products, tiles,
tensor_cores and interleaves (those that irkit knows), c_code (their C code), registry (by name),
memory (where operands lie), expand (back to loops). ``InstructionCall`` in
``irkit/ir/intrinsics.py`` is the node. It touches no memory: operands are loaded and the result is
stored by loads and stores, so passes and analyses need to know nothing about it but that it is a
function of whole vectors.
"""

from irkit.ir.instructions.c_code import (
    c_function as c_function,
)
from irkit.ir.instructions.expand import (
    expand_instructions as expand_instructions,
)
from irkit.ir.instructions.instruction import (
    Instruction as Instruction,
)
from irkit.ir.instructions.memory import (
    memory_problem as memory_problem,
)
from irkit.ir.instructions.registry import (
    define_instruction as define_instruction,
    defines_instructions as defines_instructions,
    find_instruction as find_instruction,
    instructions_want_memory as instructions_want_memory,
    known_instructions as known_instructions,
)
