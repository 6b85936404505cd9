"""Findings of a campaign, each kept once, as a file that runs again."""

import re
from collections import Counter
from pathlib import Path
from typing import TypeAlias

import msgspec

from irkit.core import atomic_write
from irkit.fuzz.campaign.draw import Draw, case_text
from irkit.fuzz.campaign.small_case import SmallCase
from irkit.fuzz.judge.files.judge_file import DAMAGED
from irkit.fuzz.judge.outcome import Outcome, fault_text

Group: TypeAlias = tuple[str, str]
_UNUSUAL = re.compile(r"[^a-z0-9]+")
MOST_OF_A_KIND = 3
_SUFFIXES = {"text": ".irs", "onnx": ".onnx"}
_MOST_COMMENTED = 100_000


class Finding(msgspec.Struct):
    """A case that fails.

    ``again`` counts how often it failed in ``tries`` more runs; ``digest`` is that of its program;
    ``file`` is where it is kept, ``test_file`` a test of it, and ``trace_file`` its lowering;
    ``small`` is the shrunk case, if it was shrunk. ``data`` is the text or model of a case that is
    a file, kept as ``data_file``.
    """

    draw: Draw
    outcome: Outcome
    text: str = ""
    digest: str = ""
    again: int = 0
    tries: int = 0
    file: str = ""
    test_file: str = ""
    small: SmallCase | None = None
    data: bytes = b""
    data_file: str = ""
    trace_file: str = ""

    @property
    def group(self) -> Group:
        """Return the key by which findings count as the same fault."""
        return self.outcome.symptom, self.outcome.named

    @property
    def title(self) -> str:
        """Return one line that says what is wrong."""
        return f"{fault_text(*self.group)} ({self.draw.name})"

    @property
    def commands(self) -> dict[str, list[str]]:
        """Return the commands that look closer, by what they do."""
        # The inspector lowers a model itself, and refuses a damaged one.
        sound = self.outcome.tier != DAMAGED and Path(self.data_file).suffix == _SUFFIXES["onnx"]
        shown = self.trace_file or (self.data_file if sound else "")
        made = {
            "again": ["irkit", "fuzz", "--replay", self.file],
            "as a test": ["python", "-m", "pytest", self.test_file],
            "each pass": ["irkit", "inspect", shown],
        }
        return {what: words for what, words in made.items() if words[-1]}

    @property
    def sure(self) -> str:
        """Return one phrase on how reproducible the finding is."""
        return f"came again {self.again} of {self.tries} times" if self.tries else "not tried again"

    def __str__(self) -> str:
        small = f"\n{self.small}" if self.small is not None else ""
        return f"{self.title}; {self.sure}\n{self.outcome.message}{small}".rstrip()

    @property
    def stem(self) -> str:
        """Return the stem of its file names."""
        what = _UNUSUAL.sub("-", f"{self.outcome.symptom} {self.outcome.named}".lower()).strip("-")
        return f"{what}-{self.draw.name}"


class Findings:
    """Findings by symptom, pass and program: each once, and a few of each symptom and pass; the
    others are counted."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.kept: list[Finding] = []
        self.counted: Counter[Group] = Counter()
        self.unwritten = ""
        """Why something could not be written, if so."""
        self._looks: Counter[Group] = Counter()
        self._programs: set[tuple[Group, str]] = set()
        self._made_small: set[Group] = set()
        self._known_as: dict[Group, Group] = {}

    def wants_look(self, group: Group, digest: str) -> bool:
        """Return True if one more of a group, on this program, is worth a closer look, and count it
        as looked at."""
        seen = bool(digest) and (group, digest) in self._programs
        if seen or self._looks[group] >= MOST_OF_A_KIND:
            return False
        self._looks[group] += 1
        self._programs.add((group, digest))
        return True

    def wants_small(self, group: Group) -> bool:
        """Return True if nothing of a group has been shrunk yet, and count it as being shrunk: the
        others mostly shrink to the same case."""
        wanted = group not in self._made_small
        self._made_small.add(group)
        return wanted

    def add(self, finding: Finding, first_group: Group) -> None:
        """Keep a finding that was looked at; before that it belonged to ``first_group``."""
        self._known_as[first_group] = finding.group
        self.counted[finding.group] += 1
        self.kept.append(finding)
        if self.folder is not None:
            try:
                write_finding(finding, self.folder)
            except OSError as error:  # It is reported all the same.
                self.unwritten = str(error)

    def count(self, group: Group) -> None:
        """Count a finding that is like others."""
        self.counted[self._known_as.get(group, group)] += 1


def write_finding(finding: Finding, folder: Path) -> None:
    """Write a finding as a file that ``irkit fuzz --replay`` runs again; a shrunk one also as a
    test, and text and models as files of their own."""
    path = folder / f"{finding.stem}.toml"
    said = f"{finding}\n\nRun it again with: irkit fuzz --replay {path}"
    small = finding.small
    rest = f"{case_text(finding.draw)}\n{_commented(finding.text)}" if small is None else small.text
    with atomic_write(path) as made:
        made.write_text(f"{_commented(said)}\n{rest}", "utf-8")
    finding.file = str(path)
    if data := finding.data if small is None else small.data:
        whole = path.with_suffix(_SUFFIXES.get(finding.draw.kind, ".data"))
        with atomic_write(whole) as made:
            made.write_bytes(data)
        finding.data_file = str(whole)
    if small is not None:
        test = folder / f"test_{_UNUSUAL.sub('_', finding.stem)}.py"
        with atomic_write(test) as made:
            made.write_text(small.test, "utf-8")
        finding.test_file = str(test)
    if small is not None and small.trace:
        lowering = path.with_suffix(".trace")
        with atomic_write(lowering) as made:
            made.write_bytes(small.trace)
        finding.trace_file = str(lowering)


def _commented(text: str) -> str:
    if len(text) > _MOST_COMMENTED:
        text = f"{text[:_MOST_COMMENTED]}\n... and {len(text) - _MOST_COMMENTED} more characters"
    lines = (line if line.isprintable() else ascii(line) for line in text.splitlines())
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)
