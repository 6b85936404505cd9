"""IR printed around passes: to a stream, or as a tree of files."""

import hashlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from irkit.core import IRKitError, Names
from irkit.transform import PassFailed, Step

ALL = "*"


class StepPrinter(msgspec.Struct, frozen=True):
    """What to print: names of passes, or ``*`` for all.

    ``changed`` skips steps that changed nothing; ``folder`` gets a file for each step; ``names`` is
    the name table of the run, so that unchanged symbols keep their names.
    """

    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    changed: bool = False
    folder: str = ""
    names: Names = msgspec.field(default_factory=Names)

    def check(self, names: Iterable[str]) -> None:
        """Raise IRKitError if a pass is named that does not run."""
        known = {ALL, *names}
        for name in sorted(self.before | self.after):
            if name not in known:
                listed = ", ".join(sorted(known - {ALL})) or "none"
                raise IRKitError(
                    f"cannot print the IR at pass {name!r}: it does not run",
                    hint=f"These run: {listed}",
                )

    def print_step(self, step: Step, write: Callable[[str], None]) -> None:
        """Print the requested IR of one step."""
        if self.changed and not step.changed:
            return
        where = f"{step.pass_text} on {_subject(step.function)} (phase {step.phase})"
        shown = bool(self.before & {ALL, step.name})
        also = self.changed and not self.after and not self.before
        then = also or bool(self.after & {ALL, step.name})
        if not (shown or then or self.folder):
            return
        before, after = step.scripts(self.names)
        if shown:
            write(f"# IR before {where}\n{before}")
        if then:
            write(f"# IR after {where}\n{after}")
        if self.folder:
            folder = Path(self.folder) / file_name(step.function or "module")
            folder.mkdir(parents=True, exist_ok=True)
            name = f"{step.index:03}_{step.level.name}{step.phase}_{step.name}.irs"
            (folder / name).write_text(after, encoding="utf-8")

    def print_failure(self, error: PassFailed, write: Callable[[str], None]) -> None:
        """Print the input of a pass that failed."""
        asked = (self.before | self.after) & {ALL, error.name}
        if asked or self.changed:
            where = f"{error.pass_text} on {_subject(error.function)} (phase {error.phase})"
            write(f"# IR before {where}, which failed\n{error.before.script(names=self.names)}")


def file_name(name: str) -> str:
    """Return a file name that any file system accepts; different names stay different."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}", name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return re.sub(r"[^A-Za-z0-9_-]", "_", name[:60]) + "." + digest


def _subject(function: str) -> str:
    return f"function {function!r}" if function else "the module"
