"""The verb report of the ``irkit`` command."""

from collections.abc import Sequence
from functools import partial

import click

from irkit.cli.flags.files import FILE_OR_FOLDER, NEW_FILE
from irkit.cli.flags.fixed_inputs import SHAPE, VALUE, fixed_inputs
from irkit.cli.flags.programs import CONVERTERS
from irkit.core import IRKitError, atomic_write
from irkit.inspector_web import Run, Workspace
from irkit.inspector_web.jobs import WRONG, StepVerdicts, check_run
from irkit.inspector_web.load import Inspection
from irkit.inspector_web.report import as_json, as_junit, as_markdown, report


@click.command("report")
@click.argument("files", nargs=-1, required=True, type=FILE_OR_FOLDER)
@click.option(
    "-o", "--output", type=NEW_FILE, help="Write an HTML page of one file, which needs no network."
)
@click.option("--native", is_flag=True, help="With -o: also LLVM IR and assembly of the results.")
@click.option("--json", "json_", type=NEW_FILE, help="Write the list of passes as JSON.")
@click.option(
    "--junit",
    type=NEW_FILE,
    help="Write JUnit XML: each pass is a test, and one that failed is a failure.",
)
@click.option(
    "--summary", type=NEW_FILE, help="Write a table in Markdown, for example for a step of CI."
)
@click.option(
    "--check",
    is_flag=True,
    help="Run the program before and after every pass, and report whether it computes the same.",
)
@SHAPE
@VALUE
@CONVERTERS
def report_(
    files: tuple[str, ...],
    output: str | None,
    native: bool,
    json_: str | None,
    junit: str | None,
    summary: str | None,
    check: bool,
    shapes: tuple[str, ...],
    values: tuple[str, ...],
    converters: tuple[str, ...],
) -> None:
    """Write what every pass did to files that need no server.

    FILES are traces, models, IR text, scripts or dumps, as for irkit inspect. The exit code is 1 if
    a pass failed or, with --check, changed what the program computes.

    \b
      irkit report model.trace -o report.html
      irkit report kernel.irs --json passes.json --junit passes.xml --summary passes.md
      irkit report model.onnx --check --junit passes.xml
    """
    wanted = {"-o": output, "--json": json_, "--junit": junit, "--summary": summary}
    if not any(wanted.values()):
        raise click.UsageError(f"nothing to write; give one of {', '.join(wanted)}")
    fixed = fixed_inputs(shapes, values)
    inspection = Inspection(files, shapes=fixed.shapes, values=fixed.values, converters=converters)
    try:
        inspection.open()
        workspace = inspection.workspace
        if workspace is None:
            raise IRKitError(inspection.message)
        native_of = inspection.native.of if native else None
        checked = [check_run(run) for run in workspace.runs] if check else []
        for path, make in (
            (output, partial(report, native_of=native_of)),
            (json_, as_json),
            (junit, as_junit),
            (summary, as_markdown),
        ):
            if path is not None:
                text = make(workspace, inspection.title, checked)
                with atomic_write(path) as unfinished:
                    unfinished.write_text(text, encoding="utf-8")
    finally:
        inspection.close()
    _raise_failures(workspace, checked)


def _raise_failures(workspace: Workspace, checked: Sequence[StepVerdicts]) -> None:
    failures = [str(run.loaded.failure) for run in workspace.runs if run.loaded.failure is not None]
    for run, found in zip(workspace.runs, checked, strict=False):
        wrong = [each for each in found.verdicts if each.status in WRONG]
        failures += [f"{run.title}: step {_named(run, each.step)}: {each.text}" for each in wrong]
    if failures:
        raise click.ClickException("\n".join(failures))


def _named(run: Run, number: int) -> str:
    step = run.trace[number]
    return f"{number}, '{step.pass_text}' on {step.function or 'the module'}"
