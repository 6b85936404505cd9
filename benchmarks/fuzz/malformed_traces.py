"""The checks of a malformed trace: it is loaded, and shown in every view."""

import re
import tempfile
import zlib
from functools import cache
from pathlib import Path

from irkit.fuzz.judge import InputVerdict, verdict_of
from irkit.graph import GRAPH_LEVEL
from irkit.inspector_web.api.every_view import every_view
from irkit.inspector_web.api.native_views import NativeViews
from irkit.ir import LOOP_LEVEL
from irkit.transform import Trace

_NATIVE_ONE_IN = 20
_ANYWHERE = re.compile("")
_TRACE_PLACES = re.compile(
    r" at (?:class|value|node|module|step) \d|at `\$|\(byte \d+\)| at byte \d|damaged: \w+ \d"
    r"|truncated|Expected|Levels known here|is not an irkit trace|has version"
)
"""Locations in a trace: a row of a table, a path into the file, or the whole file."""


@cache
def _native() -> NativeViews:
    return NativeViews()


def load_trace(data: bytes) -> InputVerdict:
    """Load a trace file from bytes."""

    def work() -> InputVerdict:
        made = _loaded(data)
        return InputVerdict("accepted", "steps" if len(made) else "empty")

    return verdict_of(work, _TRACE_PLACES)


def _loaded(data: bytes) -> Trace:
    with tempfile.TemporaryDirectory(prefix="irkit-malformed-") as folder:
        path = Path(folder) / "malformed.trace"
        path.write_bytes(data)
        return Trace.load(path, (LOOP_LEVEL, GRAPH_LEVEL))


def look_at_trace(data: bytes) -> InputVerdict:
    """Load a trace; if that works, request everything that the page does."""
    verdict = load_trace(data)
    return verdict_of(lambda: _looked(data), _ANYWHERE) if verdict.what == "steps" else verdict


def _looked(data: bytes) -> InputVerdict:
    made = _loaded(data)
    also_native = zlib.crc32(data) % _NATIVE_ONE_IN == 0
    every_view(made, _native() if also_native else None)
    return InputVerdict("accepted", "looked at, native too" if also_native else "looked at")
