"""The gradient of a loop: a loop that goes back over its iterations.

Each of its iterations takes the state that was kept, runs the iteration again, and sweeps back over
it, from the gradients of the next state and of the row to those of the state and of what the
iteration reads from outside. The former are its state, and the latter are summed up in it.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

import numpy as np

from irkit.core import substitute
from irkit.graph.build import Builder
from irkit.graph.differentiation.applied import zeros_like
from irkit.graph.differentiation.row_sums import RowSums
from irkit.graph.function import GraphFunc
from irkit.graph.functions.inline import copy_body
from irkit.graph.functions.outline import outlined
from irkit.graph.nodes import Bind, Body, GraphLoop, Op, Value
from irkit.graph.tensor import Binding, TensorExpr, tensor_of
from irkit.graph.types import TensorType, TupleType

Item = tuple[Value, TensorExpr]
"""A value and its gradient."""


class Sweep(Protocol):
    """What ``ReverseSweep`` offers here."""

    binding: Binding
    sums: dict[Value, RowSums]

    def add(self, value: Value, gradient: TensorExpr) -> None:
        """Add to the gradient of a value."""
        ...

    def of(self, value: Value) -> TensorExpr | None:
        """Return the gradient of a value; None if it is zero."""
        ...

    def run(self, bindings: Sequence[Bind]) -> None:
        """Go back over bindings."""
        ...


class ReverseLoop:
    """A loop in a builder, over a function that keeps its states, and what goes back over it.

    ``body`` is the function of an iteration, which does not keep them, and ``active`` the values
    whose gradients are wanted.
    """

    def __init__(
        self, builder: Builder, bind: Bind, step: GraphLoop, body: GraphFunc,
        active: Collection[Value],
    ) -> None:  # fmt: skip
        self.builder, self.bind, self.step, self.body = builder, bind, step, body
        count = len(step.state)
        params = body.params[1 : 1 + count]
        self.floats = [at for at, param in enumerate(params) if _is_float(param)]
        # An argument that is given twice has its whole gradient at the first place.
        self.read = [
            at
            for at, other in enumerate(step.others)
            if other in active and _is_float(other) and other not in step.others[:at]
        ]
        self.sums = [at for at in self.read for _ in range(self._taken(at))]
        assert isinstance(bind.var.type, TupleType)
        self.rows = len(bind.var.type.items) - 1 - 2 * count

    def _taken(self, at: int) -> int:
        """Return how many steps of an iteration take rows of an argument, at least 1."""
        behind = self.body.params[1 + len(self.step.state) :]
        given = {
            param
            for param, other in zip(behind, self.step.others, strict=True)
            if other is self.step.others[at]
        }
        steps = [bind.step for bind in self.body.body.bindings]
        takes = [each for each in steps if isinstance(each, Op) and each.name == "take"]
        return max(sum(each.args[0] in given for each in takes), 1)

    def emit(
        self,
        gradients: dict[int, Value],
        new_sweep: Callable[[Builder, set[Value]], Sweep],
    ) -> list[Item]:
        """Emit the loop, and return the gradients of the first state, and of what is read.

        ``gradients`` are those of the results of the loop, by number; the others are zero.
        """
        outer, step, count = self.builder, self.step, len(self.step.state)
        made = outer.item(self.bind.var, 0)
        kept = [outer.item(self.bind.var, 1 + count + self.rows + at) for at in range(count)]
        inner = outer.inner()
        name = f"d_{self.bind.var.name}"
        number = inner.param(f"{name}_number", (), "i64")
        later = [inner.param(f"{name}_state", step.state[at].type) for at in self.floats]
        sums = [inner.param(f"{name}_sum", step.others[at].type) for at in self.sums]
        last = inner.op("subtract", made, inner.constant(np.array(1)))
        place = inner.op("subtract", last, number)
        state = [inner.op("take", each, place, axis=0) for each in kept]
        before = len(inner.bindings)
        found = self._run_again(inner, [place, *state, *step.others])
        wanted = {*(state[at] for at in self.floats), *(step.others[at] for at in self.read)}
        sweep = new_sweep(inner, wanted)
        others = [step.others[at] for at in self.read]
        for at, other in zip(self.read, others, strict=True):
            own = [each for number, each in zip(self.sums, sums, strict=True) if number == at]
            sweep.sums[other] = RowSums([tensor_of(each) for each in own])
        for at, gradient in zip(self.floats, later, strict=True):
            sweep.add(found[1 + at], tensor_of(gradient))
        for at in range(self.rows):
            rows = gradients.get(1 + count + at)
            if rows is not None:
                row = inner.op("take", rows, place, axis=0)
                sweep.add(found[1 + count + at], tensor_of(row))
        sweep.run(inner.bindings[before:])
        parts = [(state[at], sweep.of(state[at])) for at in self.floats]
        results = [_zeros(value) if part is None else part for value, part in parts]
        for other in others:
            part, (first, *rest) = sweep.of(other), sweep.sums[other].totals
            results += [first if part is None else first + part, *rest]
        again = inner.constant(np.array(True))
        result = inner.tuple(again, *(sweep.binding.value(each) for each in results))
        return self._looped(inner, (number, *later, *sums), result, made, gradients)

    def _run_again(self, inner: Builder, given: Sequence[Value]) -> tuple[Value, ...]:
        """Run an iteration, and return its results."""
        body = substitute(self.body.body, dict(zip(self.body.params, given, strict=True)))
        found = copy_body(body, inner)
        assert isinstance(found, tuple)
        return found

    def _looped(
        self,
        inner: Builder,
        params: tuple[Value, ...],
        result: Value,
        made: Value,
        gradients: dict[int, Value],
    ) -> list[Item]:
        outer, step, span = self.builder, self.step, self.bind.span
        name = f"d_{self.bind.var.name}"
        body = Body(tuple(inner.bindings), result)
        func, others = outlined(f"{name}_body", params, body, span=span)
        bound = Binding(outer)
        first = [
            gradients[1 + at] if 1 + at in gradients else bound.value(_zeros(step.state[at]))
            for at in self.floats
        ]
        first += [bound.value(_zeros(step.others[at])) for at in self.sums]
        cond = outer.constant(np.array(True))
        loop = outer.loop(outer.define(func), made, cond, first, others, name=name, span=span)
        values = [
            *(step.state[at] for at in self.floats),
            *(step.others[at] for at in self.sums),
        ]
        return [(value, tensor_of(outer.item(loop, 1 + at))) for at, value in enumerate(values)]


def _is_float(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.dtype.is_float


def _zeros(like: Value) -> TensorExpr:
    return zeros_like(tensor_of(like))
