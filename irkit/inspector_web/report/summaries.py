"""Summaries of what each pass did, for other programs and for CI: JSON, JUnit and Markdown."""

from collections.abc import Sequence
from xml.etree import ElementTree as Xml

import msgspec

from irkit.inspector_web.api.overview import RunInfo, overview
from irkit.inspector_web.api.step_detail import without_paths
from irkit.inspector_web.jobs.verdicts import SIGNS, WRONG, StepVerdict, StepVerdicts
from irkit.inspector_web.limits import MOST_ROWS
from irkit.inspector_web.runs.steps import StepRow
from irkit.inspector_web.runs.workspace import Workspace

SCHEMA = "irkit.report/1"


class ReportRun(RunInfo, omit_defaults=True):
    """A run with the verdicts on its steps, if they were checked."""

    verdicts: tuple[StepVerdict, ...] | None = None


class ReportJson(msgspec.Struct):
    """The JSON of a report; the number in ``schema`` grows when a field is renamed or removed."""

    schema: str
    title: str
    runs: list[ReportRun]


def as_json(workspace: Workspace, title: str, checked: Sequence[StepVerdicts] = ()) -> str:
    """Return the runs, functions and steps as JSON, with the verdicts on steps if there are any."""
    runs = [
        ReportRun(
            run.number,
            run.title,
            run.versions,
            run.functions,
            run.steps,
            checked[run.number].verdicts if run.number < len(checked) else None,
        )
        for run in _runs_with_counts(workspace)
    ]
    data = msgspec.json.encode(ReportJson(SCHEMA, title, runs))
    return msgspec.json.format(data, indent=1).decode() + "\n"


def as_junit(workspace: Workspace, title: str, checked: Sequence[StepVerdicts] = ()) -> str:
    """Return a JUnit report, with each step as a test case of its phase and function.

    A step that changes the meaning is a failure; one that could not be tried is skipped.
    """
    root = Xml.Element("testsuites", name=_printable(title))
    for run in _runs_with_counts(workspace):
        known = _verdicts_of(checked, run.number)
        wrong = {at for at, each in known.items() if each.status in WRONG}
        failed = sum(row.status == "failed" or row.index in wrong for row in run.steps)
        suite = Xml.SubElement(
            root,
            "testsuite",
            name=_printable(run.title),
            tests=str(len(run.steps)),
            failures=str(failed),
            time=f"{sum(row.ms for row in run.steps) / 1e3:.6f}",
        )
        for row in run.steps:
            case = Xml.SubElement(
                suite,
                "testcase",
                classname=_printable(f"{row.function or 'module'}.phase {row.phase}"),
                name=_printable(row.pass_text),
                time=f"{row.ms / 1e3:.6f}",
            )
            if row.status == "failed":
                Xml.SubElement(case, "failure", message=_printable(row.message))
            elif row.index in wrong:
                Xml.SubElement(case, "failure", message=_printable(known[row.index].text))
            elif row.index in known and known[row.index].status == "unknown":
                Xml.SubElement(case, "skipped", message=_printable(known[row.index].text))
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _verdicts_of(checked: Sequence[StepVerdicts], run: int) -> dict[int, StepVerdict]:
    return {each.step: each for each in checked[run].verdicts} if run < len(checked) else {}


def as_markdown(workspace: Workspace, title: str, checked: Sequence[StepVerdicts] = ()) -> str:
    """Return a Markdown table of the passes that changed something or failed."""
    lines: list[str] = [f"## {_cell(title)}"]
    for run in _runs_with_counts(workspace):
        known = _verdicts_of(checked, run.number)
        extra = (" meaning |", " --- |") if known else ("", "")
        shown = [row for row in run.steps if row.status != "same"]
        total = sum(row.ms for row in run.steps)
        lines += [
            "",
            f"### {_cell(run.title)}: {len(run.steps)} passes, {len(shown)} of them changed "
            f"something or failed, {total:.1f} ms",
            "",
            "| step | phase | pass | function | lines | ms |" + extra[0],
            "| ---: | --- | --- | --- | --- | ---: |" + extra[1],
            *(_row(row) + _meaning(known.get(row.index)) for row in shown[:MOST_ROWS]),
        ]
        if len(shown) > MOST_ROWS:
            lines += ["", f"and {len(shown) - MOST_ROWS} more"]
    return "\n".join(lines) + "\n"


def _runs_with_counts(workspace: Workspace) -> list[RunInfo]:
    for run in workspace.runs:
        for row in run.steps.rows():
            run.steps.counted(row.index)
    return overview(workspace).runs


def _row(row: StepRow) -> str:
    lines = f"+{row.added} -{row.removed}"
    if row.status == "failed":
        lines = f"**failed**: {_cell(without_paths(row.message))}"
    where = row.function or "the module"
    return (
        f"| {row.index} | {row.phase} {_cell(row.phase_name)} | {_cell(row.pass_text)} "
        f"| {_cell(where)} | {lines} | {row.ms:.2f} |"
    )


def _meaning(verdict: StepVerdict | None) -> str:
    if verdict is None:
        return ""
    text = _cell(f"{SIGNS[verdict.status]}. {verdict.text}")
    return f" **{text}** |" if verdict.status in WRONG else f" {_cell(SIGNS[verdict.status])} |"


def _cell(text: str) -> str:
    """Escape text for a cell of a Markdown table."""
    flat = " ".join(text.split())
    marks = str.maketrans({mark: f"&#{ord(mark)};" for mark in "&\\|`*_[]<>#"})
    return flat.translate(marks)


def _printable(text: str) -> str:
    """Replace characters that XML does not allow."""
    return "".join(
        letter
        if letter in "\t\n" or " " <= letter <= "\ud7ff" or "\ue000" <= letter <= "\ufffd"
        else "?"
        for letter in text
    )
