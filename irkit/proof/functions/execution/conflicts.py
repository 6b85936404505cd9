"""Elements that two iterations of a loop without an order touch, one of them writing."""

from irkit.proof.functions.execution.memory import Memory
from irkit.proof.functions.execution.terms import NotExecuted

_MANY = -(1 << 70)
"""Stands for several iterations that read an element."""


class UnorderedLoop:
    """A run of a loop without an order: who touched which element of memory around it."""

    def __init__(self, kind: str, name: str, depth: int) -> None:
        self.kind, self.name, self.depth = kind, name, depth
        self.now = 0
        self._readers: dict[tuple[int, int], int] = {}
        self._writers: dict[tuple[int, int], int] = {}
        self._gathered: set[int] = set()
        self._written: set[int] = set()

    def reads(self, memory: Memory, at: int) -> None:
        """Note that the current iteration reads an element.

        Raises: NotExecuted if another one wrote it.
        """
        key = (id(memory), at)
        if self._writers.get(key, self.now) != self.now:
            raise self._conflict(memory, at)
        if self._readers.setdefault(key, self.now) != self.now:
            self._readers[key] = _MANY

    def writes(self, memory: Memory, at: int, *, changes: bool) -> None:
        """Note that the current iteration writes an element; several may write one same value.

        Raises: NotExecuted if another one touched it.
        """
        key = (id(memory), at)
        if self._readers.get(key, self.now) != self.now or id(memory) in self._gathered:
            raise self._conflict(memory, at)
        if self._writers.setdefault(key, self.now) != self.now and changes:
            raise self._conflict(memory, at)
        self._written.add(id(memory))

    def gathers(self, memory: Memory) -> None:
        """Note that an iteration reads an element that is not known.

        Raises: NotExecuted if the loop also writes to this memory.
        """
        if id(memory) in self._written:
            raise self._conflict(memory, None)
        self._gathered.add(id(memory))

    def _conflict(self, memory: Memory, at: int | None) -> NotExecuted:
        where = memory.name if at is None else f"{memory.name}[{at}]"
        return NotExecuted(
            f"two iterations of the {self.kind} loop {self.name} touch one element, {where}"
        )
