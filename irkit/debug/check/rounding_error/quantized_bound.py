"""By how much an integer can differ that a float with rounding errors was rounded to.

Next to a half, the smallest error decides to which whole number a float goes. After that comes a
chain of operators that never decrease where their operand grows, so the whole numbers at both ends
of the float's error bound are the ends of what is right.
"""

from collections.abc import Callable

import numpy as np

from irkit.debug.check.difference import is_float
from irkit.debug.check.graph_numbering import GraphNumbering
from irkit.debug.execution.inputs import Array
from irkit.graph import Constant, Op, op_spec

_TO_WHOLE = ("round", "floor", "ceil", "trunc")
_RISING = ("cast", "add", "subtract", "minimum", "maximum", *_TO_WHOLE)
ArrayOf = Callable[[int], Array]


def rounded_float(known: GraphNumbering, number: int) -> list[int]:
    """Return the numbers from a float to an integer that it is rounded to; [] if it is not made so.

    Between the two are only operators that rise with their first operand, or with the one that is
    not a constant.
    """
    chain = [number]
    while True:
        step = known.nodes[chain[-1]].step
        if not isinstance(step, Op) or step.name not in _RISING:
            return chain if len(chain) > 1 else []
        before = _operand(known, chain[-1], step)
        if before is None:
            return chain if len(chain) > 1 else []
        chain.append(before)
        if step.name in _TO_WHOLE:
            return chain


def _operand(known: GraphNumbering, number: int, step: Op) -> int | None:
    args = known.nodes[number].args
    if step.name == "subtract":
        return args[0] if _is_constant(known, args[1]) else None
    others = [arg for arg in args if not _is_constant(known, arg)]
    return others[0] if len(others) == 1 else None


def _is_constant(known: GraphNumbering, number: int) -> bool:
    """Return True for a constant, or one that is cast or reshaped."""
    node = known.nodes[number]
    while isinstance(node.step, Op) and node.step.name in ("cast", "reshape"):
        node = known.nodes[node.args[0]]
    return isinstance(node.step, Constant)


def allowed_steps(
    known: GraphNumbering, chain: list[int], own: Array, limit: Array, value_of: ArrayOf
) -> Array | None:
    """Return by how much the integer at the begin of a chain may differ, if the float at its end,
    ``own``, may by ``limit``; None if it is no float."""
    if not is_float(own):
        return None
    ends: list[Array] = []
    for sign in (-1, 1):
        value = (own.astype(np.float64) + sign * limit).astype(own.dtype)
        for number in reversed(chain[:-1]):
            node, source = known.nodes[number], chain[chain.index(number) + 1]
            assert isinstance(node.step, Op)
            given = [value if arg == source else value_of(arg) for arg in node.args]
            found = op_spec(node.step.name).evaluate(given, node.step.attrs)
            assert not isinstance(found, tuple)
            value = found
        ends.append(value)
    middle = value_of(chain[0]).astype(np.float64)
    return np.maximum(ends[1].astype(np.float64) - middle, middle - ends[0].astype(np.float64))
