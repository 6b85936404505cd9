"""Open trace files of all versions, also those that are damaged or were never finished."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from irkit.core import FormatError, Level
from irkit.transform.step import Step
from irkit.transform.trace.file import MAGIC, READABLE, VERSION, TraceStepRow, Vocabulary
from irkit.transform.trace.frames import (
    HEAD,
    ROWS,
    STEP,
    TEXT,
    DamagedFrame,
    HeadFrame,
    IndexFrame,
    RowsFrame,
    content_of,
    decoded,
    frame_at,
    frames_from,
    index_of,
)
from irkit.transform.trace.read import decode_body
from irkit.transform.trace.size_limits import MAX_FILE_BYTES
from irkit.transform.trace.state_texts import StoredTexts
from irkit.transform.trace.stored import StoredReader


class TraceContents(msgspec.Struct, frozen=True):
    """What a file holds; ``damage`` says from where on it could not be read, if so. ``texts`` are
    those that it has beside the IR."""

    steps: Sequence[Step]
    title: str
    versions: dict[str, str]
    damage: str = ""
    texts: StoredTexts | None = None


def read_trace(
    path: str | os.PathLike[str], levels: Iterable[Level], max_bytes: int = MAX_FILE_BYTES
) -> TraceContents:
    """Read a trace file.

    Raises: FormatError if it is damaged before its first step is complete, too new, too large, or
    uses a level that is not given.
    """
    name = os.fspath(path)
    try:
        size = Path(path).stat().st_size
        if size > max_bytes:
            raise FormatError(f"{name} has {size} bytes; expected at most {max_bytes}")
        with Path(path).open("rb") as file:
            data = file.read(max_bytes)
    except OSError as error:
        raise FormatError(f"{name} cannot be read: {error.strerror or error}") from error
    return decode_trace(data, levels, name)


def decode_trace(data: bytes, levels: Iterable[Level], name: str = "<trace>") -> TraceContents:
    """Read a trace from the bytes of its file."""
    head = data[:64].partition(b"\n")[0]
    version = head.removeprefix(MAGIC)
    if not head.startswith(MAGIC) or not version.isdigit() or len(data) <= len(head):
        raise FormatError(f"{name} is not an irkit trace")
    if int(version) not in READABLE:
        raise FormatError(
            f"{name} has version {int(version)} of the format; this irkit reads versions up to "
            f"{VERSION}",
            hint="Make the trace again, or read it with the irkit that wrote it.",
        )
    known = Vocabulary(levels)
    if int(version) < VERSION:
        return TraceContents(*decode_body(memoryview(data), known, name, len(head) + 1))
    return _decode_frames(memoryview(data), known, name, len(head) + 1)


def _decode_frames(data: memoryview, known: Vocabulary, name: str, at: int) -> TraceContents:
    try:
        first = frame_at(data, at).end
        head: HeadFrame = content_of(data, at, HEAD, HeadFrame)
    except DamagedFrame as error:
        raise FormatError(f"{name} is damaged {error.message}") from error
    index, damage = index_of(data, first), ""
    is_closed = index is not None
    if index is None:
        index, damage = _made_index(data, first)
    reader = StoredReader(data, index, known, name)
    steps: list[Step] = []
    for place in index.steps:
        try:
            row: TraceStepRow = content_of(data, place, STEP, TraceStepRow)
        except DamagedFrame as error:
            damage = error.message
            break
        steps.append(reader.stored_step(row))
    if damage and not steps:
        raise FormatError(f"{name} is damaged {damage}; no step before that is complete")
    if damage:
        damage = f"{name} is damaged {damage}; what is before it was read: {len(steps)} steps"
    elif not is_closed:
        damage = f"{name} has no end, so its process was stopped or still runs: {len(steps)} steps"
    texts = StoredTexts(data, index.texts, reader)
    return TraceContents(steps, head.title, head.versions, damage, texts)


def _made_index(data: memoryview, first: int) -> tuple[IndexFrame, str]:
    """Return the index that a file lacks, as far as its frames are whole, and what ended it."""
    index = IndexFrame([], [], [], (0, 0, 0))
    try:
        for at, frame in frames_from(data, first):
            if frame.kind == STEP:
                index.steps.append(at)
            if frame.kind == TEXT:
                index.texts.append(at)
            if frame.kind != ROWS:
                continue
            rows: RowsFrame = decoded(data[frame.start : frame.end], at, RowsFrame)
            if min(rows.counts) < 0 or sum(rows.counts) > frame.end - at:
                raise DamagedFrame(at, "a frame has other rows than it says")
            index.classes.extend(rows.classes)
            index.rows.append((at, *index.totals))
            values, nodes, modules = index.totals
            more = rows.counts
            index.totals = values + more[0], nodes + more[1], modules + more[2]
    except DamagedFrame as error:
        return index, error.message
    return index, ""
