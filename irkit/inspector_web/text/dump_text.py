"""Printed IR of another compiler: a level whose functions are text, and nothing but text.

What needs text only works on it: differences, blame, search, two runs, reports. It has no meaning
that irkit knows, so it is neither run nor checked.
"""

from typing import Any

from irkit.core import Function, InputError, Level, Listing, Names

TEXT = "text"
"""The name of the level."""


class TextFunction(Function, frozen=True, eq=False, weakref=True):
    """A function, or another part of a module, as it was printed; lines end with a line feed."""

    language: str
    text: str

    def script(self, *, names: Names | None = None) -> str:
        """Return the text."""
        return self.text + "\n"


def _script(func: TextFunction, /, *, names: Names | None = None) -> str:
    return func.script(names=names)


def _listing(func: TextFunction, /, *, names: Names | None = None) -> Listing:
    return Listing(func.text.split("\n"), {})


def _parse(text: str) -> Any:
    raise InputError("IR of another compiler is shown as text, and not parsed")


def _same(left: TextFunction, right: TextFunction) -> bool:
    return left.text == right.text


TEXT_LEVEL = Level(
    name=TEXT,
    verify=lambda func: [],
    script=_script,
    parse=_parse,
    same=_same,
    nodes=(TextFunction,),
    listing=_listing,
)
