"""Object files in memory: laid out, relocated, and executable."""

import ctypes
import mmap
from collections.abc import Iterator, Mapping, Sequence

from irkit.core import IRKitError
from irkit.runtime.object_loader.object_file import (
    ObjectFile,
    ObjectSection,
    ObjectSymbol,
    read_object_file,
)
from irkit.runtime.object_loader.relocation import is_relative, needs_slot, relocated

_PAGE = mmap.PAGESIZE
_READ, _EXECUTE = 1, 4
_REACH = 1 << 31  # Of code at its own data.
_JUMP = b"\xff\x25"  # jmp through the slot at the 32-bit offset that follows.
_JUMP_BYTES, _SLOT_BYTES = 8, 8


class LoadedCode(Mapping[str, int]):
    """The addresses of exported symbols by name; the code is unloaded with this object.

    Memory is code (which is not writable from then on), constants with the slots of addresses
    (nor are these), and variables. A function outside is called through a jump, as it may be
    further away than 2 GiB.
    Raises: IRKitError if a symbol is missing or an object file cannot be read.
    """

    def __init__(
        self, images: Sequence[bytes], symbols: Sequence[str], imports: Mapping[str, int]
    ) -> None:
        files = [read_object_file(image) for image in images]
        self._imports = imports
        self._offsets, ends = _layout(files)
        if ends[-1] >= _REACH:
            raise IRKitError(f"an object file is damaged: code and data have {ends[-1]} bytes")
        self._memory = mmap.mmap(-1, max(ends[-1], _PAGE))
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._defined = self._definitions(files)
        self._outside = dict[str, int]()
        self._slots = dict[int, int]()
        self._jumps = dict[int, int]()
        self._next_jump, self._next_slot = ends[0] - _room(files, _JUMP_BYTES), ends[1]
        self._next_slot -= _room(files, _SLOT_BYTES)
        for number, file in enumerate(files):
            self._place(number, file)
        self._protect(0, ends[0], _READ | _EXECUTE)
        self._protect(ends[0], ends[1], _READ)
        self._symbols = {name: self._exported(name) for name in symbols}

    def __getitem__(self, name: str) -> int:
        return self._symbols[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._symbols)

    def __len__(self) -> int:
        return len(self._symbols)

    def _exported(self, name: str) -> int:
        if name not in self._defined:
            raise IRKitError(f"the native code cannot be linked: it does not define {name!r}")
        return self._defined[name]

    def _definitions(self, files: Sequence[ObjectFile]) -> dict[str, int]:
        """Return the addresses of global symbols that the object files define."""
        found = dict[str, int]()
        for number, file in enumerate(files):
            for symbol in file.symbols:
                if symbol.is_local or symbol.section is None:
                    continue
                if symbol.name in found and not symbol.is_weak:
                    raise IRKitError(
                        f"the native code cannot be linked: {symbol.name!r} is defined twice"
                    )
                found.setdefault(symbol.name, self._own(number, symbol))
        return found

    def _own(self, number: int, symbol: ObjectSymbol) -> int:
        """Return the address of a symbol that an object file defines."""
        if symbol.section == -1:
            return symbol.value
        place = self._offsets.get((number, symbol.section or 0))
        if place is None:
            raise IRKitError(f"{symbol.name!r} is defined in a section that is not loaded")
        return self._start + place + symbol.value

    def _place(self, number: int, file: ObjectFile) -> None:
        """Copy the sections of an object file into memory, and write addresses into them."""
        for at, section in file.sections.items():
            start = self._offsets[number, at]
            self._memory[start : start + len(section.data)] = section.data
        for each in file.relocations:
            section, symbol = file.sections[each.section], file.symbols[each.symbol]
            at = self._offsets[number, each.section] + each.offset
            target, is_outside = self._target(number, symbol)
            if needs_slot(each.kind):
                target = self._slot(target)
            elif is_outside and is_relative(each.kind):
                target = self._jump(target)
            data = relocated(each.kind, target, each.addend, self._start + at)
            if each.offset + len(data) > section.size:
                raise IRKitError("an object file is damaged: a relocation outside of its section")
            self._memory[at : at + len(data)] = data

    def _target(self, number: int, symbol: ObjectSymbol) -> tuple[int, bool]:
        """Return the address of a symbol, and whether something else than these files defines
        it."""
        if symbol.section is not None and symbol.is_local:
            return self._own(number, symbol), False
        if symbol.name in self._defined:
            return self._defined[symbol.name], False
        if symbol.name not in self._outside:
            found = self._imports.get(symbol.name)
            address = address_in_process(symbol.name) if found is None else found
            if address is None and not symbol.is_weak:
                raise IRKitError(
                    f"the native code cannot be linked: nothing defines {symbol.name!r}"
                )
            self._outside[symbol.name] = address or 0
        return self._outside[symbol.name], True

    def _slot(self, target: int) -> int:
        """Return the address of the slot that holds an address."""
        if target not in self._slots:
            at = self._next_slot
            self._next_slot += _SLOT_BYTES
            self._memory[at : at + _SLOT_BYTES] = target.to_bytes(_SLOT_BYTES, "little")
            self._slots[target] = self._start + at
        return self._slots[target]

    def _jump(self, target: int) -> int:
        """Return the address of a jump to a function outside."""
        if target not in self._jumps:
            slot, at = self._slot(target), self._next_jump
            self._next_jump += _JUMP_BYTES
            distance = slot - (self._start + at + len(_JUMP) + 4)
            jump = _JUMP + distance.to_bytes(4, "little", signed=True)
            self._memory[at : at + len(jump)] = jump
            self._jumps[target] = self._start + at
        return self._jumps[target]

    def _protect(self, begin: int, end: int, access: int) -> None:
        if end > begin:
            call = ctypes.CDLL(None, use_errno=True).mprotect
            call.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
            if call(self._start + begin, end - begin, access):
                raise IRKitError(
                    f"the system refuses memory for code (error {ctypes.get_errno()} of mprotect)"
                )


def address_in_process(name: str) -> int | None:
    """Return the address of a function of this process or of the C library's mathematics."""
    for library in (None, "libm.so.6"):
        try:
            function = getattr(ctypes.CDLL(library), name)
        except (AttributeError, OSError):
            continue
        return ctypes.cast(function, ctypes.c_void_p).value
    return None


def _layout(files: Sequence[ObjectFile]) -> tuple[dict[tuple[int, int], int], list[int]]:
    """Return where each section lies, by the number of its file and its own, and where code,
    constants and variables end."""
    offsets, at, ends = dict[tuple[int, int], int](), 0, list[int]()
    for kind, more in ((0, _JUMP_BYTES), (1, _SLOT_BYTES), (2, 0)):
        for number, file in enumerate(files):
            for own, section in file.sections.items():
                if _kind(section) == kind:
                    at = -(-at // section.align) * section.align
                    offsets[number, own] = at
                    at += section.size
        at = -(-at // _JUMP_BYTES) * _JUMP_BYTES + _room(files, more)
        at = -(-at // _PAGE) * _PAGE
        ends.append(at)
    return offsets, ends


def _kind(section: ObjectSection) -> int:
    if section.is_code and section.is_written:
        raise IRKitError("an object file has code that is written while it runs")
    return 0 if section.is_code else 2 if section.is_written else 1


def _room(files: Sequence[ObjectFile], bytes_each: int) -> int:
    """Return room for a jump or slot for each symbol, and at most one is needed for each."""
    return bytes_each * sum(len(file.symbols) for file in files)
