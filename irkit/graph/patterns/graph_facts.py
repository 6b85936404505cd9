"""What a rule may ask about the values of a graph function: definitions, uses, known arrays."""

from collections import Counter
from collections.abc import Mapping
from math import prod

from irkit.graph.flow import bindings_of, bodies, live_values, operands
from irkit.graph.function import GraphFunc
from irkit.graph.nodes import Bind, Constant, Op, Value
from irkit.graph.ops import Array, op_spec
from irkit.graph.state import StateResults, state_pairs
from irkit.graph.types import TensorType
from irkit.ir import as_int

MAX_KNOWN = 1 << 26
"""Elements of an array that is computed to see its values."""


class GraphFacts:
    """Definitions and uses of the values of a function, and the arrays of those that are known."""

    def __init__(self, func: GraphFunc) -> None:
        self.func = func
        self.bound = bindings_of(func)
        self.state = frozenset(func.params[pair.param] for pair in state_pairs(func))
        self.state_results = StateResults(func)
        self.uses = _live_uses(func, self.bound)
        self._arrays: dict[Value, Array | None] = {}

    def op(self, value: Value) -> Op | None:
        """Return the operator that computes a value, or None."""
        bind = self.bound.get(value)
        return bind.step if bind is not None and isinstance(bind.step, Op) else None

    def binding(self, value: Value) -> Bind | None:
        """Return the binding of a value, or None for a parameter."""
        return self.bound.get(value)

    def array(self, value: Value) -> Array | None:
        """Return the array of a constant, or of what operators compute from constants; None if it
        depends on a parameter, is large, or was not kept."""
        todo = [value]
        while todo:
            one = todo[-1]
            if one in self._arrays:
                todo.pop()
                continue
            waiting = [arg for arg in self._operands(one) if arg not in self._arrays]
            if waiting:
                todo += waiting
                continue
            self._arrays[one] = self._computed(one)
            todo.pop()
        return self._arrays[value]

    def _operands(self, value: Value) -> tuple[Value, ...]:
        op = self.op(value)
        return op.args if op is not None and _is_small(value) else ()

    def _computed(self, value: Value) -> Array | None:
        bind = self.bound.get(value)
        if bind is None or not _is_small(value):
            return None
        if isinstance(bind.step, Constant):
            return None if bind.step.data.is_absent else bind.step.data.array
        if not isinstance(bind.step, Op):
            return None
        given = [self._arrays[arg] for arg in bind.step.args]
        known = [array for array in given if array is not None]
        if len(known) < len(given):
            return None
        found = op_spec(bind.step.name).evaluate(known, bind.step.attrs)
        return None if isinstance(found, tuple) else found


def _live_uses(func: GraphFunc, bound: Mapping[Value, Bind]) -> Counter[Value]:
    """Count the uses of each value in what the result depends on; being a result is one."""
    uses = Counter([func.body.result])
    for value in live_values(func):
        if value in bound:
            step = bound[value].step
            uses.update(operands(step))
            uses.update(body.result for body in bodies(step))
    return uses


def _is_small(value: Value) -> bool:
    if not isinstance(value.type, TensorType):
        return False
    extents = [as_int(extent) for extent in value.type.shape]
    known = [extent for extent in extents if extent is not None]
    return len(known) == len(extents) and prod(known) <= MAX_KNOWN
