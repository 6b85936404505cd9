"""The reference interpreter of the loop IR on NumPy arrays. It shares no code with code generation.

Reading order: values (what each operation does), machine (how a program runs), memory (buffers),
assembler, expressions and statements (from IR to programs), arguments, run.
"""

from irkit.ir.interp.machine import (
    StepLimit as StepLimit,
)
from irkit.ir.interp.run import (
    InterpretedFunction as InterpretedFunction,
    evaluate as evaluate,
    interpret as interpret,
)
