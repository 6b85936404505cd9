"""Members of a zip file that are stored as they are, so that they can be read where they lie."""

import io
import os
import struct
import zipfile

PAGE = 4096
"""The alignment of a member that is mapped. Units: bytes."""
_HEADER = struct.Struct("<4s22xHH")
"""The start of a member: its mark, and the lengths of its name and of its extra fields."""
_PADDING = 0xD935
"""The number of an extra field that aligns a member, as Android's packages have it."""
_ZIP64_EXTRA = 20


def add_member(
    archive: zipfile.ZipFile, name: str, data: bytes | memoryview, *, aligned: bool = False
) -> None:
    """Write a member that has no date, so that the same contents are the same bytes.

    ``aligned`` lets its bytes begin at a multiple of 4,096 in the file.
    """
    member = zipfile.ZipInfo(name)
    member.external_attr = 0o600 << 16
    if aligned and archive.fp is not None:
        begin = archive.start_dir + _HEADER.size + len(name.encode())
        begin += _ZIP64_EXTRA if len(data) * 1.05 > zipfile.ZIP64_LIMIT else 0
        room = -(begin + 4) % PAGE
        member.extra = struct.pack("<HH", _PADDING, room) + bytes(room)
    archive.writestr(member, data)


def stored_member(archive: zipfile.ZipFile, whole: memoryview, name: str) -> memoryview:
    """Return the bytes of a member of an archive, which is ``whole``, without a copy.

    Raises: LookupError if there is none; ValueError if it is compressed, or not where the
    directory of the archive says.
    """
    info = archive.getinfo(name)
    check_stored(info)
    begin = info.header_offset
    if not 0 <= begin <= len(whole) - _HEADER.size:
        raise ValueError(f"{name} lies outside the file")
    mark, name_size, extra_size = _HEADER.unpack_from(whole, begin)
    begin += _HEADER.size
    if mark != b"PK\x03\x04" or bytes(whole[begin : begin + name_size]) != name.encode():
        raise ValueError(f"{name} is not where the directory says")
    begin += name_size + extra_size
    if begin + info.file_size > len(whole):
        raise ValueError(f"{name} lies outside the file")
    return whole[begin : begin + info.file_size]


def check_stored(info: zipfile.ZipInfo) -> None:
    """Raise ValueError for a member that is compressed, or encrypted."""
    stored = info.compress_type == zipfile.ZIP_STORED and info.compress_size == info.file_size
    if not stored or info.flag_bits & 1:
        raise ValueError("it is compressed, which packages never are")


class MemoryFile(io.RawIOBase):
    """Memory as a file that can be read, without a copy of all of it."""

    def __init__(self, memory: memoryview) -> None:
        self._memory = memory
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    # The type of any buffer has no name before Python 3.12; a BufferedReader gives memoryviews.
    def readinto(self, buffer: memoryview, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        found = self._memory[self._at : self._at + len(buffer)]
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: len(self._memory)}[whence]
        if start + offset < 0:
            raise ValueError("negative seek position")
        self._at = start + offset
        return self._at
