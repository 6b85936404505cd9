"""Loops that keep the state before each iteration, as rows behind those that they have.

A loop needs room for all of them: its number of iterations is a constant or computed from
dimensions, or it has outputs for each iteration, whose first axis says how many there are at most.
"""

from collections.abc import Collection

from irkit.core import IRKitError, IRModule, substitute, walk
from irkit.graph.build import Builder
from irkit.graph.function import GraphFunc
from irkit.graph.functions.inline import inline_calls
from irkit.graph.nodes import Bind, Body, GraphIf, GraphLoop, GraphStep, Value
from irkit.graph.sizes.computed_sizes import ComputedSizes
from irkit.graph.types import TensorType, TupleType, tensors_in
from irkit.ir import Expr, PrimFunc, as_int, index, maximum

MAX_KEPT = (1 << 31) - 1
"""Iterations of which states are kept: more is what a loop says that has no number of them."""


class LoopFunctions:
    """The functions of a module that loops call, and those that keep their states instead."""

    def __init__(self, module: IRModule | None) -> None:
        self.module = module
        self._kept: dict[str, str] = {}
        self._plain: dict[str, GraphFunc] = {}
        self._open: list[str] = []

    @property
    def has_module(self) -> bool:
        """Whether the gradient becomes part of a module, and can call functions."""
        return self.module is not None

    def kernel(self, name: str) -> PrimFunc | None:
        """Return a loop function of the module."""
        found = None if self.module is None else self.module.functions.get(name)
        return found if isinstance(found, PrimFunc) else None

    def body_of(self, step: GraphLoop, bind: Bind) -> GraphFunc:
        """Return the function of a loop that keeps its states, as it was before, without calls.

        Raises: IRKitError for a loop that does not keep them.
        """
        if step.function not in self._kept:
            raise IRKitError(
                f"cannot differentiate loop {bind.var.name!r}: how many iterations it makes at "
                "most is only known when it runs, so its states are not kept",
                span=bind.span,
                hint="Give it a number of iterations that is a constant (values= of the import "
                "fixes an input) or computed from dimensions, or an output for each iteration.",
            )
        return self._plain[self._kept[step.function]]

    def plain(self, name: str, builder: Builder) -> GraphFunc:
        """Return a function of the module without calls, whose own loops keep their states."""
        found = self._plain.get(name)
        if found is None:
            target = None if self.module is None else self.module[name]
            if not isinstance(target, GraphFunc):
                raise IRKitError(f"{name!r} is not a graph function that can be looped over")
            if name in self._open:
                cycle = " loops over ".join(repr(each) for each in [*self._open, name])
                raise IRKitError(f"cannot differentiate a recursive function: {cycle}")
            self._open.append(name)
            inlined = inline_calls(target, self.module)
            every = {bind.var for bind in walk(inlined.body, Bind)}
            found = self._plain[name] = self.with_kept_states(inlined, every, builder)
            self._open.pop()
        return found

    def keeping(self, step: GraphLoop, builder: Builder) -> GraphLoop:
        """Return a loop over a function that also returns the state that it is given."""
        plain = self.plain(step.function, builder)
        state = plain.params[1 : 1 + len(step.state)]
        inner = Builder.of(plain)
        items = [inner.item(plain.body.result, at) for at in range(len(_items(plain)))]
        func = inner.finish(inner.tuple(*items, *state), span=plain.span, **dict(plain.attrs))
        name = builder.define(func.replace(name=f"{step.function}_kept"))
        self._kept[name] = step.function
        return GraphLoop(name, step.count, step.cond, step.state, step.others)

    def with_kept_states(
        self, func: GraphFunc, active: Collection[Value], builder: Builder
    ) -> GraphFunc:
        """Return a function in which each loop of an active value keeps its states, if they are
        bounded; the functions that they call join those of the builder."""
        sizes = ComputedSizes(func.body, {} if self.module is None else self.module.functions)
        renamed: dict[Value, Value] = {}

        def rewritten(body: Body) -> Body:
            return Body(tuple([changed(bind) for bind in body.bindings]), body.result)

        def changed(bind: Bind) -> Bind:
            step: GraphStep = bind.step
            if isinstance(step, GraphIf):
                both = GraphIf(step.cond, rewritten(step.then), rewritten(step.otherwise))
                return bind.replace(step=both)
            if not isinstance(step, GraphLoop) or bind.var not in active:
                return bind
            rows = _room(bind, step, sizes)
            if rows is None:
                return bind
            kinds = [
                TensorType((rows, *each.shape), each.dtype)
                for value in step.state
                for each in tensors_in(value.type)
            ]
            kind = TupleType((*_tuple(bind.var).items, *kinds))
            renamed[bind.var] = Value(bind.var.name, kind)
            return bind.replace(var=renamed[bind.var], step=self.keeping(step, builder))

        found = func.replace(body=rewritten(func.body))
        return substitute(found, renamed) if renamed else func


def _room(bind: Bind, step: GraphLoop, sizes: ComputedSizes) -> Expr | None:
    """Return the most iterations of a loop; None if that is not known before it runs."""
    tables = _tuple(bind.var).items[1 + len(step.state) :]
    if tables:
        (first,) = tensors_in(tables[0])
        return first.shape[0]
    found = sizes.scalar(step.count)
    number = None if found is None else as_int(found)
    if found is None or number is None:
        return None if found is None else maximum(found, 0)
    return index(max(number, 0)) if number <= MAX_KEPT else None


def _tuple(value: Value) -> TupleType:
    assert isinstance(value.type, TupleType)
    return value.type


def _items(func: GraphFunc) -> tuple[object, ...]:
    return _tuple(func.body.result).items
