"""Load a malformed trace file; what the inspector makes of it is above this layer."""

import re
import tempfile
from pathlib import Path

from irkit.fuzz.malformed.checks.verdict import InputVerdict, verdict_of
from irkit.graph import GRAPH_LEVEL
from irkit.ir import LOOP_LEVEL
from irkit.transform import Trace

_PLACES = re.compile(
    r" at (?:class|value|node|module|step) \d|at `\$|\(byte \d+\)|truncated|Expected"
    r"|is not an irkit trace|has version"
)
"""Locations in a trace: a row of a table, a path into the file, or the whole file."""


def load_trace(data: bytes) -> InputVerdict:
    """Load a trace file from bytes."""

    def work() -> InputVerdict:
        with tempfile.TemporaryDirectory(prefix="irkit-malformed-") as folder:
            path = Path(folder) / "malformed.trace"
            path.write_bytes(data)
            made = Trace.load(path, (LOOP_LEVEL, GRAPH_LEVEL))
        return InputVerdict("accepted", "steps" if len(made) else "empty")

    return verdict_of(work, _PLACES)
