"""Choose the regions of a graph whose channels are cut into blocks, by what that costs and saves.

Costs are cycles, by the sizes of a machine: a convolution runs at a part of the peak of fused
multiplications and additions, and an element that changes its layout is read and written once.
"""

from collections.abc import Mapping
from math import prod

import msgspec

from irkit.autoschedule import Machine
from irkit.graph import Bind, GraphFunc, Op, Value, attributes, extents_of, used_inside
from irkit.passes.graph.support.blocked.convolutions import multiplied_channels
from irkit.passes.graph.support.blocked.forms import BlockedForms
from irkit.passes.graph.support.blocked.operands import BlockedForm, order_of

_PLAIN, _BLOCKED = 0.6, 0.88
"""The parts of the peak at which convolutions run in the plain layout, and in blocks."""
_PLAIN_DEPTHWISE, _BLOCKED_DEPTHWISE = 0.1, 0.35
_PLAIN_SHORT = 0.3
"""The part of the peak for convolutions in groups in the plain layout whose lines are shorter than
a vector."""
_MOVED = 0.6
"""Cycles to move an element to another layout."""


class ConvCost(msgspec.Struct, frozen=True):
    """Cycles of a convolution in the plain layout and in blocks."""

    plain: float
    blocked: float


class BlockedRegions:
    """What is blocked of a function: ``forms``, by the values that they compute; and what the
    convolutions among them, ``costs``, and those ``left`` as they are, cost."""

    def __init__(self, func: GraphFunc, forms: BlockedForms, machine: Machine) -> None:
        self._func, self._forms, self._machine = func, forms, machine
        self.costs: dict[Value, ConvCost] = {}
        self.left: dict[Value, ConvCost] = {}
        for bind in func.body.bindings:
            cost = self._cost(bind)
            if cost is not None and isinstance(bind.step, Op):
                # In the plain layout, one between others would have its operand and its result
                # converted.
                apart = cost.plain + _moved(bind.var) + _moved(bind.step.args[0])
                chosen = self.costs if cost.blocked < apart else self.left
                chosen[bind.var] = cost
        self._grow()
        while lost := self._losing():
            for value in lost:
                self.left[value] = self.costs.pop(value)
            self._grow()

    @property
    def forms(self) -> dict[Value, BlockedForm]:
        return self._forms.found

    def _grow(self) -> None:
        """Find the forms of the chosen convolutions, and of all that work on their results."""
        self._forms.found = found = {}
        for bind in self._func.body.bindings:
            step, var = bind.step, bind.var
            if not isinstance(step, Op) or step.name == "unblock_channels":
                continue
            if var in self.costs:
                form = self._forms.convolution(step)
            else:
                known = any(arg in found for arg in step.args)
                form = self._forms.of(step, var) if known else None
            if form is not None:
                found[var] = form

    def _cost(self, bind: Bind) -> ConvCost | None:
        """Return the cost of a convolution that can be blocked; None of others."""
        step = bind.step
        if not isinstance(step, Op) or step.name != "conv":
            return None
        form = self._forms.convolution(step)
        shape, filters = extents_of(bind.var), extents_of(step.args[1])
        places = [extent for extent in shape[2:] if extent is not None]
        taps = [extent for extent in filters if extent is not None]
        if form is None or len(places) < len(shape) - 2 or len(taps) < len(filters):
            return None
        lanes, peak = self._forms.lanes, self._forms.lanes * self._machine.multiplied
        results = (shape[0] or 1) * prod(places)
        work = results * prod(taps)
        padded = results * multiplied_channels(step, taps, lanes) * prod(taps[2:])
        plain, blocked = _PLAIN, _BLOCKED
        if attributes(step).int("groups") > 1:
            is_depthwise = taps[1] == 1 and taps[0] == attributes(step).int("groups")
            line = prod(places) if prod(taps[2:]) == 1 else places[-1]
            plain = _PLAIN if line >= lanes else _PLAIN_SHORT
            if is_depthwise:
                plain, blocked = _PLAIN_DEPTHWISE, _BLOCKED_DEPTHWISE
        return ConvCost(work / peak / plain, padded / peak / blocked)

    def _losing(self) -> list[Value]:
        """Return the convolutions of regions that cost more, with what they convert, than they
        save."""
        region = _Regions()
        converted: dict[Value, Value] = {}
        for bind in self._func.body.bindings:
            form = self.forms.get(bind.var)
            for arg, order in () if form is None else form.operands:
                region.join(arg, bind.var)
                own = order_of(arg, self.forms, self._forms.lanes)
                if arg not in self.forms or own != (order or own):
                    converted[arg] = bind.var
        converted |= {value: value for value in is_used_plain(self._func, self.forms)}
        saved: dict[Value, float] = {}
        for value, cost in self.costs.items():
            of = region.find(value)
            saved[of] = saved.get(of, 0.0) + cost.plain - cost.blocked
        for value, at in converted.items():
            of = region.find(at)
            saved[of] = saved.get(of, 0.0) - _moved(value)
        return [value for value in self.costs if saved[region.find(value)] <= 0]


def _moved(value: Value) -> float:
    """Return the cycles to move a tensor to another layout."""
    return _MOVED * prod(n or 1 for n in extents_of(value))


class _Regions:
    """Values that are joined to regions, each known by one of them."""

    def __init__(self) -> None:
        self._leader: dict[Value, Value] = {}

    def find(self, value: Value) -> Value:
        while (leader := self._leader.get(value, value)) is not value:
            value = leader
        return value

    def join(self, one: Value, other: Value) -> None:
        self._leader[self.find(one)] = self.find(other)


def is_used_plain(func: GraphFunc, forms: Mapping[Value, BlockedForm]) -> set[Value]:
    """Return the values in blocks that something else reads in the plain layout."""
    found = {func.body.result}
    for bind in func.body.bindings:
        form = forms.get(bind.var)
        read = set(used_inside(bind.step))
        found |= read if form is None else read - {arg for arg, _ in form.operands}
    return found & forms.keys()
