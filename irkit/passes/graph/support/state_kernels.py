"""Kernels of state: they write a result over a parameter, in the same memory, as they go."""

from collections.abc import Callable, Mapping, Sequence

from irkit.core import Span, UniqueNames, equal, rewrite, walk
from irkit.graph import (
    UPDATES,
    Bind,
    GraphFunc,
    Invoke,
    TensorType,
    Value,
    results_of,
    same_shape,
    state_pairs,
    used_inside,
)
from irkit.ir import I64, Block, Expr, Load, PrimFunc, Store
from irkit.passes.graph.support.scatter_kernels import ScatterShape, buffers_of, rows_within


def updates_of(func: GraphFunc) -> dict[Value, Value]:
    """Return the parameter that each binding's value is written over, of those that are a result
    themselves and no cache."""
    results = results_of(func)
    found = {
        results[pair.result]: func.params[pair.param]
        for pair in state_pairs(func)
        if not pair.capacity
    }
    own = {bind.var for bind in func.body.bindings}
    return {result: param for result, param in found.items() if result in own}


def updated_in_place(func: PrimFunc, number: int) -> PrimFunc:
    """Return a kernel that computes its last tensor where the one of a number lies, or the kernel
    as it is if an element could be read after it is overwritten.

    The loops are as tensor expressions made them: a block stores each element once.
    """
    buffers = buffers_of(func)
    own, result = buffers[number], buffers[-1]
    blocks = list(walk(func.body, Block))
    stores = [each for each in walk(func.body, Store) if each.buffer is result]
    if not blocks or len(stores) != 1 or not any(each is stores[0] for each in walk(blocks[-1])):
        return func
    block, (store,) = blocks[-1], stores
    axes = {axis.var for axis in block.axes if axis.kind == "spatial"}
    same_place = all(
        _same(each.indices, store.indices) for each in walk(block, Load) if each.buffer is own
    )
    once = len(axes) == len(block.axes) == len(store.indices) and axes == set(store.indices)
    if block.init is not None or block.body is not store or not same_place or not once:
        return func

    def moved(load: Load) -> Load | None:
        return load.replace(buffer=result) if load.buffer is own else None

    body = rewrite(func.body, moved, on=Load)
    return func.replace(body=body, attrs=((UPDATES, number), *func.attrs))


class StateChecks:
    """Steps that check where rows of state will be stored. They come first, with all that they
    need, so that a call which they refuse has written nothing."""

    def __init__(self, func: GraphFunc) -> None:
        self.func = func
        self.names = UniqueNames(bind.var.name for bind in walk(func.body, Bind))
        self.made: list[tuple[Value, ScatterShape, Bind]] = []

    def checked(
        self,
        x: Value,
        indices: Value,
        shape: ScatterShape,
        name_of: Callable[[PrimFunc], str],
        span: Span | None,
    ) -> Value:
        """Return the indices of rows of ``x`` once they are checked."""
        for known, other, bind in self.made:
            if known is indices and same_shape(other.extents, shape.extents):
                return bind.var
        message = f"rows are stored outside of the state {x.name!r}, at places of {indices.name!r}"
        func = rows_within(shape, message, span)
        kind = TensorType(shape.indices.shape, I64)
        var = Value(self.names(f"{indices.name}_within"), kind)
        bind = Bind(var, Invoke(name_of(func), (x, indices)), span)
        self.made.append((indices, shape, bind))
        return var

    def first(self, bindings: Sequence[Bind]) -> tuple[Bind, ...]:
        """Return bindings with the checks, and what they need, before the others. A check that
        needs state which is written comes right before its first user."""
        results = results_of(self.func)
        state = {results[pair.result] for pair in state_pairs(self.func)}
        by_var = {bind.var: bind for bind in bindings}
        needed = dict[Value, None]()
        checks: list[Bind] = []
        late: list[Bind] = []
        for indices, _, check in self.made:
            own = _needed(indices, by_var)
            if state.isdisjoint(own):
                needed |= own
                checks.append(check)
            else:
                late.append(check)
        made = [bind for bind in bindings if bind.var in needed] + checks
        for bind in bindings:
            if bind.var not in needed:
                used = set(used_inside(bind.step))
                made += [check for check in late if check.var in used]
                late = [check for check in late if check.var not in used]
                made.append(bind)
        return tuple(made)


def _needed(value: Value, by_var: Mapping[Value, Bind]) -> dict[Value, None]:
    """Return what bindings compute for a value, and itself."""
    found = dict[Value, None]()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one in by_var and one not in found:
            found[one] = None
            waiting += used_inside(by_var[one].step)
    return found


def _same(a: Sequence[Expr], b: Sequence[Expr]) -> bool:
    return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
