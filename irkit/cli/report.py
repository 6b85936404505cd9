"""The verb report of the ``irkit`` command."""

from collections.abc import Sequence
from functools import partial

import click

from irkit.core import IRKitError, atomic_write
from irkit.inspector_web.jobs import WRONG, StepVerdicts, check_run
from irkit.inspector_web.load import Inspection
from irkit.inspector_web.report import as_json, as_junit, as_markdown, report
from irkit.inspector_web.runs.run import Run
from irkit.inspector_web.runs.workspace import Workspace

_NEW = click.Path(dir_okay=False)


@click.command("report")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output", type=_NEW, help="A page of one file; it needs no network.")
@click.option("--native", is_flag=True, help="With -o: also LLVM IR and assembly of the results.")
@click.option("--json", "json_", type=_NEW, help="The list of passes as data.")
@click.option("--junit", type=_NEW, help="Each pass as a test; one that failed is a failure.")
@click.option("--summary", type=_NEW, help="A table in Markdown, such as for a step of CI.")
@click.option(
    "--check",
    is_flag=True,
    help="Run the program before and after every pass, and say whether it means the same.",
)
def report_(
    files: tuple[str, ...],
    output: str | None,
    native: bool,
    json_: str | None,
    junit: str | None,
    summary: str | None,
    check: bool,
) -> None:
    """Write what every pass did into files that need no server.

    FILES are traces, models, IR text or scripts, as for irkit inspect. The exit code is 1 if a pass
    failed or, with --check, changed what the program computes.

    \b
      irkit report model.trace -o report.html
      irkit report kernel.irs --json passes.json --junit passes.xml --summary passes.md
      irkit report model.onnx --check --junit passes.xml
    """
    wanted = {"-o": output, "--json": json_, "--junit": junit, "--summary": summary}
    if not any(wanted.values()):
        raise click.UsageError(f"nothing to write; give one of {', '.join(wanted)}")
    inspection = Inspection(files)
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
    _say_failures(workspace, checked)


def _say_failures(workspace: Workspace, checked: Sequence[StepVerdicts]) -> None:
    said = [str(run.loaded.failure) for run in workspace.runs if run.loaded.failure is not None]
    for run, found in zip(workspace.runs, checked, strict=False):
        wrong = [each for each in found.verdicts if each.status in WRONG]
        said += [f"{run.title}: step {_named(run, each.step)}: {each.text}" for each in wrong]
    if said:
        raise click.ClickException("\n".join(said))


def _named(run: Run, number: int) -> str:
    step = run.trace[number]
    return f"{number}, '{step.pass_text}' on {step.function or 'the module'}"
