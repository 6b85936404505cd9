"""The test of a malformed trace: it is loaded, and shown in every view."""

import re
import tempfile
import zlib
from functools import cache
from pathlib import Path

from irkit.fuzz.malformed import InputVerdict, load_trace, verdict_of
from irkit.graph import GRAPH_LEVEL
from irkit.inspector_web.api.every_view import every_view
from irkit.inspector_web.api.native_views import NativeViews
from irkit.ir import LOOP_LEVEL
from irkit.transform import Trace

_NATIVE_ONE_IN = 20
_PLACES = re.compile("")


@cache
def _native() -> NativeViews:
    return NativeViews()


def look_at_trace(data: bytes) -> InputVerdict:
    """Load a trace; if that works, request everything that the page does."""
    verdict = load_trace(data)
    return verdict_of(lambda: _looked(data), _PLACES) if verdict.what == "steps" else verdict


def _looked(data: bytes) -> InputVerdict:
    with tempfile.TemporaryDirectory(prefix="irkit-malformed-") as folder:
        path = Path(folder) / "malformed.trace"
        path.write_bytes(data)
        made = Trace.load(path, (LOOP_LEVEL, GRAPH_LEVEL))
    also_native = zlib.crc32(data) % _NATIVE_ONE_IN == 0
    every_view(made, _native() if also_native else None)
    return InputVerdict("accepted", "looked at, native too" if also_native else "looked at")
