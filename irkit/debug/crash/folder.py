"""Files of a crash folder.

Replaying a folder imports the modules of the passes it names, so a folder is trusted as much as
that code. Its IR and its numbers are untrusted: they are read like any file from outside.
"""

import json
import re
from pathlib import Path

import msgspec

from irkit.core import FormatError, Target
from irkit.debug.crash.limits import MAX_DESCRIPTION_BYTES

VERSION = 1
JSON_NAME = "crash.json"
REPORT_NAME = "report.txt"
BEFORE_NAME = "before.irs"
AFTER_NAME = "after.irs"
DIFF_NAME = "change.diff"
TRACEBACK_NAME = "traceback.txt"
TRACE_NAME = "before.trace"
INPUTS_NAME = "inputs.npz"
_CHANGING = re.compile(r"0x[0-9a-fA-F]{4,}")


class CrashPass(msgspec.Struct, frozen=True):
    """A pass of the pipeline: its text, and its text with the name ``module:function``."""

    phase: int
    phase_name: str
    text: str
    spec: str


class CrashFact(msgspec.Struct, frozen=True):
    """A fact that held before the pass; ``path`` is ``module:name``, or empty if it has none."""

    name: str
    path: str = ""


class CrashProblem(msgspec.Struct, frozen=True):
    """A problem of the IR after the pass; ``line`` is 0 if it is unknown."""

    message: str
    line: int = 0


class CrashLimits(msgspec.Struct, frozen=True):
    """Limits under which the pass or kernel failed. Units: seconds, bytes."""

    seconds: float | None = None
    memory: int | None = None


class Crash(msgspec.Struct, frozen=True, kw_only=True):
    """Description of a failure of a pass or of the native code of a kernel."""

    version: int = VERSION
    hash: str
    subject: str  # "pass" or "kernel"
    kind: str
    message: str
    level: str
    function: str
    limits: CrashLimits
    problems: list[CrashProblem] = []
    passes: list[CrashPass] = []
    at: int = 0
    pipeline: str = ""
    origin: str = ""
    search: list[str] = []
    facts: list[CrashFact] = []
    verify: bool = True
    disabled: list[int] = []
    target: Target | None = None
    versions: dict[str, str] = {}
    not_replayable: str = ""
    command: str = ""

    @property
    def symptom(self) -> tuple[str, ...]:
        """Return what all runs of the same failure have in common."""
        return symptom(self.kind, self.message, [row.message for row in self.problems])


def symptom(kind: str, message: str, problems: list[str]) -> tuple[str, ...]:
    """Return the parts of a failure that do not change from one run to the next."""
    if kind in ("timeout", "memory"):
        return (kind,)  # The message names the limit, which can differ.
    return (kind, _CHANGING.sub("0x...", message), *sorted(set(problems)))


def read_crash(folder: Path) -> Crash:
    """Read the description in a folder.

    Raises: FormatError if it is missing, damaged, of another version, or too large.
    """
    path = folder / JSON_NAME
    try:
        with path.open("rb") as file:
            data = file.read(MAX_DESCRIPTION_BYTES + 1)
    except OSError as error:
        raise FormatError(
            f"{folder} is not a crash folder: {path.name}: {error.strerror or error}"
        ) from None
    if len(data) > MAX_DESCRIPTION_BYTES:
        raise FormatError(f"{path} is larger than {MAX_DESCRIPTION_BYTES} bytes")
    try:
        version = json.loads(data).get("version")
        if version != VERSION:
            raise FormatError(
                f"{path} has version {version!r}; this irkit reads {VERSION}",
                hint="Replay it with the irkit that wrote it.",
            )
        crash = msgspec.json.decode(data, type=Crash)
    except FormatError:
        raise
    except (ValueError, AttributeError, RecursionError, msgspec.ValidationError) as error:
        raise FormatError(f"{path} is damaged: {error}") from None
    known = crash.subject == "kernel" or (
        crash.subject == "pass" and 0 <= crash.at < len(crash.passes)
    )
    if not known:
        raise FormatError(f"{path} is damaged: it names neither a pass nor a kernel")
    return crash
