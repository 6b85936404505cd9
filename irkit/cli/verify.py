"""The verb verify of the ``irkit`` command."""

from pathlib import Path

import click
import msgspec
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
from rich.table import Table

from irkit.cli.flags.files import FILE
from irkit.core import console
from irkit.runtime import PackageReport, verify_package

_COLUMNS = ("model for", "processor", "code", "weights", "on this machine")


@click.command("verify")
@click.argument("package", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs to read.")
def verify(package: str, as_json: bool) -> None:
    """Compare every byte of PACKAGE with its checksums, and show what it holds.

    Loading a package checks its code, and weights of at most 4 MiB; larger ones are mapped as they
    are. No code is run, and the package may be for other machines. The exit code is 2 for damage.

    \b
      irkit verify model.irkit
      irkit verify model.irkit --json
    """
    screen = console(stderr=True)
    columns = (TextColumn("verify"), BarColumn(), DownloadColumn())
    silent = as_json or not screen.is_terminal
    with Progress(*columns, console=screen, transient=True, disable=silent) as bar:
        task = bar.add_task("verify", total=Path(package).stat().st_size)
        reports = verify_package(package, lambda count: bar.advance(task, count))
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(reports)).decode())
        return
    console().print(_table(reports))
    first = reports[0]
    total = sum(report.total_bytes for report in reports)
    click.echo(
        f"{package}: nothing is damaged; {total / 1e6:.1f} MB, format {first.format}, "
        f"by irkit {first.irkit}"
    )


def _table(reports: list[PackageReport]) -> Table:
    table = Table(*_COLUMNS, box=None, pad_edge=False)
    for report in reports:
        for each in report.models:
            table.add_row(
                each.target.triple,
                each.target.cpu,
                f"{each.code_bytes / 1e3:.1f} kB",
                f"{each.param_bytes / 1e6:.1f} MB",
                each.mismatch or "runs",
            )
    return table
