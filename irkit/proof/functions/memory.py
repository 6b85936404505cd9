"""Memory that one side sees as several dimensions and the other as one."""

from collections.abc import Sequence

import msgspec

from irkit.core import walk
from irkit.ir import I64, Buffer, Const, Expr, Load, PrimFunc, View, convert
from irkit.proof.functions.loads import as_index


class FlatView(msgspec.Struct, frozen=True, eq=False):
    """A buffer as part of one-dimensional ``memory``: where it begins, and its dimensions,
    row-major without gaps, over the symbols of the side before."""

    memory: Buffer
    offset: Expr
    dims: tuple[Expr, ...]

    def place(self, indices: Sequence[Expr]) -> Expr:
        """Return the index in memory of an element.

        It is exact modulo 2**64, and so exact for an element inside, because memory is smaller.
        """
        found: Expr = Const(0, I64)
        for index, dim in zip(indices, self.dims, strict=True):
            found = found * convert(dim, I64) + as_index(index)
        return found + convert(self.offset, I64)

    def load(self, node: Load) -> Load:
        """Return a load of the buffer as one of the memory."""
        place = self.place(node.indices)
        return Load(self.memory, (place,), node.mask, node.dtype)


def size(dims: Sequence[Expr]) -> Expr:
    """Return the number of elements, modulo 2**64."""
    found: Expr = Const(1, I64)
    for dim in dims:
        found = found * convert(dim, I64)
    return found


class MemoryOf:
    """The parameter or allocation that each buffer of a function is, or is a view of."""

    def __init__(self, func: PrimFunc) -> None:
        self._source = {view.buffer: view.source for view in walk(func.body, View)}

    def __call__(self, buffer: Buffer) -> Buffer:
        while buffer in self._source:
            buffer = self._source[buffer]
        return buffer
