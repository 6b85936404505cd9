"""When the memory of each allocated buffer is in use."""

from typing import NamedTuple

from irkit.core import analysis, children, deep_recursion, walk
from irkit.ir.analysis.uses import UseTable, symbols_read, uses_of
from irkit.ir.buffer import Buffer
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Allocate, For, Stmt, Store


class LiveRange(NamedTuple):
    """The first and the last statement that need a memory, by number in text order."""

    first: int
    last: int


class Liveness:
    """Live ranges of the allocated buffers of one function; a view extends that of its source.

    A buffer that is used in a loop and allocated outside is live throughout the loop, because
    values can pass from one iteration to another.
    """

    def __init__(
        self, lives: dict[Buffer, LiveRange], numbers: dict[Stmt, int], uses: UseTable
    ) -> None:
        self._lives = lives
        self._numbers = numbers
        self._uses = uses

    def of(self, buffer: Buffer) -> LiveRange | None:
        """Return when the memory of a buffer is needed.

        None if it is not used, or not allocated by the function.
        """
        return self._lives.get(self._uses.memory(buffer))

    def number(self, stmt: Stmt) -> int:
        """Return the number of a statement in text order."""
        return self._numbers[stmt]

    def at(self, stmt: Stmt) -> set[Buffer]:
        """Return the allocated buffers whose memory is needed at a statement."""
        number = self._numbers[stmt]
        return {b for b, live in self._lives.items() if live.first <= number <= live.last}

    def interfere(self, a: Buffer, b: Buffer) -> bool:
        """Return True if two buffers can need memory at the same time, so that they cannot share
        it.

        Parameters always interfere.
        """
        one, other = self._uses.memory(a), self._uses.memory(b)
        if one is other:
            return True
        if not all(isinstance(self._uses.binder(buffer), Allocate) for buffer in (one, other)):
            return True
        x, y = self._lives.get(one), self._lives.get(other)
        return x is not None and y is not None and x.first <= y.last and y.first <= x.last


@analysis
def liveness(func: PrimFunc) -> Liveness:
    """Return when the allocated buffers of a function are in use."""
    finder = _LivenessFinder(uses_of(func))
    finder.find(func.body)
    lives = {b: LiveRange(*ends) for b, ends in finder.lives.items()}
    return Liveness(lives, finder.numbers, finder.uses)


class _LivenessFinder:
    """Walk over statements in text order that tracks the loops around each."""

    def __init__(self, uses: UseTable) -> None:
        self.uses = uses
        self.lives: dict[Buffer, list[int]] = {}
        self.numbers: dict[Stmt, int] = {}
        self._again: list[Stmt] = []  # Those that occur several times.
        self._loops: list[For] = []
        self._depths: dict[Buffer, int] = {}  # The number of loops around the allocation.
        self._whole: dict[For, set[Buffer]] = {}

    @deep_recursion
    def find(self, root: Stmt) -> None:
        self._visit(root)
        for stmt in self._again:  # Too rare for a more precise answer.
            for inner in walk(stmt, Stmt):
                for owner in self._owners(inner):
                    self.lives[owner] = [0, len(self.numbers) - 1]

    def _visit(self, stmt: Stmt) -> None:
        if stmt in self.numbers:
            self._again.append(stmt)
            return
        self._enter(stmt)
        for child in children(stmt):
            if isinstance(child, Stmt):
                self._visit(child)
        if isinstance(stmt, For):
            self._leave()

    def _enter(self, stmt: Stmt) -> None:
        number = self.numbers[stmt] = len(self.numbers)
        if isinstance(stmt, Allocate):
            self._depths[stmt.buffer] = len(self._loops)
        for owner in self._owners(stmt):
            life = self.lives.setdefault(owner, [number, number])
            life[1] = number
            depth = self._depths[owner]
            if depth < len(self._loops):
                outermost = self._loops[depth]
                life[0] = min(life[0], self.numbers[outermost])
                self._whole[outermost].add(owner)
        if isinstance(stmt, For):
            self._loops.append(stmt)
            self._whole[stmt] = set()

    def _leave(self) -> None:
        for owner in self._whole.pop(self._loops.pop()):
            self.lives[owner][1] = len(self.numbers) - 1

    def _owners(self, stmt: Stmt) -> set[Buffer]:
        """Return the allocated memories that a statement itself touches."""
        touched = symbols_read(stmt)
        if isinstance(stmt, Store):
            touched.add(stmt.buffer)
        owners = {self.uses.memory(b) for b in touched if isinstance(b, Buffer)}
        return {owner for owner in owners if isinstance(self.uses.binder(owner), Allocate)}
