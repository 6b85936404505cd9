"""Write whole traces."""

import io
import os
from collections.abc import Iterable, Mapping

from irkit.core import Level, atomic_write
from irkit.transform.step import Step
from irkit.transform.trace.stream import TraceStream


def write_trace(
    path: str | os.PathLike[str],
    steps: Iterable[Step],
    title: str,
    versions: Mapping[str, str],
    levels: Iterable[Level] = (),
) -> None:
    """Write a trace to a temporary file and move it into place, so no incomplete one is ever
    seen. ``levels`` are further ones that modules have functions of."""
    with atomic_write(path) as made, made.open("wb") as file:
        _write(file, steps, title, versions, levels)


def encode_trace(steps: Iterable[Step], title: str, versions: Mapping[str, str]) -> bytes:
    """Return the bytes of a trace file."""
    file = io.BytesIO()
    _write(file, steps, title, versions)
    return file.getvalue()


def _write(
    file: io.BufferedIOBase,
    steps: Iterable[Step],
    title: str,
    versions: Mapping[str, str],
    levels: Iterable[Level] = (),
) -> None:
    kept = tuple(steps)
    stream = TraceStream(file.write, [*(step.level for step in kept), *levels], title, versions)
    for step in kept:
        stream.append(step)
    stream.close()
