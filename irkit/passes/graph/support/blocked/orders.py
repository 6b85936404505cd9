"""Where each channel of a tensor in blocks stands: an order of channels, with holes between them.

A permutation of channels costs nothing while it is only a new order: what works on each channel by
itself is the same in any order, and a convolution takes its filters, biases and the numbers of the
channels that it reads in the order of its operand.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from irkit.graph import Array

ZERO, OTHER = -1, -2
"""What stands where no channel does: zeros, or anything."""


class ChannelOrder(msgspec.Struct, frozen=True):
    """The channel at each position of blocks of ``lanes``, or ``ZERO`` or ``OTHER``."""

    channels: tuple[int, ...]
    lanes: int

    @property
    def blocks(self) -> int:
        return len(self.channels) // self.lanes

    @property
    def is_full(self) -> bool:
        """Return True if a channel stands everywhere."""
        return min(self.channels) >= 0

    @property
    def has_zeros(self) -> bool:
        """Return True if there are only zeros where no channel stands."""
        return OTHER not in self.channels

    def is_alike(self, other: "ChannelOrder") -> bool:
        """Return True if the channels stand at the same places, whatever is in the holes."""
        return self.without_zeros() == other.without_zeros()

    def positions(self) -> list[int]:
        """Return where each channel stands, in the order of their numbers."""
        found = {channel: at for at, channel in enumerate(self.channels) if channel >= 0}
        return [found[channel] for channel in sorted(found)]

    def without_zeros(self) -> "ChannelOrder":
        """Return the order after something that makes anything else of zeros."""
        return ChannelOrder(tuple(OTHER if at < 0 else at for at in self.channels), self.lanes)

    def picked(self, which: Sequence[int]) -> "ChannelOrder":
        """Return the order of the tensor that has, for each of its channels, one of these; other
        channels become what may be anything."""
        number = {channel: at for at, channel in enumerate(which)}
        made = tuple(c if c < 0 else number.get(c, OTHER) for c in self.channels)
        return ChannelOrder(made, self.lanes)

    def used(self) -> tuple[int, int]:
        """Return the first block with a channel, and the one after the last."""
        blocks = [at // self.lanes for at in self.positions()]
        return min(blocks), max(blocks) + 1

    def part(self, first: int, end: int) -> "ChannelOrder":
        """Return the order of some blocks alone."""
        return ChannelOrder(self.channels[first * self.lanes : end * self.lanes], self.lanes)

    def arranged(self, array: Array, axis: int = 0) -> Array:
        """Return an array with the entries of an axis in this order, and zeros in the holes."""
        numbers = np.array(self.channels)
        taken = np.take(array, np.maximum(numbers, 0), axis=axis)
        shape = [1] * array.ndim
        shape[axis] = len(numbers)
        return np.where((numbers >= 0).reshape(shape), taken, np.zeros((), array.dtype))


def in_order(channels: int, lanes: int, size: int = 0) -> ChannelOrder:
    """Return the order of channels by their numbers. Each ``size`` of them, the last ones too, have
    blocks of their own; by default, all have together."""
    size = size or channels
    room = -(-size // lanes) * lanes
    made: list[int] = []
    for first in range(0, channels, size):
        part = range(first, min(first + size, channels))
        made += [*part, *[ZERO] * (room - len(part))]
    return ChannelOrder(tuple(made), lanes)


def joined(orders: Sequence[ChannelOrder], counts: Sequence[int]) -> ChannelOrder:
    """Return the order of tensors of so many channels that are joined, block behind block."""
    made: list[int] = []
    first = 0
    for order, count in zip(orders, counts, strict=True):
        made += [channel if channel < 0 else first + channel for channel in order.channels]
        first += count
    return ChannelOrder(tuple(made), orders[0].lanes)


def shared(orders: Sequence[ChannelOrder]) -> ChannelOrder:
    """Return the order of what is computed from tensors whose orders are alike: with zeros where
    all have them."""
    first = orders[0]
    return first if all(order == first for order in orders) else _least(orders)


def _least(orders: Sequence[ChannelOrder]) -> ChannelOrder:
    made = tuple(min(each) for each in zip(*(order.channels for order in orders), strict=True))
    return ChannelOrder(made, orders[0].lanes)
