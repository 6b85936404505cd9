"""Files of records: each line is written at once, and a line that is damaged costs only itself."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from irkit.core import IRKitError, atomic_write, number_beyond_64_bits
from irkit.tune.records.record import SCHEMA, Record, TaskLine

Line = TaskLine | Record
_MOST_LINE = 1 << 22
_SHOWN = 8
_LONG_NUMBER = re.compile(rb"\d{19}")


class Records(msgspec.Struct):
    """What a file holds: tasks by hash, candidates in order, and what is wrong with other lines.

    ``damaged`` are pairs of a line's number and what is wrong with it.
    """

    tasks: dict[str, TaskLine] = {}
    candidates: list[Record] = []
    damaged: list[tuple[int, str]] = []

    def of(self, task: str) -> list[Record]:
        """Return the candidates of a task, by its hash."""
        return [each for each in self.candidates if each.task == task]

    def report(self, path: str) -> str:
        """Return what is wrong with lines of the file, for a message; empty if nothing is."""
        if not self.damaged:
            return ""
        first = "; ".join(f"line {at}: {what}" for at, what in self.damaged[:_SHOWN])
        more = len(self.damaged) - _SHOWN
        return f"{path}: {len(self.damaged)} lines are not used: {first}" + (
            f"; and {more} more" if more > 0 else ""
        )


class RecordFile:
    """A file that lines are appended to, each by one call of the system.

    Other processes may append to it, too. Raises: IRKitError if it cannot be written to.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
            self._file = os.open(self.path, flags, 0o666)
        except OSError as error:
            raise _cannot_write(self.path, error) from None
        self._end_torn_line()

    def append(self, line: Line) -> None:
        """Append a line. Raises: IRKitError if the disk is full; what is there is whole then."""
        data = msgspec.json.encode(line) + b"\n"
        try:
            written = os.write(self._file, data)
        except OSError as error:
            raise _cannot_write(self.path, error) from None
        if written != len(data):  # The disk is full: what follows must not continue this line.
            self._end_torn_line()
            raise IRKitError(
                f"{self.path} cannot be written: only {written} of {len(data)} bytes fit",
                hint="Make room on the disk, and go on with --resume.",
            )

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def __enter__(self) -> "RecordFile":
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def _end_torn_line(self) -> None:
        """End a last line that another process could not finish."""
        try:
            size = os.fstat(self._file).st_size
            if size and os.pread(self._file, 1, size - 1) != b"\n":
                os.write(self._file, b"\n")
        except OSError:  # A pipe or a device, or no room: the next line says so.
            return


def read_records(path: str | os.PathLike[str]) -> Records:
    """Read the lines of a file that are whole, and note what is wrong with others.

    Raises: IRKitError if the file cannot be read.
    """
    found = Records({}, [], [])
    try:
        for number, line in enumerate(_lines(Path(path)), 1):
            if line.strip():
                _take(found, number, line)
    except OSError as error:
        raise IRKitError(f"{os.fspath(path)} cannot be read: {error.strerror}") from None
    return found


def merge_records(into: str | os.PathLike[str], paths: Iterable[str]) -> Records:
    """Write the records of several files into one, each once, and return what was read."""
    whole = Records({}, [], [])
    seen = set[bytes]()
    with atomic_write(into) as made, made.open("wb") as out:
        for path in paths:
            read = read_records(path)
            whole.damaged += read.damaged
            lines: list[Line] = [*read.tasks.values(), *read.candidates]
            for line in lines:
                data = msgspec.json.encode(line)
                if data not in seen:
                    seen.add(data)
                    out.write(data + b"\n")
            whole.tasks |= read.tasks
            whole.candidates += read.candidates
    return whole


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, of a very long one only its beginning."""
    with path.open("rb") as file:
        while line := file.readline(_MOST_LINE):
            yield line
            while not line.endswith(b"\n") and (rest := file.readline(_MOST_LINE)):
                line = rest


def _take(found: Records, number: int, line: bytes) -> None:
    try:
        # As text: of bytes, a name that is not text would be an unknown field, and left out.
        made = msgspec.json.decode(line.decode(), type=Line)
        if _LONG_NUMBER.search(line):
            large = number_beyond_64_bits(msgspec.json.decode(line))
            if large is not None:
                found.damaged.append((number, f"a number of {large.bit_length()} bits"))
                return
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        found.damaged.append((number, _kind_of(line) or f"not a record: {error}"))
        return
    if made.schema != SCHEMA:
        what = f"schema {made.schema}; this version of irkit reads {SCHEMA}"
        found.damaged.append((number, what))
    elif isinstance(made, TaskLine):
        known = found.tasks.get(made.hash)
        if known is None or made.template or not known.template:
            found.tasks[made.hash] = made
    else:
        found.candidates.append(made)


def _kind_of(line: bytes) -> str:
    """Return what a line of another tuner's log is; empty if it is no such line."""
    try:
        given = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    if isinstance(given, dict) and {"input", "config", "result"} <= given.keys():
        return "of an AutoTVM log: used as a hint only"
    if isinstance(given, dict) and {"i", "r"} <= given.keys():
        return "of an auto_scheduler log: used as a hint only"
    return ""


def _cannot_write(path: str, error: OSError) -> IRKitError:
    return IRKitError(
        f"{path} cannot be written: {error.strerror}",
        hint="Name another file, or make room; --resume goes on with what is there.",
    )
