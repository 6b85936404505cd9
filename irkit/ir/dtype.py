"""Element types: kind, bits, lanes; written ``f32``, ``i64``, ``bool``, ``f32x16``."""

import re
from functools import cache
from typing import Literal

import msgspec

from irkit.core import DTypeError

Kind = Literal["f", "bf", "i", "u", "bool"]

_WIDTHS: dict[str, tuple[int, ...]] = {
    "f": (16, 32, 64),
    "bf": (16,),
    "i": (8, 16, 32, 64),
    "u": (8, 16, 32, 64),
    "bool": (1,),
}
_FORM = re.compile(r"(bool|bf|f|i|u)(\d{1,2})?(?:x(\d{1,5}))?\Z")
_LONG = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u"}
MAX_LANES = 1 << 14


class DType(msgspec.Struct, frozen=True, gc=False):
    """The type of a value: ``kind`` f, bf, i, u or bool, ``bits`` per element, and ``lanes``.

    A scalar has one lane.
    """

    kind: Kind
    bits: int
    lanes: int = 1

    def __str__(self) -> str:
        base = "bool" if self.kind == "bool" else f"{self.kind}{self.bits}"
        return base if self.lanes == 1 else f"{base}x{self.lanes}"

    def is_known(self) -> bool:
        """True if irkit has such a type; a struct can be made with anything in it."""
        lanes, bits = self.lanes, self.bits
        return (
            self.kind.__class__ is str
            and bits.__class__ is int
            and lanes.__class__ is int
            and bits in _WIDTHS.get(self.kind, ())
            and 1 <= lanes <= MAX_LANES
        )

    @property
    def is_float(self) -> bool:
        return self.kind in ("f", "bf")

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers, but not for bool."""
        return self.kind in ("i", "u")

    @property
    def is_bool(self) -> bool:
        return self.kind == "bool"

    @property
    def bytes(self) -> int:
        """Size of one element in memory, in bytes; a bool takes one."""
        return max(1, self.bits // 8)

    @property
    def element(self) -> "DType":
        return self if self.lanes == 1 else DType(self.kind, self.bits)

    def with_lanes(self, lanes: int) -> "DType":
        return self if lanes == self.lanes else DType(self.kind, self.bits, lanes)

    @property
    def low(self) -> int:
        """Smallest value of an integer or bool type."""
        return -(1 << (self.bits - 1)) if self.kind == "i" else 0

    @property
    def high(self) -> int:
        """Largest value of an integer or bool type."""
        return (1 << (self.bits - 1)) - 1 if self.kind == "i" else (1 << self.bits) - 1


BOOL = DType("bool", 1)
I8, I16, I32, I64 = (DType("i", bits) for bits in (8, 16, 32, 64))
U8, U16, U32, U64 = (DType("u", bits) for bits in (8, 16, 32, 64))
F16, F32, F64 = (DType("f", bits) for bits in (16, 32, 64))
BF16 = DType("bf", 16)


@cache
def dtype(name: str) -> DType:
    """Return the type named ``f32``, ``bool``, ``i8x4``, or as in NumPy ``float32``, ``int64``.

    Raises: DTypeError if there is no such type.
    """
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass NumPy's
        raise DTypeError(
            f"expected a type or its name, found {name!r}",
            hint='Write the name, as in "f32"; from_numpy gives the type that is like NumPy\'s.',
        )
    short = re.sub(r"^(bfloat|float|uint|int)", lambda found: _LONG[found[0]], name)
    found = _FORM.match(short)
    if found is not None:
        kind, bits, lanes = found[1], int(found[2] or 1), int(found[3] or 1)
        if (
            bits in _WIDTHS[kind]
            and (found[2] is not None) == (kind != "bool")
            and 1 <= lanes <= MAX_LANES
        ):
            return DType(kind, bits, lanes)  # pyright: ignore[reportArgumentType] -- the pattern admits only kinds
    raise DTypeError(
        f"unknown dtype {name!r}",
        hint="Types are bool, i8-i64, u8-u64, f16, f32, f64 and bf16, with lanes as in f32x16.",
    )


def as_dtype(given: "DType | str") -> DType:
    """Return a DType, given one or its name."""
    return given if isinstance(given, DType) else dtype(given)


def as_number(value: object) -> bool | int | float:
    """Turn a scalar of NumPy into one of Python; Python's own stay as they are.

    Raises: DTypeError if it is something else.
    """
    item = getattr(value, "item", None)
    number = item() if item is not None and getattr(value, "size", 0) == 1 else value
    if not isinstance(number, (bool, int, float)):
        raise DTypeError(f"expected an expression or a number, found {type(value).__name__}")
    return number


def common(a: DType, b: DType) -> DType:
    """Return the common type of two scalars or vectors: the wider one, floats over integers, signed
    over unsigned of equal width.

    Raises: DTypeError if their lanes differ and neither is 1.
    """
    if a == b:
        return a
    if a.lanes != b.lanes and 1 not in (a.lanes, b.lanes):
        raise DTypeError(f"cannot combine {a} with {b}: they have {a.lanes} and {b.lanes} lanes")
    lanes = max(a.lanes, b.lanes)
    order = {"bool": 0, "u": 1, "i": 2, "bf": 3, "f": 3}
    if {a.kind, b.kind} == {"bf", "f"} and a.bits == b.bits:
        return F32.with_lanes(lanes)
    if order[a.kind] >= 3 or order[b.kind] >= 3:
        floats = [t for t in (a, b) if t.is_float]
        widest = max(floats, key=lambda t: t.bits)
    elif {a.kind, b.kind} == {"u", "i"} and max(
        a, b, key=lambda t: (t.bits, order[t.kind])
    ).kind == "u":
        raise DTypeError(
            f"cannot combine {a} with {b} without losing values",
            hint="Cast one of them explicitly.",
        )
    else:
        widest = max(a, b, key=lambda t: (t.bits, order[t.kind]))
    return widest.with_lanes(lanes)
