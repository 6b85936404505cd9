"""How much of an address is known to be aligned: devices read wide vectors only where it is."""

from collections.abc import Mapping

from irkit.ir import Add, Buffer, Cast, Const, Expr, FloorDiv, FloorMod, Mul, Ramp, Sub, Var, as_int

MOST = 16
"""Bytes of the widest access of a thread."""


class Alignment:
    """Powers of two, up to ``MOST``, that divide what variables hold and where buffers begin.

    Arithmetic that wraps around keeps them.
    """

    def __init__(self) -> None:
        self.variables: dict[Var, int] = {}
        self.buffers: dict[Buffer, int] = {}

    def bind(self, var: Var, value: Expr) -> None:
        """Record what a variable holds."""
        if var.dtype.is_integer:
            self.variables[var] = known_twos(value, self.variables)

    def begins(self, buffer: Buffer, align: int) -> None:
        """Record that a buffer begins at a multiple of so many bytes."""
        self.buffers[buffer] = min(align, MOST)

    def view(self, buffer: Buffer, source: Buffer, offset: Expr) -> None:
        """Record where a view begins, ``offset`` elements after its source."""
        bytes_in = known_twos(offset, self.variables) * source.dtype.bytes
        self.buffers[buffer] = min(self.buffers.get(source, source.dtype.bytes), bytes_in, MOST)

    def of(self, buffer: Buffer, index: Expr) -> int:
        """Return the bytes to which an element, the first of several, of a flat buffer is
        aligned."""
        width = buffer.dtype.bytes
        first = index.base if isinstance(index, Ramp) else index
        place = known_twos(first, self.variables) * width
        return max(width, min(place, self.buffers.get(buffer, width), MOST))


def known_twos(expr: Expr, known: Mapping[Var, int]) -> int:
    """Return a power of two, at most ``MOST``, that divides an integer expression."""
    match expr:
        case Const():
            return _twos(int(expr.value))
        case Var():
            return known.get(expr, 1)
        case Cast() if expr.value.dtype.is_integer:
            return known_twos(expr.value, known)
        case Add() | Sub():
            return min(known_twos(expr.a, known), known_twos(expr.b, known))
        case Mul():
            return min(known_twos(expr.a, known) * known_twos(expr.b, known), MOST)
        case FloorMod():
            divisor = as_int(expr.b)
            return 1 if divisor is None else min(known_twos(expr.a, known), _twos(divisor))
        case FloorDiv():
            divisor, found = as_int(expr.b) or 0, known_twos(expr.a, known)
            return found // divisor if divisor > 0 and found % divisor == 0 else 1
        case _:
            return 1


def _twos(value: int) -> int:
    return min(value & -value, MOST) if value else MOST
