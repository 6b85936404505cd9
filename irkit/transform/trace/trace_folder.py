"""Record what is compiled, as it goes, in the folder that the environment names."""

import atexit
import os
import platform
import sys
import threading
import warnings
from collections.abc import Generator, Iterable
from io import FileIO
from pathlib import Path
from typing import TypeVar

from irkit.core import IRKitError, Level
from irkit.transform.step import Step
from irkit.transform.trace.size_limits import MAX_FILE_BYTES
from irkit.transform.trace.stream import TraceStream

VARIABLE = "IRKIT_TRACE"
_T = TypeVar("_T")


def is_recording() -> bool:
    """Return True if the environment asks for files of what is compiled."""
    return bool(os.environ.get(VARIABLE))


def recorded(
    steps: Generator[Step, None, _T], levels: Iterable[Level]
) -> Generator[Step, None, _T]:
    """Return the steps of a compilation; each is written to a file, too, if ``IRKIT_TRACE`` names a
    folder.

    Each process has a file of its own, and a further one where that would be too large to be read.
    ``levels`` are all that the IR is of.
    """
    folder = os.environ.get(VARIABLE)
    return _written(steps, _recording(folder), tuple(levels)) if folder else steps


def _written(
    steps: Generator[Step, None, _T], recording: "_Recording", levels: tuple[Level, ...]
) -> Generator[Step, None, _T]:
    try:
        while True:
            try:
                step = next(steps)
            except StopIteration as stop:
                return stop.value
            recording.append(step, levels)
            yield step
    finally:
        recording.forget()


class _Recording:
    """The trace files of one process in one folder; a failure to write ends it with a warning."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._lock = threading.Lock()
        self._stream: TraceStream | None = None
        self._file: FileIO | None = None
        self._failed = False

    def append(self, step: Step, levels: tuple[Level, ...]) -> None:
        with self._lock:
            if self._failed:
                return
            try:
                if self._stream is not None and self._stream.size > MAX_FILE_BYTES // 2:
                    self._close()
                if self._stream is None:
                    self._stream = self._opened()
                self._stream.know(levels)
                self._stream.append(step)
            except (OSError, IRKitError) as error:
                self._failed = True
                warnings.warn(f"{VARIABLE}: recording ends here: {error}", stacklevel=2)

    def forget(self) -> None:
        """Release the IR of what was compiled."""
        with self._lock:
            if self._stream is not None:
                self._stream.forget()

    def close(self) -> None:
        """Write the index of the file, unless writing has failed before."""
        with self._lock:
            if not self._failed:
                self._close()

    def _close(self) -> None:
        stream, file, self._stream, self._file = self._stream, self._file, None, None
        if stream is not None and file is not None:
            stream.close()
            file.close()

    def _opened(self) -> TraceStream:
        self._folder.mkdir(parents=True, exist_ok=True)
        title = Path(sys.argv[0] if sys.argv else "").stem or "python"
        name, number = f"{title}-{os.getpid()}", 1
        path = self._folder / f"{name}.trace"
        while path.exists():
            number += 1
            path = self._folder / f"{name}-{number}.trace"
        self._file = file = path.open("xb", buffering=0)

        def write(data: bytes) -> None:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]

        return TraceStream(write, (), title, {"python": platform.python_version()})


_recordings: dict[tuple[int, str], _Recording] = {}
_opening = threading.Lock()


def _recording(folder: str) -> _Recording:
    """Return the recording of this process, which can be the fork of one that records."""
    key = os.getpid(), os.path.abspath(folder)
    with _opening:
        if key not in _recordings:
            _recordings[key] = made = _Recording(key[1])
            _close_at_exit(key[0], made)
        return _recordings[key]


def _close_at_exit(process: int, recording: _Recording) -> None:
    """Close the recording when this process ends.

    A child of ``multiprocessing`` does not run what ``atexit`` knows, but its own finalizers.
    """
    atexit.register(_close_own, process, recording)
    # Who did not import it is no child of it, and need not wait for that import.
    if "multiprocessing.process" in sys.modules:
        from multiprocessing import parent_process
        from multiprocessing.util import Finalize

        if parent_process() is not None:
            Finalize(None, _close_own, args=(process, recording), exitpriority=0)


def _close_own(process: int, recording: _Recording) -> None:
    if process == os.getpid():
        recording.close()
