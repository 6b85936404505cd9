"""One sweep over the bindings of a body, last to first, which sums up the gradient of each value.

A branch is differentiated by a branch on the same condition: its side runs again, and then its own
sweep gives the gradients of what it uses from outside. A loop has kept its states (kept_states),
and a loop goes back over them (reverse_loop).
"""

from collections.abc import Iterable, Sequence

from irkit.core import IRKitError
from irkit.graph.build import Builder
from irkit.graph.differentiation.applied import AppliedOp, zeros_like
from irkit.graph.differentiation.kept_states import LoopFunctions
from irkit.graph.differentiation.moved_elements import moved_back, reads_elements
from irkit.graph.differentiation.prefix_rows import rows_behind
from irkit.graph.differentiation.reverse_loop import ReverseLoop
from irkit.graph.differentiation.row_sums import RowSums
from irkit.graph.differentiation.table import NOT_DIFFERENTIABLE, RULES
from irkit.graph.flow import used_inside
from irkit.graph.functions.inline import copy_body
from irkit.graph.nodes import (
    Bind,
    Body,
    Constant,
    GraphIf,
    GraphLoop,
    Invoke,
    Op,
    Prefix,
    Tuple,
    TupleGet,
    Value,
)
from irkit.graph.ops import attributes
from irkit.graph.tensor import Binding, TensorExpr, tensor_of
from irkit.graph.types import TensorType

Gradients = dict[tuple[Value, int], TensorExpr]
"""The gradient of each tensor: a value, or with a number from 0 an item of a tuple."""
WHOLE = -1


def is_float(value: Value) -> bool:
    """Return True if a value is a tensor of floats."""
    return isinstance(value.type, TensorType) and value.type.dtype.is_float


def _rank(value: Value) -> int:
    return len(value.type.shape) if isinstance(value.type, TensorType) else 0


def active_values(bindings: Sequence[Bind], wanted: Iterable[Value]) -> set[Value]:
    """Return the values that depend on those wanted, also in branches."""
    found = set(wanted)
    for bind in bindings:
        if any(value in found for value in used_inside(bind.step)):
            found.add(bind.var)
        elif isinstance(bind.step, GraphIf):
            inside = (*bind.step.then.bindings, *bind.step.otherwise.bindings)
            if active_values(inside, found) - found:
                found.add(bind.var)
    return found


class ReverseSweep:
    """Gradients of the values of one body, whose bindings the builder has already."""

    def __init__(self, builder: Builder, wanted: set[Value], loops: LoopFunctions) -> None:
        self.builder = builder
        self.binding = Binding(builder)
        self.loops = loops
        self.active = set(wanted)
        self.gradients: Gradients = {}
        self.sums: dict[Value, RowSums] = {}
        """For some of the values wanted, sums to which the gradient of what is taken of one place
        is added there; the rest of their gradient is in ``gradients``."""

    def add(self, value: Value, gradient: TensorExpr, item: int = WHOLE) -> None:
        """Add to the gradient of a value."""
        before = self.gradients.get((value, item))
        self.gradients[value, item] = gradient if before is None else before + gradient

    def of(self, value: Value) -> TensorExpr | None:
        """Return the gradient of a tensor; None if it is zero."""
        return self.gradients.get((value, WHOLE))

    def run(self, bindings: Sequence[Bind]) -> None:
        """Go back over the bindings. Raises: IRKitError for a step that has no derivative."""
        self.active = active_values(bindings, self.active)
        for bind in reversed(bindings):
            if bind.var in self.active:
                self._back(bind)

    def _back(self, bind: Bind) -> None:
        match bind.step:
            case TupleGet(value, index):
                gradient = self.of(bind.var)
                if gradient is not None:
                    self.add(value, gradient, index)
            case Tuple(items):
                for at, item in enumerate(items):
                    gradient = self.gradients.get((bind.var, at))
                    if gradient is not None and item in self.active and is_float(item):
                        self.add(item, gradient)
            case Op("take", (x, place)) as step if x in self.sums and not _rank(place):
                gradient, axis = self.of(bind.var), attributes(step).int("axis")
                if gradient is not None:
                    self.sums[x].add(tensor_of(place), gradient, axis)
            case Op() as step if self._reached(bind):
                self._operator(step, bind)
            case GraphIf() as step if self._reached(bind):
                self._branch(step, bind)
            case Invoke() as step if self._reached(bind):
                self._kernel(step, bind)
            case GraphLoop() as step if self._reached(bind):
                self._loop(step, bind)
            case Prefix(_, value) if self._reached(bind):
                gradient = self.of(bind.var)
                assert gradient is not None
                if value in self.active and is_float(value):
                    self.add(value, self._with_rows_behind(gradient, value, bind))
            case Op() | GraphIf() | GraphLoop() | Invoke() | Constant() | Prefix():
                pass
            case step:
                raise IRKitError(
                    f"cannot differentiate {type(step).__name__} {bind.var.name!r}", span=bind.span
                )

    def _results(self, bind: Bind) -> list[tuple[Value, int, TensorType]]:
        """Return value, item and type of each tensor that a binding makes."""
        kind = bind.var.type
        if isinstance(kind, TensorType):
            return [(bind.var, WHOLE, kind)]
        items = getattr(kind, "items", ())
        return [(bind.var, at, each) for at, each in enumerate(items)]

    def _reached(self, bind: Bind) -> bool:
        """Return True if the result depends on what a binding makes."""
        return any((value, item) in self.gradients for value, item, _ in self._results(bind))

    def _operator(self, step: Op, bind: Bind) -> None:
        rule = RULES.get(step.name)
        if rule is None:
            reason = NOT_DIFFERENTIABLE.get(step.name, "no rule is known for it")
            raise IRKitError(
                f"cannot differentiate {step.name} ({bind.var.name!r}): {reason}", span=bind.span
            )
        results = self._results(bind)
        applied = AppliedOp(
            tuple(tensor_of(arg) for arg in step.args),
            tuple(self._result(value, item, kind) for value, item, kind in results),
            tuple(self.gradients.get((value, item)) for value, item, _ in results),
            attributes(step),
        )
        for arg, gradient in zip(step.args, rule(applied), strict=True):
            if gradient is not None and arg in self.active and is_float(arg):
                self.add(arg, gradient)
                self.binding.mark(self.gradients[arg, WHOLE], bind.span)

    def _result(self, value: Value, item: int, kind: TensorType) -> TensorExpr:
        if item == WHOLE:
            return tensor_of(value)
        return tensor_of(self.builder.item(value, item))

    def _loop(self, step: GraphLoop, bind: Bind) -> None:
        body = self.loops.body_of(step, bind)
        given = {
            item: self.binding.value(gradient)
            for value, item, _ in self._results(bind)
            if (gradient := self.gradients.get((value, item))) is not None
        }
        back = ReverseLoop(self.builder, bind, step, body, self.active)
        for value, gradient in back.emit(given, self._inside):
            if value in self.active:
                self.add(value, gradient)

    def _inside(self, builder: Builder, wanted: set[Value]) -> "ReverseSweep":
        """Return the sweep of a body inside this one."""
        return ReverseSweep(builder, wanted, self.loops)

    def _with_rows_behind(self, gradient: TensorExpr, value: Value, bind: Bind) -> TensorExpr:
        """Return the gradient of a whole from that of its first rows: 0 for the others."""
        if not self.loops.has_module:
            raise IRKitError(
                f"cannot differentiate {bind.var.name!r}, whose number of rows is only known when "
                "it runs, in a function alone: its gradient calls a loop function",
                span=bind.span,
                hint="Differentiate the module.",
            )
        assert isinstance(value.type, TensorType)
        rows = self.binding.value(gradient)
        kernel = rows_behind(value.type)
        made = self.builder.kernel(kernel, rows, value, type=value.type, span=bind.span)
        return tensor_of(made)

    def _kernel(self, step: Invoke, bind: Bind) -> None:
        """Move the elements of a gradient back, if a loop function only moves elements."""
        kernel, gradient = self.loops.kernel(step.function), self.of(bind.var)
        if kernel is not None and not reads_elements(kernel):
            return
        found = None if kernel is None or gradient is None else moved_back(kernel)
        if found is None or gradient is None:
            raise IRKitError(
                f"cannot differentiate {bind.var.name!r}: {step.function!r} is a loop function "
                "that does more than move elements",
                span=bind.span,
                hint="Differentiate before operators become loops; import a model that computes "
                "with dimensions with constant sizes, by shapes=.",
            )
        number, back = found
        x = step.args[number]
        if x in self.active and is_float(x):
            given = self.binding.value(gradient)
            made = self.builder.kernel(back, given, *step.args, type=x.type, span=bind.span)
            self.add(x, tensor_of(made))

    def _branch(self, step: GraphIf, bind: Bind) -> None:
        outside = [
            value
            for value in dict.fromkeys(used_inside(step))
            if value in self.active and is_float(value)
        ]
        given = {
            (value, item): tensor_of(self.binding.value(gradient))
            for value, item, _ in self._results(bind)
            if (gradient := self.gradients.get((value, item))) is not None
        }
        sides = (step.then, step.otherwise)
        bodies = [self._side(body, given, outside) for body in sides]
        value = self.builder.branch(step.cond, *bodies, name=f"d_{bind.var.name}", span=bind.span)
        for at, each in enumerate(outside):
            self.add(each, tensor_of(self.builder.item(value, at)))

    def _side(self, body: Body, given: Gradients, outside: Sequence[Value]) -> Body:
        """Return a side that runs again, and then computes the gradients of what it uses."""
        inner = self.builder.inner()
        again = copy_body(body, inner)
        sweep = self._inside(inner, set(outside))
        for (_, item), gradient in given.items():
            sweep.add(again if isinstance(again, Value) else again[item], gradient)
        sweep.run(inner.bindings)
        found = [sweep.of(value) for value in outside]
        values = [
            sweep.binding.value(zeros_like(tensor_of(value)) if each is None else each)
            for value, each in zip(outside, found, strict=True)
        ]
        return inner.body(inner.tuple(*values))
