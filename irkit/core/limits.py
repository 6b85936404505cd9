"""Limits on numbers that code in several places must agree on."""

from typing import Any

MOST_ELEMENTS = 1 << 47
"""Elements of the longest array: an address has 47 bits, so index arithmetic on extents and strides
does not wrap around in 64."""

FARTHEST = 1 << 40
"""An index beyond this is not a limit that a program has, only the width of a type."""

ALIGNMENT = 64
"""Alignment in bytes of the memory of a model: a cache line, and the widest vector."""

PRINT_WIDTH = 100
"""Characters of a printed signature; a longer one has a line for each parameter."""


def number_beyond_64_bits(tree: Any) -> int | None:
    """Return an integer in decoded JSON, which does not limit them, that i64 does not hold; None
    if there is none."""
    stack = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack += item.values()  # pyright: ignore[reportUnknownArgumentType] -- of JSON
        elif isinstance(item, list):
            stack += item  # pyright: ignore[reportUnknownArgumentType] -- of JSON
        elif isinstance(item, int) and not -(1 << 63) <= item < 1 << 63:
            return item
    return None
