"""Themes: which numbers, types and extents the tensors of a program have."""

from typing import Literal

import msgspec

Numbers = Literal["whole", "integers", "fractions", "special"]
_MOST_ELEMENTS = 100
_INTEGERS = ("i32", "i64", "i8", "u8", "i16", "u16", "u32", "u64", "bool")
_FLOATS = ("f32", "f32", "f64", "f16", "bf16")
_EXTENTS = (4, 3, 5, 2, 7, 1, 8, 16, 17, 31, 33, 64, 65, 0)


class Theme(msgspec.Struct, frozen=True):
    """The numbers, types and extents of a program's tensors.

    ``whole`` numbers stay so small that floats hold them exactly, in any order of a sum;
    ``integers`` wrap around; ``fractions`` stay small; ``special`` values are at the edges of their
    types, and are never added up.
    """

    numbers: Numbers
    dtypes: tuple[str, ...]
    extents: tuple[int, ...]
    most_elements: int = _MOST_ELEMENTS

    @property
    def adds(self) -> bool:
        """Return True if NumPy and loops have the same sums, or sums with a known bound."""
        return self.numbers != "special"


SMALL = Theme(
    "whole",
    ("f32", "f32", "f32", "i32", "f32", "i32", "i8", "f64", "bool", "u8", "i64"),
    (4, 3, 5, 2, 6, 7, 1, 8),
)
WHOLE = Theme("whole", (*_FLOATS, "i32", "i8", "bool", "u8", "i64", "i16"), _EXTENTS, 130)
INTEGERS = Theme("integers", _INTEGERS, _EXTENTS, 130)
FRACTIONS = Theme("fractions", (*_FLOATS, "f32", "i32", "bool"), _EXTENTS, 130)
SPECIAL = Theme("special", (*_FLOATS, "i32", "bool", "u8", "i64"), _EXTENTS, 130)
