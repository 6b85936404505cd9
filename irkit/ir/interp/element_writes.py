"""A run that notes every write of one element, through whatever view of its memory.

The compiler of statements is extended, so a run that notes nothing costs nothing more.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec
import numpy as np

from irkit.core import IRKitError
from irkit.ir.function import PrimFunc
from irkit.ir.interp.machine import Registers
from irkit.ir.interp.memory import BufferRegisters, lanes_of, touched_elements
from irkit.ir.interp.run import MAX_BYTES, MAX_STEPS, InterpretedFunction
from irkit.ir.interp.statements import StatementCompiler
from irkit.ir.stmt import For, Store


class ElementWrite(msgspec.Struct, frozen=True):
    """A write of an element: its statement, the variables of the loops around it, outermost first,
    and the value."""

    stmt: Store
    iteration: tuple[tuple[str, int], ...]
    value: Any


class ElementWrites(msgspec.Struct):
    """The writes of an element: how many there were, and the last one; those before the ``error``
    that a run ended with."""

    address: int
    count: int = 0
    last: ElementWrite | None = None
    error: str = ""


class _WatchingCompiler(StatementCompiler):
    """Compiler of statements that note the writes of one address."""

    found: ClassVar[ElementWrites]

    def __init__(self) -> None:
        super().__init__()
        self.loops: list[tuple[str, int]] = []

    def iteration(self, stmt: For) -> None:
        self.loops.append((stmt.var.name, self.variables[stmt.var]))
        super().iteration(stmt)
        self.loops.pop()

    def before_store(
        self,
        stmt: Store,
        place: BufferRegisters,
        indices: list[int],
        value: int,
        mask: int | None,
        lanes: int,
    ) -> None:
        found, loops, memory = self.found, tuple(self.loops), place.memory
        masks = [] if mask is None else [mask]

        def note_one(r: Registers) -> None:
            # Most stores are of another element: this is all that they cost.
            offset = sum([r[at] * r[by] for at, by in zip(indices, place.strides, strict=True)])
            array = r[memory]
            begin: int = array.__array_interface__["data"][0]
            if begin + offset * array.itemsize == found.address:
                note(r)

        def note(r: Registers) -> None:
            begin, size = r[memory].__array_interface__["data"][0], r[memory].itemsize
            wanted = (found.address - begin) // size
            for element, _, lane in touched_elements(r, place, indices, masks, lanes):
                if element == wanted:
                    values = tuple((name, int(r[register])) for name, register in loops)
                    found.count += 1
                    found.last = ElementWrite(stmt, values, lanes_of(r[value], lanes)[lane])

        self.code.emit(note if masks or lanes > 1 else note_one)


def element_writes(
    func: PrimFunc,
    args: Sequence[Any],
    number: int,
    element: Sequence[int],
    *,
    max_steps: int | None = MAX_STEPS,
    max_bytes: int = MAX_BYTES,
) -> ElementWrites:
    """Run a function as ``interpret`` does, and return the writes of one element of the array that
    is argument ``number``."""
    array = np.asarray(args[number])
    begin: int = array.__array_interface__["data"][0]
    offset = sum(at * step for at, step in zip(element, array.strides, strict=True))
    noted = ElementWrites(begin + offset)
    compiler = type("WatchingCompiler", (_WatchingCompiler,), {"found": noted})
    function = type("WatchedFunction", (InterpretedFunction,), {"compiler": compiler})
    try:
        function(func)(*args, max_steps=max_steps, max_bytes=max_bytes)
    except IRKitError as error:
        noted.error = error.message
    return noted
