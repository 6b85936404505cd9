"""Levels of a program, whichever IR it is in."""

from irkit.core import Function, IRModule, Level
from irkit.graph import GRAPH_LEVEL, GraphFunc
from irkit.ir import LOOP_LEVEL
from irkit.transform import IR


def level_of(func: Function) -> Level:
    """Return the level of a function."""
    return GRAPH_LEVEL if isinstance(func, GraphFunc) else LOOP_LEVEL


def equal_structure(a: IR, b: IR) -> bool:
    """Return True if two programs are equal up to the names of their symbols."""
    if isinstance(a, IRModule) and isinstance(b, IRModule):
        return a.functions.keys() == b.functions.keys() and all(
            level_of(func).same(func, b[name]) for name, func in a.functions.items()
        )
    if isinstance(a, IRModule) or isinstance(b, IRModule):
        return False
    return level_of(a).same(a, b)
