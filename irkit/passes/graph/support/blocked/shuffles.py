"""Channel shuffles, which are written as a reshape, a transpose and a reshape."""

from collections.abc import Sequence

import numpy as np

from irkit.core import UniqueNames
from irkit.graph import (
    ArrayData,
    Bind,
    Body,
    Constant,
    GraphFacts,
    GraphFunc,
    Op,
    Value,
    attributes,
    extents_of,
    tensor_type,
)
from irkit.ir import I64


class Shuffles:
    """A function with its channel shuffles as picks of channels by number: ``func``. Where no form
    replaces one, ``restored`` gives the bindings that were there."""

    def __init__(self, func: GraphFunc) -> None:
        facts = GraphFacts(func)
        names = UniqueNames([value.name for value in (*func.params, *facts.bound)])
        self._inside: dict[Value, tuple[Bind, Bind]] = {}
        self._before, self._tables = facts.bound, set[Value]()
        made: dict[Value, list[Bind]] = {}
        for bind in func.body.bindings:
            found = _shuffle(bind, facts)
            if found is not None:
                x, order, inside = found
                numbers = np.array(order, np.int64)
                table = Value(names(f"{bind.var.name}_order"), tensor_type([len(order)], I64))
                step = Op("take", (x, table), (("axis", 1),))
                made[bind.var] = [
                    Bind(table, Constant(ArrayData(numbers)), bind.span),
                    bind.replace(step=step),
                ]
                self._inside[bind.var] = inside
                self._tables.add(table)
        gone = {each.var for inside in self._inside.values() for each in inside}
        kept = [
            each
            for bind in func.body.bindings
            if bind.var not in gone
            for each in made.get(bind.var, [bind])
        ]
        self.func = func.replace(body=Body(tuple(kept), func.body.result)) if made else func

    def restored(self, bind: Bind) -> Sequence[Bind]:
        """Return the bindings that compute what one of ``func`` does."""
        inside = self._inside.get(bind.var)
        if bind.var in self._tables:
            return []
        return [bind] if inside is None else [*inside, self._before[bind.var]]


def _shuffle(
    last: Bind, facts: GraphFacts
) -> tuple[Value, tuple[int, ...], tuple[Bind, Bind]] | None:
    """Return what a binding shuffles, which channel each of its results is, and the bindings that
    only it needs; None if it shuffles nothing."""
    middle = _before(last, "reshape", facts)
    first = None if middle is None else _before(middle, "transpose", facts)
    if middle is None or first is None or not _is(first, "reshape"):
        return None
    assert isinstance(first.step, Op)
    assert isinstance(middle.step, Op)
    x = first.step.args[0]
    shape, apart, made = (extents_of(each) for each in (x, first.var, last.var))
    axes = attributes(middle.step).ints("axes")
    if len(shape) < 3 or shape != made or len(apart) != len(shape) + 1:
        return None
    groups, size = apart[1:3]
    others = (apart[0], *apart[3:]) == (shape[0], *shape[2:]) and None not in shape[1:]
    if not others or axes != (0, 2, 1, *range(3, len(apart))) or not groups or not size:
        return None
    order = np.arange(groups * size).reshape(groups, size).T.reshape(-1)
    return x, tuple(int(each) for each in order), (first, middle)


def _before(bind: Bind, name: str, facts: GraphFacts) -> Bind | None:
    """Return what computes the operand of an operator of a name, and for nobody else."""
    if not _is(bind, name):
        return None
    assert isinstance(bind.step, Op)
    found = facts.bound.get(bind.step.args[0])
    return found if found is not None and facts.uses[found.var] == 1 else None


def _is(bind: Bind, name: str) -> bool:
    return isinstance(bind.step, Op) and bind.step.name == name
