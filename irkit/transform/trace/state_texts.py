"""The printed text of large functions in a trace file, beside their IR.

Reading and printing a function of 100,000 lines takes seconds; its text is read in an instant. It
can always be made again from the IR, so whatever is odd about it only means that there is none:
damage, another printer than that of this irkit, a file without it.
"""

import threading
from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import cast

import msgspec

from irkit.core import FormatError, Function, Level
from irkit.transform.step import Step
from irkit.transform.trace.frames import TEXT, decoded, frame_at, packed_frame
from irkit.transform.trace.size_limits import MAX_FILE_BYTES
from irkit.transform.trace.state_names import StateNames, levels_by_class

LARGE = 20_000
"""Rows of nodes in all states of a function from which on its text is in the file, too."""
MOST_TEXT_BYTES = 1 << 28
"""Text of a state, written out."""
_encode = msgspec.msgpack.Encoder().encode


class TextFrame(msgspec.Struct, array_like=True):
    """The text of the states of one function. ``states`` are pairs of a node and a count of lines;
    ``lines`` are distinct, and ``places`` has the number of each line of each state, in turn, as
    four bytes, the lowest first."""

    printer: str
    states: list[tuple[int, int]]
    lines: list[str]
    places: bytes


class StateText(msgspec.Struct, frozen=True, eq=False):
    """The text of a state: line ``i`` is ``lines[places[i]]``. States of a function share
    ``lines``."""

    lines: list[str]
    places: "array[int]"


class StoredTexts:
    """The texts in a file, decoded when they are asked for. Safe to use from several threads."""

    def __init__(self, data: memoryview, frames: Sequence[int], owner: object) -> None:
        self._data, self._waiting, self._owner = data, list(frames), id(owner)
        self._lock = threading.Lock()
        self._known: dict[int, tuple[TextFrame, int, int]] = {}

    def of(self, key: Hashable) -> StateText | None:
        """Return the text of the state with a key, if the file has it."""
        pair = cast(tuple[object, ...], key) if isinstance(key, tuple) else ()
        if len(pair) != 2 or pair[0] != self._owner or not isinstance(pair[1], int):
            return None
        with self._lock:
            end = 0
            for at in self._waiting:
                # Frames within frames, which nobody writes, would take time that grows squared.
                end = self._open(at) if at >= end else end
            self._waiting.clear()
            found = self._known.get(pair[1])
        return None if found is None else _text_of(*found)

    def _open(self, at: int) -> int:
        """Decode the frame that begins there, and return where it ends."""
        end = at
        try:
            found = frame_at(self._data, at)
            end = found.end
            frame: TextFrame = decoded(self._data[found.start : end], at, TextFrame)
        except FormatError:
            return end
        is_own = found.kind == TEXT and frame.printer == printer_digest()
        if is_own and not any("\n" in line for line in frame.lines):
            begin = 0
            for number, count in frame.states:
                self._known[number] = frame, begin, begin + max(0, count)
                begin += max(0, count)
        return end


def _text_of(frame: TextFrame, begin: int, end: int) -> StateText | None:
    places = array("i")
    assert places.itemsize == 4
    held = frame.places[4 * begin : 4 * end]
    if len(held) != 4 * (end - begin):
        return None
    places.frombytes(held)
    if places and not (min(places) >= 0 and max(places) < len(frame.lines)):
        return None
    lengths = [len(line) for line in frame.lines]
    is_small = sum(map(lengths.__getitem__, places)) <= MOST_TEXT_BYTES
    return StateText(frame.lines, places) if is_small else None


def text_frames(
    steps: Iterable[Step], numbers: Mapping[int, int], levels: Iterable[Level], without: set[str]
) -> Iterator[bytes]:
    """Print the large functions of steps, and yield a frame for each; ``numbers`` are those of the
    nodes, by ``id``. Functions ``without`` text are skipped; those that are seen are added."""
    states: dict[str, dict[int, Function]] = {}
    for step in steps:
        for state in (*step.states("before"), *step.states("after")):
            func = state.read()
            states.setdefault(state.name, {}).setdefault(id(func), func)
    known = sorted({numbers[key] for each in states.values() for key in each})
    rows = {after: after - before for before, after in pairwise([-1, *known])}
    by_class = levels_by_class(levels)
    for name, found in states.items():
        printable = all(_prints_lines(by_class.get(type(func))) for func in found.values())
        if printable and name not in without and sum(rows[numbers[key]] for key in found) > LARGE:
            yield packed_frame(TEXT, _encode(_printed(found, numbers, by_class)))
    without.update(states)


def _prints_lines(level: Level | None) -> bool:
    return level is not None and level.listing is not None


def _printed(
    found: dict[int, Function],
    numbers: Mapping[int, int],
    levels: dict[type[Function], Level],
) -> TextFrame:
    names = StateNames([lambda func=func: func for func in found.values()], levels)
    lines: dict[str, int] = {}
    places = array("i")
    counts: list[tuple[int, int]] = []
    for key, func in found.items():
        listing = levels[type(func)].listing
        assert listing is not None
        printed = listing(func, names=names.up_to(func)).lines
        places.extend([lines.setdefault(line, len(lines)) for line in printed])
        counts.append((numbers[key], len(printed)))
    return TextFrame(printer_digest(), counts, list(lines), places.tobytes())


def fitting(frames: Iterable[bytes], size: int) -> list[bytes]:
    """Return frames as long as a file of ``size`` bytes does not get too large to be read."""
    kept: list[bytes] = []
    for frame in frames:
        size += len(frame)
        if size > MAX_FILE_BYTES * 3 // 4:
            break
        kept.append(frame)
    return kept


@cache
def printer_digest() -> str:
    """Return a digest of the source of the printers, so that text of others is not shown."""
    package = Path(__file__).parents[2]
    found = blake2b(digest_size=16)
    for file in (*sorted(package.glob("*/text/*.py")), Path(__file__).with_name("state_names.py")):
        found.update(file.read_bytes() if file.exists() else b"")
    return found.hexdigest()
