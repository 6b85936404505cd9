"""Who read and wrote each element of memory, and whether two of them could have met.

The structure is fork and join, plus barriers: a place in a run is a chain of iterations of loops
whose order does not matter, and each nest of threads counts the barriers that it passed.
"""

from typing import Any

import msgspec

from irkit.ir.buffer import Buffer
from irkit.ir.stmt import For, Stmt

MIXED = object()  # The value of several writes that differ.


class ThreadNest:
    """One run of a nest of threads: the barriers that all of its threads have passed."""

    __slots__: tuple[str, ...] = ("passed",)

    def __init__(self) -> None:
        self.passed = 0


class Iteration:
    """One iteration of a loop whose iterations may run in any order.

    ``run`` is an object of its own for each time that the loop is entered. ``nest`` is the nest
    whose barriers join the iterations, or None.
    """

    __slots__: tuple[str, ...] = ("chain", "loop", "nest", "run", "value")

    def __init__(
        self,
        parent: "Iteration | None",
        loop: For,
        run: object,
        value: int,
        nest: ThreadNest | None,
    ) -> None:
        self.loop, self.run, self.value, self.nest = loop, run, value, nest
        self.chain: tuple[Iteration, ...] = (self,) if parent is None else (*parent.chain, self)


Place = tuple[Iteration | None, int]  # An iteration, and the barriers that its thread passed.


def parted(a: Place, b: Place) -> tuple[Iteration, Iteration] | None:
    """Return the iterations of one loop in which two places lie, if nothing orders them."""
    if a[0] is None or b[0] is None:
        return None
    for one, other in zip(a[0].chain, b[0].chain, strict=False):
        if one is other:
            continue
        if one.run is not other.run:
            return None  # One run of a loop had ended before the other began.
        if one.value != other.value:
            joined = one.nest is not None and a[1] != b[1]
            return None if joined else (one, other)
    return None


class Touch(msgspec.Struct, frozen=True):
    """A read or write: what it names, the statement, and the iterations around it by their
    variables."""

    writes: bool
    buffer: str
    indices: tuple[int, ...]
    stmt: Stmt
    iteration: tuple[tuple[str, int], ...]

    @property
    def where(self) -> str:
        """Return the place of the statement in the source, or an empty string."""
        return "" if self.stmt.span is None else str(self.stmt.span)

    def __str__(self) -> str:
        verb = "writes" if self.writes else "reads"
        element = f"{self.buffer}[{', '.join(map(str, self.indices))}]"
        values = ", ".join(f"{name} = {value}" for name, value in self.iteration)
        return f"{values} {verb} {element}" + (f" at {self.where}" if self.where else "")


class Race(msgspec.Struct, frozen=True):
    """Two accesses of one element, at least one writing, that nothing orders."""

    kind: str
    loop: For
    first: Touch
    second: Touch

    def __str__(self) -> str:
        who, between = f"iterations of the {self.kind} loop", ""
        if self.kind == "thread":
            blocks = self.loop.thread.startswith("blockIdx")
            who, between = ("blocks", "") if blocks else ("threads", ", with no barrier between")
        return f"two {who} over {self.loop.var.name!r} meet{between}: {self.first}; {self.second}"


class FoundRace(Exception):
    """The end of a run at its first race."""

    def __init__(self, race: Race) -> None:
        super().__init__(str(race))
        self.race = race


class AccessSite(msgspec.Struct, frozen=True):
    """What every run of one load or store has in common."""

    stmt: Stmt
    buffer: Buffer
    writes: bool


class _ElementHistory:
    """The accesses of one element that a later one may meet."""

    __slots__: tuple[str, ...] = ("reads", "writes")

    def __init__(self) -> None:
        self.reads: dict[Place, tuple[AccessSite, tuple[int, ...]]] = {}
        self.writes: dict[Place, tuple[AccessSite, tuple[int, ...], Any]] = {}


class MemoryLog:
    """The accesses of one piece of memory, element by element.

    A write is harmless to those that nothing orders with it if all of them write its value. It does
    not disturb reads if the element held its value before; nor does it disturb a read after a write
    of the same value in the reading iteration.
    """

    def __init__(self) -> None:
        self.elements: dict[int, _ElementHistory] = {}

    def read(self, at: int, place: Place, site: AccessSite, indices: tuple[int, ...]) -> None:
        """Record a read. Raises: FoundRace."""
        history = self.elements.get(at)
        if history is None:
            history = self.elements[at] = _ElementHistory()
        own: list[Any] = []
        met: list[tuple[Place, Any]] = []
        for other, (_, _, value) in history.writes.items():
            if parted(other, place) is None:
                own.append(value)
            else:
                met.append((other, value))
        for other, value in met:
            if not own or not all(same_value(value, mine) for mine in own):
                _stop(history.writes[other], other, (site, indices), place)
        history.reads[place] = site, indices

    def write(
        self,
        at: int,
        place: Place,
        site: AccessSite,
        indices: tuple[int, ...],
        old: Any,
        new: Any,
    ) -> None:
        """Record a write of a value in place of another. Raises: FoundRace."""
        history = self.elements.get(at)
        if history is None:
            history = self.elements[at] = _ElementHistory()
        here = site, indices
        met = False
        if not same_value(old, new):
            for other, noted in history.reads.items():
                if parted(other, place) is not None:
                    _stop(noted, other, here, place)
        for other, noted in history.writes.items():
            if parted(other, place) is not None:
                met = True
                if not same_value(noted[2], new):
                    _stop(noted, other, here, place)
        met = met or any(parted(other, place) is not None for other in history.reads)
        before = history.writes.get(place)
        value = new if before is None or same_value(before[2], new) else MIXED
        if met and value is MIXED:
            for other, noted in history.writes.items():
                if parted(other, place) is not None:
                    _stop(noted, other, here, place)
        if not met:  # Whatever may meet an earlier access may meet this one too.
            history.reads, history.writes = {}, {}
        history.writes[place] = site, indices, value


def same_value(a: Any, b: Any) -> bool:
    """Return True if two values are the same, bit by bit, or both NaN."""
    if a is MIXED or b is MIXED:
        return False
    return a.tobytes() == b.tobytes() or bool((a != a) & (b != b))


def _stop(noted: tuple[Any, ...], at: Place, here: tuple[Any, ...], place: Place) -> None:
    pair = parted(at, place)
    assert pair is not None
    loop = pair[0].loop
    raise FoundRace(
        Race(loop.kind, loop, _touch(noted[0], noted[1], at), _touch(here[0], here[1], place))
    )


def _touch(site: AccessSite, indices: tuple[int, ...], place: Place) -> Touch:
    chain = () if place[0] is None else place[0].chain
    values = tuple((each.loop.var.name, each.value) for each in chain)
    return Touch(site.writes, site.buffer.name, indices, site.stmt, values)
