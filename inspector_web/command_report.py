"""The verb report of the ``irkit`` command."""

from functools import partial

import click

from irkit.core import IRKitError, replacing
from irkit.inspector_web.opening import Inspection
from irkit.inspector_web.report import report
from irkit.inspector_web.runs import Workspace
from irkit.inspector_web.summaries import as_json, as_junit, as_markdown

_NEW = click.Path(dir_okay=False)


@click.command("report")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output", type=_NEW, help="A page of one file; it needs no network.")
@click.option("--native", is_flag=True, help="With -o: also LLVM IR and assembly of the results.")
@click.option("--json", "json_", type=_NEW, help="The list of passes as data.")
@click.option("--junit", type=_NEW, help="Each pass as a test; one that failed is a failure.")
@click.option("--summary", type=_NEW, help="A table in Markdown, such as for a step of CI.")
def report_(
    files: tuple[str, ...],
    output: str | None,
    native: bool,
    json_: str | None,
    junit: str | None,
    summary: str | None,
) -> None:
    """Write what every pass did into files that need no server.

    FILES are traces, models, IR text or scripts, as for irkit inspect. The exit code is 1 if a pass
    failed.

    \b
      irkit report model.trace -o report.html
      irkit report kernel.irs --json passes.json --junit passes.xml --summary passes.md
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
        for path, text in (
            (output, partial(report, native_of=native_of)),
            (json_, as_json),
            (junit, as_junit),
            (summary, as_markdown),
        ):
            if path is not None:
                with replacing(path) as unfinished:
                    unfinished.write_text(text(workspace, inspection.title), encoding="utf-8")
    finally:
        inspection.close()
    _say_failures(workspace)


def _say_failures(workspace: Workspace) -> None:
    failures = [run.opened.failure for run in workspace.runs if run.opened.failure is not None]
    if failures:
        raise click.ClickException("\n".join(str(failure) for failure in failures))
