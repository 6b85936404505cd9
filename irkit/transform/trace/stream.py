"""Write a trace file step by step: each step is on disk, as far as it goes, when it is appended."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from irkit.core import Level
from irkit.transform.step import Step
from irkit.transform.trace.file import MAGIC, VERSION, Vocabulary
from irkit.transform.trace.frames import (
    CHUNK,
    HEAD,
    INDEX,
    ROWS,
    STEP,
    HeadFrame,
    IndexFrame,
    RowsFrame,
    packed_end,
    packed_frame,
)
from irkit.transform.trace.state_texts import fitting, text_frames
from irkit.transform.trace.write import Writer

_encode = msgspec.msgpack.Encoder().encode
_SENT: list[Any] = []


class TraceStream:
    """A trace file while it is written. ``write`` puts bytes behind those that are there.

    Steps that are appended stay alive, so that what later ones share is written once, until
    :meth:`forget` is called.
    """

    def __init__(
        self,
        write: Callable[[bytes], object],
        levels: Iterable[Level],
        title: str,
        versions: Mapping[str, str],
    ) -> None:
        self._write = write
        self._writer = Writer(Vocabulary(levels))
        self._sizes = 0, 0, 0, 0
        self._at = 0
        self._index = IndexFrame([], [], [], (0, 0, 0))
        self._alive: list[Step] = []
        self._texts: list[bytes] = []
        self._forgotten: set[str] = set()
        self._put(MAGIC + str(VERSION).encode() + b"\n")
        self._put(packed_frame(HEAD, _encode(HeadFrame(title, dict(versions)))))

    @property
    def size(self) -> int:
        """Return the number of bytes written."""
        return self._at

    def know(self, levels: Iterable[Level]) -> None:
        """Add levels that the IR of later steps is of."""
        known = self._writer.known.levels
        added = {level.name: level for level in levels}
        if any(known.get(name) is not level for name, level in added.items()):
            self._writer.known = Vocabulary((known | added).values())

    def append(self, step: Step) -> None:
        """Write a step, as the next of the file.

        Raises: IRKitError if it holds something that no file can hold; then nothing is written,
        and nothing can be appended any more.
        """
        row = self._writer.step(step)
        row.index = len(self._index.steps)
        self._alive.append(step)
        frames, places = self._new_rows()
        frames.append(packed_frame(STEP, _encode(row)))
        at = self._at + sum(map(len, frames[:-1]))
        self._put(b"".join(frames))
        self._index.rows.extend(places)
        self._index.steps.append(at)

    def forget(self) -> None:
        """Release the steps; what they share with later ones is then written again."""
        self._print()
        self._writer.forget()
        self._alive.clear()

    def close(self) -> None:
        """Write the index of the file."""
        self._print()
        for text in self._texts:
            self._index.texts.append(self._at)
            self._put(text)
        writer, at = self._writer, self._at
        self._index.classes = list(writer.classes)
        self._index.totals = len(writer.values), len(writer.nodes), len(writer.modules)
        self._put(packed_frame(INDEX, _encode(self._index)) + packed_end(at))

    def _print(self) -> None:
        """Print what is large of the steps that are alive. Functions of which other states were
        forgotten have none: names depend on all states before."""
        levels = self._writer.known.levels.values()
        made = text_frames(self._alive, self._writer.node_at, levels, self._forgotten)
        self._texts += fitting(made, self._at + sum(map(len, self._texts)))

    def _put(self, data: bytes) -> None:
        self._write(data)
        self._at += len(data)

    def _new_rows(self) -> tuple[list[bytes], list[tuple[int, int, int, int]]]:
        """Return the frames with the rows made since the last call, and their places."""
        writer = self._writer
        classes, values, nodes, modules = self._sizes
        frames: list[bytes] = []
        places: list[tuple[int, int, int, int]] = []
        at = self._at
        sizes = len(writer.classes), len(writer.values), len(writer.nodes), len(writer.modules)
        while (classes, values, nodes, modules) != sizes:
            last = len(writer.nodes) - nodes <= CHUNK
            some = writer.nodes[nodes : nodes + CHUNK]
            new_modules = writer.modules[modules:] if last else []
            content = RowsFrame(
                (len(writer.values) - values, len(some), len(new_modules)),
                list(writer.classes)[classes:],
                msgspec.Raw(_encode(writer.values[values:])),
                msgspec.Raw(_encode(some)),
                new_modules,
            )
            frames.append(packed_frame(ROWS, _encode(content)))
            places.append((at, values, nodes, modules))
            at += len(frames[-1])
            classes, values = sizes[:2]
            nodes, modules = nodes + len(some), modules + len(new_modules)
        _, values, nodes, modules = self._sizes
        writer.values[values:] = [_SENT] * (sizes[1] - values)
        writer.nodes[nodes:] = [_SENT] * (sizes[2] - nodes)
        writer.modules[modules:] = [_SENT] * (sizes[3] - modules)
        self._sizes = sizes
        return frames, places
