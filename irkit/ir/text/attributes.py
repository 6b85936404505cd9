"""Print strings, and the attributes of loops, blocks, allocations and functions."""

from keyword import iskeyword
from typing import cast

from irkit.core import Attrs
from irkit.ir.text.expr_printer import float_literal


def quoted(text: str) -> str:
    """Return a string literal, in double quotes if that needs no escapes."""
    return f'"{text}"' if text.isprintable() and not set(text) & {'"', "\\"} else repr(text)


def value_text(value: object) -> str:
    """Return the value of an attribute as text."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        text = float_literal(value)
        return f"float({text})" if text[0] == '"' else text
    if isinstance(value, tuple):
        items = [value_text(item) for item in cast(tuple[object, ...], value)]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return repr(value)


def options_text(attrs: Attrs, taken: tuple[str, ...] = ()) -> str:
    """Return attributes as keyword arguments; a key that cannot be a keyword goes into a
    ``**{...}``."""
    parts, seen = list[str](), set(taken)
    for key, value in attrs:
        plain = key not in seen and key.isascii() and key.isidentifier() and not iskeyword(key)
        text = value_text(value)
        parts.append(f"{key}={text}" if plain else f"**{{{quoted(key)}: {text}}}")
        seen.add(key)
    return ", ".join(parts)
