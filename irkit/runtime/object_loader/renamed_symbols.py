"""Object files whose symbols get other names.

The new names stand at the end of the file, in a copy of its table of names: nothing else moves.
Source: System V ABI, chapter 4 (object files).
"""

import struct

from irkit.core import IRKitError

_MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little-endian.
_PLACE = struct.Struct("<Q10xHHH")
"""In the header: where the table of sections is, and the size and number of its rows."""
_PLACE_AT = 40
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOLS = 2


def can_rename(image: bytes) -> bool:
    """Return True for an object file of a format that this module knows."""
    return image.startswith(_MAGIC)


def with_symbols(image: bytes, old: str, new: str) -> bytes:
    """Return an object file in which ``new`` stands for ``old`` in the name of each symbol.

    Raises: IRKitError if the file is damaged, or of a format that is not known.
    """
    try:
        return _renamed(image, old.encode(), new.encode())
    except (struct.error, IndexError, ValueError) as error:
        raise IRKitError(f"an object file is damaged: {error}") from error


def _renamed(image: bytes, old: bytes, new: bytes) -> bytes:
    if not can_rename(image):
        raise ValueError("it is not in the format of ELF with 64 bits")
    start, size, count, _ = _PLACE.unpack_from(image, _PLACE_AT)
    if size != _SECTION.size:
        raise ValueError(f"a row of its sections has {size} bytes")
    made = bytearray(image)
    headers: list[tuple[int, ...]] = [
        _SECTION.unpack_from(image, start + at * size) for at in range(count)
    ]
    for header in headers:
        if header[1] != _SYMBOLS:
            continue
        table = start + header[6] * size
        strings = headers[header[6]]
        names = bytearray(image[strings[4] : strings[4] + strings[5]])
        for place in range(header[4], header[4] + header[5], _SYMBOL.size):
            symbol = _SYMBOL.unpack_from(image, place)
            name = bytes(names[symbol[0] : names.index(0, symbol[0])])
            if old in name:
                _SYMBOL.pack_into(made, place, len(names), *symbol[1:])
                names += name.replace(old, new) + b"\0"
        row = (*strings[:4], len(made), len(names), *strings[6:])
        _SECTION.pack_into(made, table, *row)
        made += names
    return bytes(made)
