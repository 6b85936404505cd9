"""What the clocks of the loops of a kernel say."""

import ctypes
from typing import Any

import msgspec

from irkit.runtime.jit import Library

_MODULUS = 1 << 64


class ClockReading(msgspec.Struct, frozen=True):
    """What a clock has counted since it was set to 0. Units: ticks of the processor's counter."""

    ticks: int
    iterations: int


class LoopClocks:
    """The clocks of a kernel, in the order of their numbers; they count all calls of it.

    While a call runs, or after one that failed, the ticks mean nothing.
    """

    def __init__(self, library: Library, address: int, count: int) -> None:
        self._library = library  # It owns the table.
        self._table: Any = (ctypes.c_uint64 * (2 * count)).from_address(address)

    def read(self) -> tuple[ClockReading, ...]:
        """Return what each clock has counted."""
        numbers = list(self._table)
        return tuple(
            ClockReading(ticks - _MODULUS if ticks >= _MODULUS // 2 else ticks, iterations)
            for ticks, iterations in zip(numbers[::2], numbers[1::2], strict=True)
        )

    def reset(self) -> None:
        """Set all clocks to 0."""
        ctypes.memset(self._table, 0, ctypes.sizeof(self._table))
