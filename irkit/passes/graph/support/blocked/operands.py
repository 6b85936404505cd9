"""How a form takes its operands: in blocks, in the order of channels that it asks for."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from irkit.graph import Array, Op, Replacement, Value, extents_of
from irkit.passes.graph.support.blocked.orders import ChannelOrder, in_order


class BlockedForm(NamedTuple):
    """What computes a result in blocks: ``emit``, from ``operands``, each in an order of channels,
    or, with None, in the one it has. The result has the order ``order``."""

    operands: tuple[tuple[Value, ChannelOrder | None], ...]
    order: ChannelOrder
    emit: "Callable[[Replacement, BlockedValues], Value]"


class BlockedValues:
    """The tensors in blocks that a rewrite has made, by the values they stand for."""

    def __init__(self, forms: Mapping[Value, BlockedForm], lanes: int) -> None:
        self._forms, self._lanes = forms, lanes
        self._made: dict[tuple[Value, ChannelOrder], Value] = {}

    def put(self, value: Value, made: Value) -> None:
        """Note what a form made."""
        self._made[value, self._forms[value].order] = made

    def get(self, b: Replacement, value: Value, order: ChannelOrder | None = None) -> Value:
        """Return a value in blocks, in an order of channels or the one it has: converted here, if
        nobody did that before."""
        own = order_of(value, self._forms, self._lanes)
        wanted = order or own
        found = self._made.get((value, wanted))
        if found is None:
            if wanted != own:
                table = b.constant(_numbers(own, wanted), name="channels")
                found = b.op("gather_channels", self.get(b, value), table)
            else:
                found = b.op("block_channels", value, lanes=self._lanes)
            self._made[value, wanted] = found
        return found


Emit = Callable[[Replacement, BlockedValues], Value]


def order_of(value: Value, forms: Mapping[Value, BlockedForm], lanes: int) -> ChannelOrder:
    """Return the order of a value in blocks; one that no form computes is converted."""
    form = forms.get(value)
    return in_order(extents_of(value)[1] or 1, lanes) if form is None else form.order


def _numbers(own: ChannelOrder, wanted: ChannelOrder) -> Array:
    """Return the table by which channels of one order are picked in another one."""
    positions = own.positions()
    table = [positions[channel] if channel >= 0 else -1 for channel in wanted.channels]
    return np.array(table, np.int32).reshape(-1, wanted.lanes)


def unblocked(b: Replacement, made: Value, order: ChannelOrder, channels: int) -> Op:
    """Return what gives the plain layout of a tensor in blocks."""
    if order.channels[:channels] == tuple(range(channels)):
        return Op("unblock_channels", (made,), (("channels", channels),))
    whole = b.op("unblock_channels", made, channels=len(order.channels))
    table = b.constant(np.array(order.positions(), np.int64), name="positions")
    return Op("take", (whole, table), (("axis", 1),))
