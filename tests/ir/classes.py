"""The classes of the loop IR, collected from the code instead of a list."""

from irkit.core import Node
from irkit.ir import OPERATIONS, Binary, DType, Hole
from irkit.ir.traced import Traced


def leaves(cls: type[Node]) -> list[type[Node]]:
    """Return the concrete subclasses of a class in ``irkit.ir``.

    Classes of other levels do not count, nor do holes and marks, which only occur in patterns and
    traces.
    """
    found: list[type[Node]] = []
    stack: list[type[Node]] = [cls]
    while stack:
        each = stack.pop()
        below = [
            sub
            for sub in each.__subclasses__()
            if sub.__module__.startswith("irkit.ir.") and sub not in (Hole, Traced)
        ]
        stack.extend(reversed(below))
        if not below and each is not cls:
            found.append(each)
    return found


def operations_on(dtype: DType) -> list[type[Binary]]:
    """Return the operations whose operands can be of a type."""
    return [cls for cls, row in OPERATIONS.items() if dtype.kind in row.kinds]
