"""What a function does when it runs: floating-point operations, and bytes read and written.

Reading order: points (the iterations that conditions tell apart), work (the counting),
stored_values (an estimate for a loop, for sizes that are known when it runs).

Counts are exact for static sizes: where a condition, a mask or the bounds of a loop depend on loop
variables, the iterations are enumerated, and only those loops. Tests hold the counts against the
interpreter, which counts what it executes.
"""

from irkit.ir.work.stored_values import (
    stored_values as stored_values,
)
from irkit.ir.work.work import (
    Work as Work,
    work_of as work_of,
)
