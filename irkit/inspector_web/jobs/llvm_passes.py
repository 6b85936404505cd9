"""What each of LLVM's own passes changes in a function.

LLVM can print the module after each pass that changed it. The option affects the whole process and
the output goes to standard error, so this runs in a child of its own. The kind of job is at the end
of the module.
"""

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from llvmlite import binding

from irkit.codegen import emit, host_target, optimise
from irkit.core import InputError
from irkit.debug import func_message, func_of_message, trace_step
from irkit.inspector_web.api.diff_page import PageRow, page_row
from irkit.inspector_web.diff.line_diff import diff_lines
from irkit.inspector_web.diff.rows import side_by_side
from irkit.inspector_web.jobs.chosen_steps import RUN_JOB_LIMITS, ChosenSteps, keep_result
from irkit.inspector_web.jobs.job import JobKind
from irkit.inspector_web.runs.run import LEVELS
from irkit.inspector_web.runs.workspace import Workspace
from irkit.inspector_web.text.highlight import Highlighter, SentLines
from irkit.inspector_web.text.lines import Ids, LineTable
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.processes import Child, Limits
from irkit.transform import Trace

LIMITS = Limits(seconds=60.0, memory=4 << 30)
MOST_BYTES = 64 << 20
"""Limit of what LLVM prints; the rest is not read."""
MOST_PASSES = 400
MOST_LINES = 400_000
"""Limit of the lines of all texts together."""

_HEAD = re.compile(r"\*\*\* IR Dump After (\S+) on (.*?) \*\*\*\Z")
_ABOUT_FILE = ("; ModuleID", "source_filename", "target datalayout", "target triple")


class LlvmPass(msgspec.Struct, frozen=True):
    """A pass of LLVM that changed something: its name, what it ran on, and the difference.

    The text after pass ``i``, from 0, is ``texts[i + 1]``.
    """

    name: str
    on: str
    added: int
    removed: int
    changes: int
    rows: list[PageRow]


class LlvmPasses(msgspec.Struct, frozen=True):
    """What LLVM did to a function.

    ``texts`` are indices into ``html``, each as the difference from the one before; the first text
    is what LLVM was given. ``more`` passes are omitted.
    """

    function: str
    html: list[str]
    texts: list[list[int]]
    passes: list[LlvmPass]
    more: int


class Dump(msgspec.Struct, frozen=True):
    """The text of the module after a pass."""

    name: str
    on: str
    lines: list[str]


def llvm_passes(func: object, limits: Limits = LIMITS) -> LlvmPasses:
    """Run LLVM's passes over a function in a child and compare their results.

    Raises: InputError if it is not a loop function; IRKitError if code generation refuses it;
    ChildDied if LLVM crashes or takes too long.
    """
    if not isinstance(func, PrimFunc):
        raise InputError("LLVM's passes are shown for one loop function at a time")
    with tempfile.TemporaryDirectory(prefix="irkit-llvm-") as folder:
        path = str(Path(folder) / "dumps.txt")
        with Child(limits) as child:
            given = child.call(print_passes, func_message(func), path)
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(MOST_BYTES)
    dumps, more = read_dumps(text)
    return compare_dumps(func.name, _lines(given), dumps, more)


def print_passes(message: bytes, path: str) -> str:
    """Optimise a function while LLVM prints to a file, and return what LLVM was given.

    The child calls this; standard error of its process is lost afterwards.
    """
    func = func_of_message(message)
    target = host_target()
    text = emit([func], target)
    llvm: Any = binding
    given = str(llvm.parse_assembly(text, llvm.create_context()))
    for option in ("-print-changed=quiet", "-print-module-scope"):
        llvm.set_option("irkit", option)
    _limit_file(MOST_BYTES)
    with open(path, "wb") as file:
        os.dup2(file.fileno(), 2)
        optimise(text, target)
    return given


def _limit_file(size: int) -> None:
    """Limit the size of files, if the system can; what LLVM writes beyond it is dropped."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def read_dumps(text: str) -> tuple[list[Dump], int]:
    """Split what LLVM printed into the texts after each pass; count those beyond the limits."""
    found: list[Dump] = []
    lines = omitted = 0
    for name, on, body in _split_dumps(text):
        lines += len(body)
        if len(found) >= MOST_PASSES or lines > MOST_LINES:
            omitted += 1
        else:
            found.append(Dump(name, on, body))
    return found, omitted


def _split_dumps(text: str) -> Iterator[tuple[str, str, list[str]]]:
    head: re.Match[str] | None = None
    body: list[str] = []
    for line in text.splitlines():
        found = _HEAD.match(line) if line.startswith("***") else None
        if found is None:
            body.append(line)
            continue
        if head is not None:
            yield head[1], head[2], _strip_file_header(body)
        head, body = found, []
    if head is not None:
        yield head[1], head[2], _strip_file_header(body)


def _lines(text: str) -> list[str]:
    return _strip_file_header(text.splitlines())


def _strip_file_header(lines: Sequence[str]) -> list[str]:
    """Drop the lines about the file, and blank lines at both ends."""
    kept = [line for line in lines if not line.startswith(_ABOUT_FILE)]
    begin = next((at for at, line in enumerate(kept) if line), len(kept))
    while len(kept) > begin and not kept[-1]:
        kept.pop()
    return kept[begin:]


def compare_dumps(
    function: str, given: list[str], dumps: Sequence[Dump], more: int = 0
) -> LlvmPasses:
    """Compare each text with the one before it."""
    table = LineTable()
    sent = SentLines(Highlighter(table))
    ids = [table.number(lines) for lines in (given, *(dump.lines for dump in dumps))]
    passes = [
        _llvm_pass(sent, dump, before, after)
        for dump, (before, after) in zip(dumps, pairwise(ids), strict=True)
    ]
    texts = [sent.text(each) for each in ids]
    return LlvmPasses(function, sent.html, texts, passes, more)


def _llvm_pass(sent: SentLines, dump: Dump, before: Ids, after: Ids) -> LlvmPass:
    found = diff_lines(before, after)
    marks = partial(sent.marked, before), partial(sent.marked, after)
    rows = [page_row(row, *marks) for row in side_by_side(found, sent.colours.table, context=0)]
    name = dump.name.removesuffix("Pass")
    return LlvmPass(name, dump.on, found.added, found.removed, len(found.hunks), rows)


class LlvmPassesRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request to show LLVM's passes on a stage, such as ``0.12.a``."""

    state: str


def _find_llvm(workspace: Workspace, asked: LlvmPassesRequest) -> ChosenSteps:
    stage = workspace.stage(asked.state)
    if not isinstance(stage.ir, PrimFunc):
        raise InputError("LLVM's passes are shown for one loop function at a time")
    return ChosenSteps(stage.run, (trace_step(LOOP_LEVEL, stage.ir),))


def _send_llvm(chosen: ChosenSteps, folder: Path) -> tuple[Any, ...]:
    return (chosen.save(folder),)


def run_llvm_passes(path: str) -> LlvmPasses:
    """Run LLVM's passes over the function of a trace file; the child calls this."""
    return llvm_passes(Trace.load(path, LEVELS)[0].after)


LLVM = JobKind(
    LlvmPassesRequest, _find_llvm, _send_llvm, run_llvm_passes, keep_result, RUN_JOB_LIMITS
)
