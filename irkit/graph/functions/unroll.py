"""Loops of a known number of iterations become the calls that they make."""

import numpy as np

from irkit.core import IRKitError, IRModule
from irkit.graph.build import Builder
from irkit.graph.flow import bindings_of
from irkit.graph.function import GraphFunc
from irkit.graph.nodes import Bind, Body, Constant, GraphLoop, Tuple, Value
from irkit.graph.types import TensorType, TupleType, Type
from irkit.ir import I64, Const, as_int, numpy_dtype

MAX_ITERATIONS = 1000


def unroll_graph_loops(func: GraphFunc, module: IRModule) -> GraphFunc:
    """Return a function in which loops of the outermost body are calls of their functions, each
    after the first under a condition unless that is known to hold.

    Raises: IRKitError for a loop whose number of iterations is not constant, or too large.
    """
    if not any(isinstance(bind.step, GraphLoop) for bind in func.body.bindings):
        return func
    builder = Builder.of(func)
    made: list[Bind] = []
    for bind in func.body.bindings:
        if isinstance(bind.step, GraphLoop):
            part = builder.inner()
            items = _Unrolled(bind, bind.step, func, module, part).items()
            made += [*part.bindings, bind.replace(step=Tuple(tuple(items)))]
        else:
            made.append(bind)
    return func.replace(body=Body(tuple(made), func.body.result))


class _Unrolled:
    def __init__(
        self, bind: Bind, step: GraphLoop, func: GraphFunc, module: IRModule, builder: Builder
    ) -> None:
        target = module[step.function]
        assert isinstance(target, GraphFunc)
        assert isinstance(bind.var.type, TupleType)
        self.bind, self.step, self.target, self.builder = bind, step, target, builder
        self.known = {var: b.step for var, b in bindings_of(func).items()}
        self.rows = list(bind.var.type.items[1 + len(step.state) :])

    def _constant(self, value: Value) -> "int | None":
        step = self.known.get(value)
        return int(step.data.array) if isinstance(step, Constant) else None

    def _count(self) -> int:
        count = self._constant(self.step.count)
        tables = [kind for kind in self.rows if isinstance(kind, TensorType)]
        extents = [as_int(kind.shape[0]) for kind in tables]
        if count is None or None in extents:
            raise IRKitError(
                f"loop {self.bind.var.name!r} cannot be unrolled: the number of its iterations is "
                "only known when it runs",
                span=self.bind.span,
            )
        least = max(0, min([count, *(extent or 0 for extent in extents)]))
        if least > MAX_ITERATIONS:
            raise IRKitError(
                f"loop {self.bind.var.name!r} cannot be unrolled: it makes {least} iterations; up "
                f"to {MAX_ITERATIONS} are unrolled",
                span=self.bind.span,
            )
        return least

    def _always_goes_on(self) -> bool:
        found = bindings_of(self.target)
        result = found[self.target.body.result].step
        flag = result.items[0] if isinstance(result, Tuple) else None
        step = found[flag].step if flag in found else None
        return isinstance(step, Constant) and bool(step.data.array)

    def items(self) -> list[Value]:
        """Bind the calls, and return the number of iterations, the state and the rows."""
        b, step = self.builder, self.step
        state = list(step.state)
        goes_on = step.cond if self._constant(step.cond) != 1 else None
        flags: list[Value] = []
        tables: list[list[Value]] = [[] for _ in self.rows]
        count, always = self._count(), self._always_goes_on()
        for at in range(count):
            found = self._iteration(at, state, goes_on)
            again, state = found[0], found[1 : 1 + len(state)]
            for table, row in zip(tables, found[1 + len(state) :], strict=True):
                table.append(row)
            if goes_on is not None:
                flags.append(goes_on)
            if not always:
                goes_on = again
        made = b.constant(np.array(count - len(flags), np.int64))
        for flag in flags:
            made = b.op("add", made, b.op("cast", flag, dtype="i64"))
        return [made, *state, *map(self._stacked, tables, self.rows)]

    def _iteration(self, at: int, state: list[Value], goes_on: Value | None) -> list[Value]:
        """Call the function, or keep the state where the condition does not hold."""
        kind = self.target.body.result.type
        assert isinstance(kind, TupleType)
        b = self.builder if goes_on is None else self.builder.inner()
        number = b.constant(np.array(at, np.int64))
        made = b.invoke(
            self.step.function, number, *state, *self.step.others,
            type=kind, name=self.target.name, span=self.bind.span,
        )  # fmt: skip
        if goes_on is not None:
            aside = self.builder.inner()
            stopped = aside.constant(np.array(False))
            rows = [_zeros(aside, each) for each in kind.items[1 + len(state) :]]
            kept = aside.tuple(stopped, *state, *rows)
            made = self.builder.branch(goes_on, b.body(made), aside.body(kept))
        return [self.builder.item(made, item) for item in range(len(kind.items))]

    def _stacked(self, rows: list[Value], kind: Type) -> Value:
        """Return the rows along a new first axis, and zeros for those that no iteration makes."""
        assert isinstance(kind, TensorType)
        wide = [self.builder.op("expand_dims", row, axes=(0,)) for row in rows]
        missing = (as_int(kind.shape[0]) or 0) - len(rows)
        if missing or not wide:
            shape = (Const(missing, I64), *kind.shape[1:])
            wide.append(_zeros(self.builder, TensorType(shape, kind.dtype)))
        return self.builder.op("concat", *wide, axis=0) if len(wide) > 1 else wide[0]


def _zeros(builder: Builder, kind: Type) -> Value:
    assert isinstance(kind, TensorType)
    extents = [as_int(extent) for extent in kind.shape]
    if None in extents:
        raise IRKitError("a loop whose rows are of any size cannot be unrolled")
    return builder.constant(np.zeros([e or 0 for e in extents], numpy_dtype(kind.dtype)))
