"""Read a malformed text: accepted text prints and reads back the same, and can be verified."""

import re
from collections.abc import Callable

from irkit.core import Function, IRKitError, Level, Listing
from irkit.fuzz.generators.sample_file import arrays_by_digest
from irkit.fuzz.judge.files.input_verdict import InputVerdict, verdict_of
from irkit.graph import GRAPH_LEVEL, GraphFunc, parse_module
from irkit.ir import LOOP_LEVEL

_PLACES = re.compile(r"(?!)")
"""No location but a span is accepted."""


def read_text(data: bytes) -> InputVerdict:
    """Read IR text from bytes, print it and read it back, and verify it."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return InputVerdict("refused", "UnicodeDecodeError")
    return verdict_of(lambda: _read(text), _PLACES)


def _read(text: str) -> InputVerdict:
    module = parse_module(text)
    for func in module.functions.values():
        wrong = round_trip(func)
        if wrong:
            return InputVerdict("wrong", wrong, func.name)
    problems = sum(len(_level(func).verify(func)) for func in module.functions.values())
    return InputVerdict("accepted", "with problems" if problems else "well formed")


def _level(func: Function) -> Level:
    return GRAPH_LEVEL if isinstance(func, GraphFunc) else LOOP_LEVEL


def round_trip(func: Function) -> str:
    """Print a function, also with bare constants, and read it back; return what is wrong, or an
    empty string."""
    level = _level(func)
    if level.listing is not None:
        lines = level.listing(func).lines
        wrong = _read_back(level, func, "\n".join(lines) + "\n", level.listing)
        if wrong:
            return f"as a listing, {wrong}"
    return _read_back(level, func, level.script(func), level.script)


def _read_back(
    level: Level, func: Function, text: str, printed: Callable[[Function], object]
) -> str:
    try:
        (again,) = parse_module(text, constants=arrays_by_digest([func])).functions.values()
    except IRKitError as error:
        return f"what was printed does not read: {error}"[:300]
    if not level.same(func, again):
        return "what was printed reads as something else"
    made = printed(again)
    made = "\n".join(made.lines) + "\n" if isinstance(made, Listing) else made
    return "" if made == text else "what was read prints as something else"
