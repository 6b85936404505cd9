"""The reference: what operators and intrinsic functions compute, on NumPy arrays of any shape.

One of the four meanings of docs/semantics.md that check each other, for ``irkit.te.evaluate``, the
graph interpreter and the fuzzer. It shares no code with the interpreter of loops, the folder or
code generation, which ``irkit/ir/intrinsics.py`` names; the layers forbid it to import them.
"""

from irkit.ir.reference.functions import (
    call as call,
)
from irkit.ir.reference.operators import (
    BINARY as BINARY,
    convert as convert,
    full_of as full_of,
    invert as invert,
    negate as negate,
)
