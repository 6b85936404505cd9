"""The threads that trace a function: what describes a program wants an expression of ``i == 0``.

Expressions compare by structure, in C. Until a traced function returns, its thread stands in
``TRACES``. Then operators and builders mark what they make, and variables, constants and tensors
compare as marked expressions do. Outside of a trace, all this costs a look at an empty dictionary.
"""

from collections.abc import Generator
from contextlib import contextmanager
from threading import get_ident
from typing import Any, Protocol


class Marks(Protocol):
    """What a trace does with expressions."""

    def of(self, made: Any) -> Any:
        """Return an expression marked, if it is one that compares by structure."""
        ...

    def compare(self, name: str, a: object, b: object) -> Any:
        """Return the expression of a comparison: eq, ne, lt, le, gt or ge."""
        ...


TRACES: dict[int, Marks] = {}
"""What each thread that traces does; ask whether it is empty before the functions below."""


def traced(made: Any) -> Any:
    """Return an expression, marked if this thread traces."""
    marks = TRACES.get(get_ident())
    return made if marks is None else marks.of(made)


def marks_here() -> Marks | None:
    """Return what this thread does with expressions, or None if it does not trace."""
    return TRACES.get(get_ident())


@contextmanager
def tracing(marks: Marks | None) -> Generator[None]:
    """Trace in this thread; with None, build plain expressions, also inside of a trace."""
    thread = get_ident()
    before = TRACES.pop(thread, None)
    if marks is not None:
        TRACES[thread] = marks
    try:
        yield
    finally:
        TRACES.pop(thread, None)
        if before is not None:
            TRACES[thread] = before


class Symbolic:
    """Symbols: ``==`` is identity, in a trace an expression."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if TRACES and (marks := marks_here()) is not None:
            return marks.compare("eq", self, other)
        return self is other

    def __ne__(self, other: object) -> bool:
        if TRACES and (marks := marks_here()) is not None:
            return marks.compare("ne", self, other)
        return self is not other

    __hash__ = object.__hash__
