"""Random damage to the bytes of any file: flips, cuts, insertions, copies, splices, and numbers in
the encodings that files are made of."""

from collections.abc import Callable, Sequence

from irkit.fuzz.picks import Picks

Damage = Callable[[bytearray, Picks, Sequence[bytes]], None]

LENGTHS = (0, 1, 127, 128, 255, 1 << 14, (1 << 31) - 1, 1 << 31, 1 << 40, (1 << 63) - 1, 1 << 63)
"""Numbers that replace lengths."""

_CUT = 40
"""Most bytes removed or added at once."""


def damaged(data: bytes, picks: Picks, others: Sequence[bytes]) -> bytes:
    """Copy a file with one to three places damaged; pieces can come from the others."""
    made = bytearray(data)
    for _ in range(picks.pick((1, 1, 2, 3))):
        picks.pick(_DAMAGES)(made, picks, others)
    return bytes(made)


def varint(number: int) -> bytes:
    """Encode a number as Protobuf does, seven bits a byte."""
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


def _place(made: bytearray, picks: Picks) -> int:
    return picks.below(len(made) + 1)


def _flip(made: bytearray, picks: Picks, others: Sequence[bytes]) -> None:
    if made:
        made[picks.below(len(made))] ^= 1 << picks.below(8)


def _byte(made: bytearray, picks: Picks, others: Sequence[bytes]) -> None:
    if made:
        made[picks.below(len(made))] = picks.below(256)


def _cut(made: bytearray, picks: Picks, others: Sequence[bytes]) -> None:
    at = _place(made, picks)
    del made[at : at + 1 + picks.below(_CUT)]


def _insert(made: bytearray, picks: Picks, others: Sequence[bytes]) -> None:
    at = _place(made, picks)
    made[at:at] = bytes(picks.below(256) for _ in range(1 + picks.below(8)))


def _duplicate(made: bytearray, picks: Picks, others: Sequence[bytes]) -> None:
    at = _place(made, picks)
    to = _place(made, picks)
    made[to:to] = made[at : at + 1 + picks.below(_CUT)]


def _length(made: bytearray, picks: Picks, others: Sequence[bytes]) -> None:
    at = _place(made, picks)
    made[at : at + 1] = varint(picks.pick(LENGTHS))


def _big_endian(made: bytearray, picks: Picks, others: Sequence[bytes]) -> None:
    """Insert a length as MessagePack encodes it."""
    at = _place(made, picks)
    head = picks.pick(b"\xd9\xda\xdb\xdc\xdd\xde\xdf\xc4\xc6\xcf\xd3")
    number = picks.pick(LENGTHS) & 0xFFFFFFFF
    made[at : at + 1] = bytes([head]) + number.to_bytes(4, "big")


def _truncate(made: bytearray, picks: Picks, others: Sequence[bytes]) -> None:
    del made[_place(made, picks) :]


def _splice(made: bytearray, picks: Picks, others: Sequence[bytes]) -> None:
    """Continue with the end of another file."""
    other = picks.pick(others) if others else bytes(made)
    made[_place(made, picks) :] = other[picks.below(len(other) + 1) :]


def _transplant(made: bytearray, picks: Picks, others: Sequence[bytes]) -> None:
    """Insert a piece of another file in the middle."""
    other = picks.pick(others) if others else bytes(made)
    begin, at = picks.below(len(other) + 1), _place(made, picks)
    made[at : at + picks.below(_CUT)] = other[begin : begin + 1 + picks.below(_CUT)]


_DAMAGES: tuple[Damage, ...] = (
    _flip, _flip, _byte, _byte, _cut, _insert, _duplicate, _length, _big_endian, _truncate,
    _splice, _transplant,
)  # fmt: skip
