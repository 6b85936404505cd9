"""The report of a finding: the program, a test of it, and a script that shows it."""

import inspect
import json
import os
import re
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from irkit.core import IRKitError, IRModule, Recorder
from irkit.debug import FailingCase, Failure, failure_of, find_case, reduce, text_diff, write_case
from irkit.fuzz.check_pass.corpus import PROGRAM, write_all
from irkit.fuzz.check_pass.examination import (
    Examination,
    Violation,
)
from irkit.fuzz.check_pass.position import PassPosition
from irkit.graph import parse_module
from irkit.ir import PrimFunc
from irkit.passes import installed_passes
from irkit.phases import pipeline_for
from irkit.transform import IR, AnyPass, apply_pass

MOST_LINES = 60
_REDUCIBLE = (
    "raises nothing",
    "verifies",
    "signature",
    "same numbers",
    "no new race",
    "lowering",
)
_CONTRACT_TEST = '''\
"""{title}

Made by `irkit.fuzz.check_pass`. It fails while that is so; run it with `python -m pytest`.
"""

from irkit.debug import assert_contracts
from irkit.graph import parse_module
from irkit.transform import load_pass

PROGRAM = {program}


def test_{name}() -> None:
    module = parse_module(PROGRAM)
    program = {whole}
    assert_contracts({loaded}, [program], hash_seeds={seeds}, fires=0, idempotent={idempotent})
'''
_SHOW = '''\
"""Lower the program beside this file, for `irkit inspect`: {title}"""

import sys
from pathlib import Path

here = Path(__file__).parent
{path}
{imports}

program = parse_module((here / "{file}").read_text(), file="{file}")
{run}
'''
_CONFTEST = '''\
"""Put the module of the pass under test on the path of the test beside this file."""

import sys
from pathlib import Path

{path}
'''


class PassRefuted(AssertionError):
    """A pass that broke a contract on a program, or a check that tested nothing; the text is the
    whole report. ``folder`` is where the finding is kept."""

    irkit_report = True
    """Tells the plugin to show the text and no traceback."""

    def __init__(self, text: str, folder: Path | None = None) -> None:
        self.folder = folder
        super().__init__(text)


class FindingFiles(msgspec.Struct, frozen=True):
    """Files of a finding: their folder, the report of the smallest program, and its test, if there
    is one."""

    folder: Path
    program: str
    message: str = ""
    test: Path | None = None
    test_text: str = ""
    why_no_test: str = ""


def save_finding(
    position: PassPosition,
    found: Examination,
    folder: Path,
    *,
    seconds: float,
    idempotent: bool | None,
) -> FindingFiles:
    """Write a finding into a folder."""
    assert found.violation is not None
    title = _title(position.p, found.violation)
    write_all(folder, {PROGRAM: found.program.script(), "finding.txt": title + "\n"})
    home = _home(position.p)
    path = _path_line(home, folder)
    files = FindingFiles(folder, found.program.script())
    try:
        made = (
            _reduced(position, found, seconds) if found.violation.contract in _REDUCIBLE else None
        )
        if made is not None:
            seeded = [position.p] if "hash seed" in found.violation.message else []
            files = _with_case(files, *made, seeded)
        elif found.before is not None and found.violation.contract != "body":
            files = _with_contract(files, position.p, found, title, idempotent)
    except IRKitError as error:
        files = msgspec.structs.replace(files, why_no_test=error.message)
    if files.test is not None and home is not None and home != Path.cwd():
        write_all(folder, {"conftest.py": _CONFTEST.format(path=path)})
    write_all(folder, {"show.py": _script(position, files, title, path)})
    return files


def _title(p: AnyPass, violation: Violation) -> str:
    text = " ".join(f"'{p}' {violation}".split())
    return text.replace("\\", "/").replace('"', "'")


def _reduced(
    position: PassPosition, found: Examination, seconds: float
) -> tuple[FailingCase, Failure] | None:
    """Reduce the case; return None if its failure is not one that a pipeline shows."""
    if not isinstance(found.program, PrimFunc):
        return None
    had = find_case(position.pipeline, found.program)
    if had is None:
        return None
    case, failure = had
    case = reduce(case, failure, seconds=seconds).case.reread()
    pipeline = pipeline_for(case.pipeline.text(installed_passes()), case.func)
    case = case.replace(pipeline=pipeline)
    again = failure_of(case)
    if again is None or not again.is_like(failure):
        raise IRKitError("the smallest case does not fail when it is read back from its text")
    return case, again


def _with_case(
    files: FindingFiles, case: FailingCase, failure: Failure, seeded: Sequence[AnyPass]
) -> FindingFiles:
    written = write_case(files.folder, case, failure, installed_passes(), seeded=seeded)
    # Many such files can lie in one tree, and pytest wants different names.
    test = written.replace(written.with_name(f"test_{files.folder.name}.py"))
    said = re.split(r": (?:differs|failed): ", failure.text, maxsplit=1)[-1]
    return FindingFiles(
        files.folder, case.func.script(), said, test, test.read_text(encoding="utf-8")
    )


def _with_contract(
    files: FindingFiles, p: AnyPass, found: Examination, title: str, idempotent: bool | None
) -> FindingFiles:
    before, violation = found.before, found.violation
    assert before is not None
    assert violation is not None
    if "<" in p.path:
        raise IRKitError(f"{p.path} is defined inside a function, where no test can find it")
    text = before.script()
    options = dict(p.options)
    claim = f"{p.name} {violation.contract}"
    whole = isinstance(before, IRModule)
    made = _CONTRACT_TEST.format(
        title=textwrap.fill(title, 96),
        program=json.dumps(text) if "\\" in text else f'"""\\\n{text}"""',
        name=re.sub(r"\W+", "_", claim, flags=re.ASCII).lower(),
        whole="module" if whole else "next(iter(module.functions.values()))",
        loaded=f"load_pass({p.path!r}" + (f", {options!r})" if options else ")"),
        seeds="(1, 2)" if "hash seed" in violation.message else "()",
        idempotent=idempotent,
    )
    test = files.folder / f"test_{files.folder.name}.py"
    write_all(files.folder, {test.name: made})
    return msgspec.structs.replace(files, test=test, test_text=made, program=text)


def _script(position: PassPosition, files: FindingFiles, title: str, path: str) -> str:
    if (files.folder / "reduced.irs").exists():
        imports = "from irkit.graph import parse_module\nfrom irkit.phases import pipeline_for"
        run = (
            "for func in program.functions.values():\n"
            '    pipeline_for((here / "pipeline.txt").read_text(), func).run(func)'
        )
        return _SHOW.format(title=title, path=path, imports=imports, file="reduced.irs", run=run)
    imports = (
        "import irkit\nfrom irkit.graph import parse_module\nfrom irkit.transform import load_pass"
    )
    run = f"{position.as_python()}.run(program)"
    return _SHOW.format(title=title, path=path, imports=imports, file=PROGRAM, run=run)


def _home(p: AnyPass) -> Path | None:
    """Return the folder that the module of a pass is imported from, unless it is installed."""
    file = Path(inspect.unwrap(p.function).__code__.co_filename).absolute()
    parts = p.function.__module__.split(".")
    home = file.parent if file.stem != "__init__" else file.parent.parent
    for part in reversed(parts[:-1]):
        if home.name != part:
            return file.parent
        home = home.parent
    return None if "site-packages" in home.parts else home


def _path_line(home: Path | None, folder: Path) -> str:
    if home is None:
        return "sys.path.insert(0, str(Path.cwd()))"
    relative = os.path.relpath(home, folder.absolute()).replace(os.sep, "/")
    return f'sys.path.insert(0, str((Path(__file__).parent / "{relative}").resolve()))'


def report_of(position: PassPosition, found: Examination, files: FindingFiles, counted: str) -> str:
    """Return the whole report of a finding."""
    assert found.violation is not None
    violation = found.violation
    if files.message and violation.contract == "same numbers":
        # That of the smallest program, with what else is known.
        more = violation.message.partition("\n")[2]
        message = "\n".join(filter(None, (files.message, more)))
        violation = Violation(violation.contract, message)
    which = "program" if violation.contract in ("hang", "crash") else "smallest program found"
    parts = [
        f"'{position.p}' ({position.text}) {violation}",
        f"The {which}, {counted}:\n\n{_indented(files.program)}",
    ]
    change = changes(position.p, files, found)
    if change:
        parts.append(f"What the pass does:\n\n{_indented(change)}")
    if files.test_text:
        parts.append(f"A test of it:\n\n{_indented(files.test_text)}")
    parts.append("\n".join(commands(files)))
    return "\n\n".join(parts)


def commands(files: FindingFiles) -> list[str]:
    """Return where a finding is kept, and the commands to go on with."""
    lines = [f"It is kept in {_near(files.folder)}, and tried first from now on."]
    if files.test is not None:
        lines.append(f"  python -m pytest {_near(files.test)}")
    elif files.why_no_test:
        lines.append(f"  There is no test of it: {files.why_no_test}")
    lines.append(f"  irkit inspect {_near(files.folder / 'show.py')}")
    return lines


def changes(p: AnyPass, files: FindingFiles, found: Examination) -> str:
    """Return what the pass changes in the smallest program, or in its input."""
    with suppress(Exception):  # The pass is broken: it can raise anything.
        ir: IR | None = None
        if (files.folder / "reduced.irs").exists():
            module = parse_module(files.program)
            ir = module if p.on_modules else next(iter(module.functions.values()))
        before = ir if isinstance(ir, (p.level,)) else found.before
        if before is None:
            return ""
        return text_diff(before.script(), apply_pass(p, before, Recorder()).script())
    return ""


def _indented(text: str) -> str:
    lines = text.rstrip().splitlines()
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"(and {len(lines) - MOST_LINES} more lines)"]
    return textwrap.indent("\n".join(lines), "    ")


def _near(path: Path) -> str:
    """Return a path relative to the current folder, where that is shorter."""
    with suppress(ValueError):
        return str(path.absolute().relative_to(Path.cwd()))
    return str(path)
