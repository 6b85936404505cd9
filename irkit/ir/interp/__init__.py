"""The reference interpreter of the loop IR on NumPy arrays. It shares no code with code generation.

Reading order: values (what each operation does), machine (how a program runs), memory (buffers),
assembler, expressions and statements (from IR to programs), arguments, run; access_log and races
(runs that note who reads and writes each element), element_writes (who wrote one element).
"""

from irkit.ir.interp.access_log import (
    Race as Race,
    Touch as Touch,
)
from irkit.ir.interp.element_writes import (
    ElementWrite as ElementWrite,
    ElementWrites as ElementWrites,
    element_writes as element_writes,
)
from irkit.ir.interp.machine import (
    MemoryLimit as MemoryLimit,
    StepLimit as StepLimit,
)
from irkit.ir.interp.memory import (
    OutOfBounds as OutOfBounds,
)
from irkit.ir.interp.races import (
    find_race as find_race,
)
from irkit.ir.interp.run import (
    InterpretedFunction as InterpretedFunction,
    evaluate as evaluate,
    interpret as interpret,
)
from irkit.ir.interp.statements import (
    FailedAssertion as FailedAssertion,
)
