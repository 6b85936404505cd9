"""The findings of a test as text files, tried first in the next run; a running program is on disk
too.

A folder holds, for each test, a folder for each finding. A pass that kills its process leaves the
program behind, under a name that includes the process id.
"""

import hashlib
import os
import re
import sys
from contextlib import suppress
from pathlib import Path

from irkit.core import IRKitError, atomic_write
from irkit.fuzz.check_pass.programs import DrawnProgram, program_in
from irkit.graph import parse_module

DEFAULT_FOLDER = Path(".irkit") / "corpus"
PROGRAM = "program.irs"
_RUNNING = re.compile(r"running-(\d+)\.irs")


class Corpus:
    """The findings of one test."""

    def __init__(self, folder: Path, test: str) -> None:
        self.root = folder
        self.folder = folder / re.sub(r"[^\w.-]+", "-", test)
        self._running = self.folder / f"running-{os.getpid()}.irs"

    def begin(self, drawn: DrawnProgram) -> None:
        """Keep a program on disk while it runs."""
        assert drawn.ir is not None
        self.folder.mkdir(parents=True, exist_ok=True)
        self._running.write_text(drawn.ir.script(), encoding="utf-8")

    def end(self) -> None:
        """Remove the record of what ran, and folders that are empty."""
        self._running.unlink(missing_ok=True)
        default = DEFAULT_FOLDER.parts
        ours = self.root.parts[-len(default) :] == default
        for folder in (self.folder, *((self.root, self.root.parent) if ours else ())):
            with suppress(OSError):
                folder.rmdir()

    def left_over(self) -> list[Path]:
        """Return the programs that dead processes were running."""
        found: list[Path] = []
        for path in sorted(self.folder.glob("running-*.irs")):
            match = _RUNNING.fullmatch(path.name)
            if match and path != self._running and not _is_alive(int(match[1])):
                found.append(path)
        return found

    def findings(self) -> list[Path]:
        """Return the programs of earlier findings."""
        return sorted(self.folder.glob(f"*/{PROGRAM}"))

    def folder_for(self, text: str) -> Path:
        """Return the folder of a finding on a program."""
        return self.folder / hashlib.sha256(text.encode()).hexdigest()[:12]


def write_all(folder: Path, texts: dict[str, str]) -> None:
    """Write files into a folder, each one atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        with atomic_write(folder / name) as made:
            made.write_text(text, encoding="utf-8")


def read_program(path: Path) -> DrawnProgram:
    """Read a program of the corpus. Raises: IRKitError if it is not one."""
    module = parse_module(path.read_text(encoding="utf-8"), file=path.name)
    if not module.functions:
        raise IRKitError(f"{path} holds no function")
    return DrawnProgram(program_in(module))


def _is_alive(pid: int) -> bool:
    if sys.platform == "win32":  # Signal 0 would end it there.
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
