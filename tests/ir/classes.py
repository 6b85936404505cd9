"""The classes of the loop IR, found from the code and not from a list."""

from irkit.core import Node
from irkit.ir import Hole


def leaves(cls: type[Node]) -> list[type[Node]]:
    """List the concrete classes of ``irkit.ir`` below a class; other levels add to
    them, and holes stand in patterns only."""
    found: list[type[Node]] = []
    stack: list[type[Node]] = [cls]
    while stack:
        each = stack.pop()
        below = [
            sub
            for sub in each.__subclasses__()
            if sub.__module__.startswith("irkit.ir.") and sub is not Hole
        ]
        stack.extend(reversed(below))
        if not below and each is not cls:
            found.append(each)
    return found
