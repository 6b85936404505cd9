"""The frames that a trace file of version 3 consists of: each has a kind, a length and a checksum.

Frames are only ever appended, so whatever is before a damaged or incomplete one can be read. The
first is the head; a step is some frames with the table rows that it adds, and one with its own row.
A file that was closed ends with the text of large functions, an index of its frames and the place
of that index; without it, a reader goes from frame to frame.
"""

import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from zlib import crc32

import msgspec

from irkit.core import FormatError

HEAD, ROWS, STEP, TEXT, INDEX = b"H", b"R", b"S", b"T", b"I"
CHUNK = 4096
"""Rows of nodes in a frame, at most: this many are decoded to read one of them."""
_HEADER = struct.Struct("<cII")
_END = struct.Struct("<8sQ")
_END_MARK = b"irkitend"


class HeadFrame(msgspec.Struct, array_like=True):
    title: str
    versions: dict[str, str]


class RowsFrame(msgspec.Struct, array_like=True):
    """Rows that follow those of the frames before. ``counts`` are of values, nodes and modules."""

    counts: tuple[int, int, int]
    classes: list[str]
    values: msgspec.Raw
    nodes: msgspec.Raw
    modules: list[list[tuple[str, int]]]


class IndexFrame(msgspec.Struct, array_like=True):
    """Where the frames begin, and how many values, nodes and modules precede each of rows.
    ``texts`` is younger than the version: older software passes over it."""

    classes: list[str]
    rows: list[tuple[int, int, int, int]]
    steps: list[int]
    totals: tuple[int, int, int]
    texts: list[int] = []


class Frame(msgspec.Struct, frozen=True):
    """Where the content of a frame is; ``end`` is where the next frame begins."""

    kind: bytes
    start: int
    end: int


class DamagedFrame(FormatError):
    """A frame that cannot be read: ``at`` is its first byte."""

    def __init__(self, at: int, what: str) -> None:
        self.at = at
        super().__init__(f"at byte {at}: {what}")


def packed_frame(kind: bytes, content: bytes) -> bytes:
    """Return the bytes of a frame."""
    if len(content) >= 1 << 32:
        raise FormatError(f"a frame of {len(content)} bytes is too large for a trace file")
    return _HEADER.pack(kind, len(content), _checksum(kind, content)) + content


def packed_end(index_at: int) -> bytes:
    """Return the last bytes of a file whose index begins at ``index_at``."""
    return _END.pack(_END_MARK, index_at)


def frame_at(data: memoryview, at: int) -> Frame:
    """Return the frame that begins there. Raises: DamagedFrame."""
    start = at + _HEADER.size
    if at < 0 or start > len(data):
        raise DamagedFrame(at, "the file ends within a frame")
    kind, length, checksum = _HEADER.unpack_from(data, at)
    if kind not in (HEAD, ROWS, STEP, TEXT, INDEX):
        raise DamagedFrame(at, f"unknown kind of frame {kind!r}")
    end: int = start + length
    if end > len(data):
        raise DamagedFrame(at, "the file ends within a frame")
    if _checksum(kind, data[start:end]) != checksum:
        raise DamagedFrame(at, "the checksum of a frame is wrong")
    return Frame(kind, start, end)


def frames_from(data: memoryview, at: int) -> Iterator[tuple[int, Frame]]:
    """Iterate over the frames and their places, up to the index or the end of the file.

    Raises: DamagedFrame at the first that cannot be read.
    """
    while at < len(data):
        frame = frame_at(data, at)
        if frame.kind == INDEX:
            return
        yield at, frame
        at = frame.end


def content_of(data: memoryview, at: int, kind: bytes, cls: Any) -> Any:
    """Decode the frame that begins there. Raises: DamagedFrame if it is not of this kind."""
    frame = frame_at(data, at)
    if frame.kind != kind:
        raise DamagedFrame(at, f"expected a frame of kind {kind!r}, not {frame.kind!r}")
    return decoded(data[frame.start : frame.end], at, cls)


def decoded(content: memoryview | msgspec.Raw, at: int, cls: Any) -> Any:
    """Decode a part of the frame that begins at ``at``."""
    try:
        return msgspec.msgpack.decode(content, type=cls)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise DamagedFrame(at, str(error)) from error


def index_of(data: memoryview, first: int) -> IndexFrame | None:
    """Return the index of the frames from ``first`` on, or None if it is missing or wrong."""
    if len(data) < first + _END.size:
        return None
    mark, at = _END.unpack_from(data, len(data) - _END.size)
    if mark != _END_MARK or not first <= at < len(data):
        return None
    try:
        index: IndexFrame = content_of(data, at, INDEX, IndexFrame)
    except DamagedFrame:
        return None
    return index if _is_possible(index, first, at) else None


def _is_possible(index: IndexFrame, first: int, end: int) -> bool:
    """Return True if the frames lie within the file, and the rows within their frames."""
    steps = [first - 1, *index.steps, end]
    texts = [first - 1, *index.texts, end]
    if any(here >= after for each in (steps, texts) for here, after in pairwise(each)):
        return False
    rows = [*index.rows, (end, *index.totals)]
    if rows[0][1:] != (0, 0, 0) or rows[0][0] < first:
        return False
    for (here, *counts), (after, *larger) in pairwise(rows):
        made = [new - old for old, new in zip(counts, larger, strict=True)]
        if here >= after or min(made) < 0 or sum(made) > after - here:
            return False
    return True


def _checksum(kind: bytes, content: bytes | memoryview) -> int:
    return crc32(content, crc32(len(content).to_bytes(8, "little"), crc32(kind)))
