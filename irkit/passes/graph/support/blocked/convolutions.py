"""Convolutions by constant filters on tensors in blocks: filters packed in the order of channels.

A convolution in groups takes its filters group by group, each beginning a block of its own, so that
all lanes of a vector read the same channels. Groups of few channels are computed several together,
with zeros where a filter does not read a channel.
"""

from collections.abc import Sequence
from math import prod

import msgspec
import numpy as np

from irkit.graph import (
    Array,
    GraphFacts,
    Op,
    OpOptions,
    Replacement,
    Value,
    as_attrs,
    attributes,
    dtype_of_value,
    packed_filters,
)
from irkit.ir import F32
from irkit.passes.graph.support.blocked.operands import BlockedForm, BlockedValues
from irkit.passes.graph.support.blocked.orders import ChannelOrder, in_order

_SIZES = ("kernel", "strides", "pads", "dilations")
_PADDED = 1.1
"""How many times the channels a convolution may multiply, before reading them by a table pays."""
_STORED = 30
"""Products that take as long as it takes to store a block of results and to read it again."""


class _Conv(msgspec.Struct, frozen=True):
    """A convolution of ``x``, whose channels have an ``order``, or is not in blocks, by constant
    filters [K, C / groups, R...]."""

    step: Op
    x: Value
    order: ChannelOrder | None
    filters: Array
    bias: Array | None
    groups: int
    lanes: int

    @property
    def channels(self) -> int:
        return self.filters.shape[1] * self.groups

    def operand(self) -> ChannelOrder:
        """Return the order in which x is read."""
        return self.order or in_order(self.channels, self.lanes)

    def made(self, name: str, args: Sequence[Value]) -> Op:
        return Op(name, tuple(args), as_attrs(given_sizes(self.step)))

    def biases(self, b: Replacement, order: ChannelOrder) -> list[Value]:
        """Return the bias of each filter. Shapes: [K] -> [blocks, lanes]."""
        if self.bias is None:
            return []
        return [b.constant(order.arranged(self.bias).reshape(-1, self.lanes), name="bias")]


def convolution_form(
    step: Op, facts: GraphFacts, lanes: int, order: ChannelOrder | None
) -> BlockedForm | None:
    """Return the form of a convolution by constant filters, if it has one; ``order`` is that of its
    operand if that is in blocks."""
    x, *given = step.args
    arrays = [facts.array(value) for value in given]
    known = [array for array in arrays if array is not None]
    if dtype_of_value(x) != F32 or len(known) < len(arrays):
        return None
    groups = attributes(step).int("groups")
    conv = _Conv(step, x, order, known[0], known[1] if len(known) > 1 else None, groups, lanes)
    if groups == 1:
        return _dense(conv)
    return _depthwise(conv) if groups == conv.channels == len(known[0]) else _grouped(conv)


def multiplied_channels(step: Op, filters: Sequence[int], lanes: int) -> int:
    """Return how many channels are multiplied by how many filters, both numbers together, zeros
    included; for a convolution whose filters have the shape ``filters``."""
    groups = attributes(step).int("groups")
    count, own = filters[:2]
    if groups == 1:
        return -(-count // lanes) * lanes * _read(own, lanes, prod(filters[2:]))
    if groups == count and own == 1:
        return -(-count // lanes) * lanes
    grouping = _grouping(groups, filters, lanes)
    return grouping.parts * grouping.blocks * lanes * own * grouping.together


def _read(channels: int, lanes: int, taps: int) -> int:
    whole = -(-channels // lanes) * lanes
    return channels if channels <= lanes or (taps == 1 and whole > _PADDED * channels) else whole


def _dense(conv: _Conv) -> BlockedForm:
    """Return the form of a convolution of all channels. It reads what is not in blocks as it is, if
    its channels are no more than a block holds."""
    order, lanes, count = conv.order, conv.lanes, conv.channels
    made = in_order(len(conv.filters), lanes)
    taps = prod(conv.filters.shape[2:])
    operand = conv.operand()
    plain = count <= lanes and order is None
    sparse = taps == 1 and len(operand.channels) > _PADDED * count
    if not plain and (sparse or not operand.has_zeros):
        return _by_table(conv, made, _Grouping(1, 1, made.blocks))
    inner = count if plain else lanes

    def emit(b: Replacement, at: BlockedValues) -> Value:
        filters = conv.filters if plain else operand.arranged(conv.filters, axis=1)
        packed = b.constant(packed_filters(filters, inner, lanes), name="packed")
        x = conv.x if plain else at.get(b, conv.x, operand)
        return b.emit(conv.made("conv_blocked", [x, packed, *conv.biases(b, made)]), "conv_blocked")

    return BlockedForm(() if plain else ((conv.x, operand),), made, emit)


def _depthwise(conv: _Conv) -> BlockedForm:
    """Return the form of a convolution of each channel by a filter of its own."""
    order = conv.operand()

    def emit(b: Replacement, at: BlockedValues) -> Value:
        packed = b.constant(packed_depthwise(conv.filters, order), name="packed")
        args = [at.get(b, conv.x, order), packed, *conv.biases(b, order)]
        return b.emit(conv.made("depthwise_blocked", args), "depthwise_blocked")

    return BlockedForm(((conv.x, order),), order, emit)


def _grouped(conv: _Conv) -> BlockedForm:
    """Return the form of a convolution in groups."""
    grouping = _grouping(conv.groups, conv.filters.shape, conv.lanes)
    size = grouping.together * (len(conv.filters) // conv.groups)
    return _by_table(conv, in_order(len(conv.filters), conv.lanes, size), grouping)


class _Grouping(msgspec.Struct, frozen=True):
    """So many groups ``together`` are computed in each of some ``parts``, which have ``blocks`` of
    filters each; the last part may have fewer groups."""

    together: int
    parts: int
    blocks: int


def _grouping(groups: int, filters: Sequence[int], lanes: int) -> _Grouping:
    """Choose the groups that are computed together: few blocks of filters, each with few products,
    those with zeros included."""
    count, own, *taps = filters

    def of(most: int) -> _Grouping:
        parts = -(-groups // most)
        together = -(-groups // parts)
        return _Grouping(together, parts, -(-together * (count // groups) // lanes))

    def cost(each: _Grouping) -> int:
        return each.parts * each.blocks * (each.together * own * prod(taps) + _STORED)

    return min(map(of, range(1, groups + 1)), key=cost)


def _by_table(conv: _Conv, made: ChannelOrder, grouping: _Grouping) -> BlockedForm:
    """Return the form that reads the channels of each part of the filters by a table."""
    order = conv.operand()

    def emit(b: Replacement, at: BlockedValues) -> Value:
        table = packed_table(order, grouping.parts, grouping.together * conv.filters.shape[1])
        packed = packed_groups(conv.filters, conv.groups, grouping.parts, conv.lanes)
        args = [at.get(b, conv.x, order), b.constant(table, name="channels")]
        args += [b.constant(packed, name="packed"), *conv.biases(b, made)]
        return b.emit(conv.made("conv_gathered", args), "conv_gathered")

    return BlockedForm(((conv.x, order),), made, emit)


def packed_table(order: ChannelOrder, parts: int, size: int) -> Array:
    """Return where the channels of each part stand, ``size`` of them: [parts, size]. Where the last
    part has fewer, what is multiplied by zeros is the last channel, again."""
    positions = order.positions()
    positions += positions[-1:] * (parts * size - len(positions))
    return np.array(positions, np.int32).reshape(parts, size)


def packed_depthwise(filters: Array, order: ChannelOrder) -> Array:
    """Pack filters of one channel each. Shapes: [C, 1, R...] -> [B, R..., lanes]."""
    apart = order.arranged(filters[:, 0]).reshape(order.blocks, order.lanes, *filters.shape[2:])
    return np.ascontiguousarray(np.moveaxis(apart, 1, -1))


def packed_groups(filters: Array, groups: int, parts: int, lanes: int) -> Array:
    """Pack filters for ``conv_gathered``: for each of some parts, those of its groups.

    Shapes: [K, c, R...] -> [parts * B, R..., c * ceil(groups / parts), lanes].
    """
    count, own, *taps = filters.shape
    together, size = -(-groups // parts), count // groups
    blocks = -(-together * size // lanes)
    made = np.zeros((parts, blocks * lanes, together, own, *taps), filters.dtype)
    apart = filters.reshape(groups, size, own, *taps)
    for at in range(together):
        own_groups = apart[at::together]
        made[: len(own_groups), at * size : (at + 1) * size, at] = own_groups
    whole = made.reshape(parts * blocks, lanes, together * own, *taps)
    return np.ascontiguousarray(np.moveaxis(np.moveaxis(whole, 1, -1), 1, -2))


def given_sizes(step: Op) -> dict[str, tuple[int, ...]]:
    """Return the sizes of a window that an operator was given, in full."""
    options: OpOptions = attributes(step)
    return {name: options.ints(name) for name, _ in step.attrs if name in _SIZES}
