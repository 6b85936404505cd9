"""The text form of passes: ``vectorize-loops{lanes=8}``, alone, in a list, or with a phase.

Before::

    parse_spec('unroll-loops{max_extent=8, mode="all"}')

After::

    PassSpec("unroll-loops", {"max_extent": 8, "mode": "all"})
"""

import json
import math
import re
from collections.abc import Mapping
from typing import NoReturn, cast

import msgspec

from irkit.core import AttrValue, ParseError, Span

MAX_TEXT = 1 << 16  # characters
_NAME = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_]\w*)*(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?")
_KEY = re.compile(r"[A-Za-z_]\w*")
_FLOAT = re.compile(r"[+-]?(?:\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)")
_INT = re.compile(r"[+-]?\d+")
_WORD = re.compile(r"[+-]?[A-Za-z_][\w.-]*")
_STRING = re.compile(r'"(?:[^"\\\n]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
_SPACE = re.compile(r"[ \t\n]*")
_PHASE = re.compile(r"([0-9]{1,4}):")
_PLACE = re.compile(
    r"(?:(?P<number>[0-9]{1,4})|(?P<level>(?!before=|after=)[A-Za-z_]\w*)(?:\.(?P<within>[0-9]{1,4}))?)?"
    r"(?:/?(?P<beside>before|after)=(?P<name>[A-Za-z_][\w-]*))?:"
)
_WORDS: dict[str, AttrValue] = {
    "true": True,
    "false": False,
    "none": None,
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
}
_MAX_DIGITS = 400


class PassSpec(msgspec.Struct, frozen=True, eq=False):
    """Name and options of a pass; ``name`` can also be ``module:function``.

    ``span`` is its place in a longer text.
    """

    name: str
    options: dict[str, AttrValue] = {}
    span: Span | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PassSpec) and (self.name, self.options) == (
            other.name,
            other.options,
        )

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return render_spec(self.name, self.options)


class PlacedSpec(msgspec.Struct, frozen=True):
    """A pass and its place: the end of a phase, or before or after the pass ``name``.

    ``level`` is the word before the colon, such as ``graph``, or empty; ``beside`` is ``before``,
    ``after`` or empty.
    """

    spec: PassSpec
    level: str = ""
    phase: int | None = None
    beside: str = ""
    name: str = ""


def parse_spec(text: str) -> PassSpec:
    """Read one pass.

    Raises: ParseError that points at the column.
    """
    reader = _Reader(text)
    spec = reader.spec()
    reader.end()
    return spec


def parse_phases(text: str) -> tuple[tuple[int, Span, tuple[PassSpec, ...]], ...]:
    """Read the phases of a pipeline, as in ``0:;1:flatten-buffers,simplify;2:unroll-loops``.

    Each is returned as its number, the place of that number, and its passes.
    """
    reader = _Reader(text, "<pipeline>")
    found: list[tuple[int, Span, tuple[PassSpec, ...]]] = []
    while True:
        reader.space()
        if reader.at == len(text):
            return tuple(found)  # A ';' can also end the text.
        start = reader.span()
        number = _PHASE.match(text, reader.at)
        if number is None:
            reader.fail("expected the number of a phase and a colon, as in 1:simplify")
        if any(int(number[1]) <= known for known, _, _ in found):
            reader.fail(f"phase {number[1]} comes after phase {found[-1][0]}; phases go upwards")
        reader.at = number.end()
        found.append((int(number[1]), start, reader.specs()))
        if not reader.take(";"):
            reader.end("expected ',' before another pass or ';' before another phase")
            return tuple(found)


def parse_placed(text: str) -> PlacedSpec:
    """Read a place and a pass: ``1:module:function{option=3}``, ``graph:NAME``, ``graph.1:NAME``,
    ``before=simplify:NAME`` or ``3/after=simplify:NAME``."""
    reader = _Reader(text)
    reader.space()
    found = _PLACE.match(text, reader.at)
    if found is None or found.end() == reader.at + 1:
        reader.fail(
            "expected a place and a colon: the number of a phase, graph or legalize, "
            "as in 1:simplify"
        )
    reader.at = found.end()
    spec = reader.spec()
    reader.end()
    phase = found["number"] or found["within"]
    return PlacedSpec(
        spec,
        level=found["level"] or "",
        phase=None if phase is None else int(phase),
        beside=found["beside"] or "",
        name=found["name"] or "",
    )


def render_spec(name: str, options: Mapping[str, object]) -> str:
    """Write a pass so that :func:`parse_spec` reads it back."""
    if not options:
        return name
    return name + "{" + ",".join(f"{key}={_render(value)}" for key, value in options.items()) + "}"


def _render(value: object) -> str:
    match value:
        case None | bool():
            return str(value).lower()
        case float() if math.isfinite(value):
            return repr(value)
        case float():
            return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
        case int():
            return str(value)
        case str():
            return json.dumps(value)
        case tuple() | list():
            items = cast(tuple[object, ...], value)
            return "[" + ",".join(_render(item) for item in items) + "]"
        case _:
            return json.dumps(str(value))


def pointed_at(text: str, span: Span) -> str:
    """Return the text around a place, with a caret below it."""
    lines = text.split("\n")
    line, at = lines[span.line - 1], span.column - 1
    first = max(0, at - 40)
    shown = line[first : at + 40]
    return f"{shown}\n  {' ' * (at - first)}^"


class _Reader:
    def __init__(self, text: str, file: str = "<pass>") -> None:
        self.text = text
        self.file = file
        self.at = 0
        if len(text) > MAX_TEXT:
            self.fail(f"the text is longer than {MAX_TEXT} characters")

    def fail(self, message: str) -> NoReturn:
        found = self.text[self.at : self.at + 16]
        raise ParseError(
            f"{message}; found {found!r}" if found else f"{message}; found the end",
            hint=pointed_at(self.text, self.span()),
            span=self.span(),
        )

    def span(self) -> Span:
        """Return the current place."""
        before = self.text[: self.at]
        column = self.at - (before.rfind("\n") + 1) + 1
        return Span("text", file=self.file, line=before.count("\n") + 1, column=column)

    def space(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def take(self, mark: str) -> bool:
        self.space()
        if not self.text.startswith(mark, self.at):
            return False
        self.at += len(mark)
        return True

    def match(self, pattern: re.Pattern[str], what: str) -> str:
        self.space()
        found = pattern.match(self.text, self.at)
        if found is None:
            self.fail(f"expected {what}")
        self.at = found.end()
        return found[0]

    def end(self, message: str = "expected the end") -> None:
        self.space()
        if self.at < len(self.text):
            self.fail(message)

    def specs(self) -> tuple[PassSpec, ...]:
        found: list[PassSpec] = []
        self.space()
        while self.at < len(self.text) and self.text[self.at] != ";":
            found.append(self.spec())
            if not self.take(","):
                break
            self.space()
        return tuple(found)

    def spec(self) -> PassSpec:
        self.space()
        start = self.span()
        name = self.match(_NAME, "the name of a pass, or module:function")
        options: dict[str, AttrValue] = {}
        if self.take("{") and not self.take("}"):
            while True:
                self.option(options)
                if not self.take(","):
                    break
            if not self.take("}"):
                self.fail("expected ',' or '}' after an option")
        return PassSpec(name, options, start)

    def option(self, options: dict[str, AttrValue]) -> None:
        self.space()
        start = self.at
        key = self.match(_KEY, "the name of an option")
        if key in options:
            self.at = start
            self.fail(f"option {key!r} is given twice")
        if not self.take("="):
            self.fail(f"expected '=' after option {key!r}")
        options[key] = self.value(2)

    def value(self, depth: int) -> AttrValue:
        if not self.take("["):
            return self.scalar()
        if depth == 0:
            self.fail("lists are nested too deeply")
        items: list[AttrValue] = []
        while not self.take("]"):
            if items and not self.take(","):
                self.fail("expected ',' or ']' in a list")
            items.append(self.value(depth - 1))
        return tuple(items)  # pyright: ignore[reportReturnType] -- the depth is bounded by 2

    def scalar(self) -> AttrValue:
        self.space()
        start = self.at
        if found := _STRING.match(self.text, start):
            self.at = found.end()
            return str(json.loads(found[0]))
        for pattern, read in ((_FLOAT, float), (_INT, int)):
            found = pattern.match(self.text, start)
            if found is not None and not re.match(
                r"[\w.]", self.text[found.end() : found.end() + 1]
            ):
                if len(found[0]) > _MAX_DIGITS:
                    self.fail(f"the number has more than {_MAX_DIGITS} digits")
                self.at = found.end()
                return read(found[0])
        word = self.match(_WORD, "a value: a number, true, false, none, a string or a list")
        if word in _WORDS:
            return _WORDS[word]
        if word[0] in "+-":
            self.at = start
            self.fail("expected a number after the sign")
        return word  # A bare word is a string, so that a shell needs no second pair of quotes.
