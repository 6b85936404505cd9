"""An object file: the sections that code needs in memory, symbols and relocations.

Source: System V ABI, chapter 4 (object files); its supplement for AMD64.
"""

import struct
from typing import Any

import msgspec

from irkit.core import IRKitError

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_MAGIC = b"\x7fELF\x02\x01\x01"  # 64 bits, little-endian, version 1.
_RELOCATABLE, _X86_64 = 1, 62
_SYMBOLS, _RELA, _NO_BITS, _INIT, _FINI, _REL, _PRE_INIT = 2, 4, 8, 14, 15, 9, 16
_WRITE, _ALLOC, _EXECUTE, _THREAD_LOCAL = 1, 2, 4, 0x400
_UNDEFINED, _ABSOLUTE, _LARGEST = 0, 0xFFF1, 0xFF00
_LOCAL, _WEAK = 0, 2


class ObjectSection(msgspec.Struct, frozen=True, eq=False):
    """A section with its bytes, which are zero where ``data`` is shorter than ``size``."""

    data: bytes
    size: int
    align: int
    is_code: bool
    is_written: bool


class ObjectSymbol(msgspec.Struct, frozen=True, eq=False):
    """A symbol. ``section`` is that in which it is defined, at ``value``; None if another object
    file or the process defines it, or -1 if ``value`` is its address."""

    name: str
    section: int | None
    value: int
    is_local: bool
    is_weak: bool


class Relocation(msgspec.Struct, frozen=True, eq=False):
    """A place in a section, at ``offset``, into which the address of a symbol goes."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


class ObjectFile(msgspec.Struct, frozen=True, eq=False):
    """What of an object file goes into memory; ``sections`` by number."""

    sections: dict[int, ObjectSection]
    symbols: tuple[ObjectSymbol, ...]
    relocations: tuple[Relocation, ...]


def read_object_file(image: bytes) -> ObjectFile:
    """Read an object file for x86-64.

    Raises: IRKitError if it is damaged, for another machine, or has what this loader does not know.
    """
    try:
        return _read(image)
    except (struct.error, IndexError, OverflowError, ValueError) as error:
        raise IRKitError(f"an object file is damaged: {error}") from error


def _read(image: bytes) -> ObjectFile:
    fields: tuple[Any, ...] = _HEADER.unpack_from(image)
    if not fields[0].startswith(_MAGIC) or fields[1:3] != (_RELOCATABLE, _X86_64):
        raise IRKitError(
            "native code for another system than x86-64 with ELF needs llvmlite",
            hint="pip install llvmlite.",
        )
    start, count, name_section = fields[6], fields[12], fields[13]
    headers: list[tuple[int, ...]] = [
        _SECTION.unpack_from(image, start + k * _SECTION.size) for k in range(count)
    ]
    titles = _bytes(image, headers[int(name_section)])
    sections = dict[int, ObjectSection]()
    for number, header in enumerate(headers):
        if header[2] & _ALLOC and _text(titles, header[0]) != ".eh_frame":
            sections[number] = _section(image, header)
    symbols = tuple[ObjectSymbol, ...]()
    for header in headers:
        if header[1] == _SYMBOLS:
            names = _bytes(image, headers[header[6]])
            rows = _SYMBOL.iter_unpack(_bytes(image, header))
            symbols = tuple(_symbol(row, names, sections) for row in rows)
    relocations = [
        Relocation(header[7], at, info & 0xFFFFFFFF, info >> 32, addend)
        for header in headers
        if header[1] == _RELA and header[7] in sections
        for at, info, addend in _RELOCATION.iter_unpack(_bytes(image, header))
    ]
    for each in relocations:
        _ = symbols[each.symbol]  # Damaged if there is none.
    return ObjectFile(sections, symbols, tuple(relocations))


def _section(image: bytes, header: tuple[int, ...]) -> ObjectSection:
    kind, flags, size, align = header[1], header[2], header[5], max(header[8], 1)
    if kind in (_INIT, _FINI, _PRE_INIT, _REL) or flags & _THREAD_LOCAL:
        raise IRKitError("an object file has start-up code or variables of a thread")
    if align & (align - 1) or align > 1 << 12:
        raise IRKitError(f"an object file is damaged: a section is aligned to {align} bytes")
    if size > 1 << 30:
        raise IRKitError(f"an object file is damaged: a section has {size} bytes")
    data = b"" if kind == _NO_BITS else _bytes(image, header)
    return ObjectSection(data, size, align, bool(flags & _EXECUTE), bool(flags & _WRITE))


def _symbol(row: tuple[int, ...], names: bytes, sections: dict[int, ObjectSection]) -> ObjectSymbol:
    name_at, info, _, where, value, _ = row
    name, binding = _text(names, name_at), info >> 4
    if where == _ABSOLUTE:
        section: int | None = -1
    elif where == _UNDEFINED:
        section = None
    elif where >= _LARGEST:
        raise IRKitError(f"an object file has a symbol {name!r} of an unknown kind ({where:#x})")
    else:
        section = where
        if where in sections and value > sections[where].size:
            raise IRKitError(f"an object file is damaged: {name!r} is outside of its section")
    return ObjectSymbol(name, section, value, binding == _LOCAL, binding == _WEAK)


def _bytes(image: bytes, header: tuple[int, ...]) -> bytes:
    offset, size = header[4], header[5]
    if offset + size > len(image):
        raise IRKitError("an object file is damaged: a section reaches past its end")
    return image[offset : offset + size]


def _text(names: bytes, at: int) -> str:
    return names[at : names.index(0, at)].decode()
