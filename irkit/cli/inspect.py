"""The verb inspect of the ``irkit`` command."""

import webbrowser
from pathlib import Path

import click

from irkit.cli.flags.files import FILE_OR_FOLDER, NEW_FILE
from irkit.cli.flags.fixed_inputs import SHAPE, VALUE, fixed_inputs
from irkit.cli.flags.programs import CONVERTERS
from irkit.cli.flags.schedule_flag import WORD
from irkit.core import IRKitError
from irkit.inspector_web.load import PASS_LIMITS, Inspection
from irkit.inspector_web.server import (
    LOOPBACK,
    Server,
    create_app,
    is_loopback,
    new_access_rules,
    read_token,
)
from irkit.phases import ScheduleChoice
from irkit.processes import Limits


@click.command("inspect")
@click.argument("files", nargs=-1, required=True, type=FILE_OR_FOLDER)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    help="Port to listen on; 0, the default, takes any that is free.",
)
@click.option("--no-open", is_flag=True, help="Print the address and do not open a browser.")
@click.option("--watch", is_flag=True, help="Reload a file when it changes.")
@click.option(
    "--host",
    default=LOOPBACK,
    show_default=True,
    help="Address to listen on. Anything but this machine needs --expose.",
)
@click.option("--expose", is_flag=True, help="With --host: let other machines connect.")
@click.option(
    "--token-file",
    type=NEW_FILE,
    help="Private file with the token of the address, made if there is none. With the same --port, "
    "an open page connects again after a restart.",
)
@click.option(
    "--pass-timeout",
    type=click.FloatRange(min=0, max=3600, min_open=True),
    metavar="SECONDS",
    default=PASS_LIMITS.seconds,
    show_default=True,
    help="Stop a pass that takes longer when passes run again.",
)
@click.option(
    "--pass-memory",
    type=click.IntRange(min=1),
    metavar="MIB",
    help="Stop a pass that takes more memory.  [default: half of the machine's]",
)
@click.option(
    "--read-only", is_flag=True, help="Only show: refuse checks, runs, edits and uploads."
)
@WORD
@SHAPE
@VALUE
@CONVERTERS
def inspect_(
    files: tuple[str, ...],
    port: int,
    no_open: bool,
    watch: bool,
    host: str,
    expose: bool,
    token_file: str | None,
    pass_timeout: float,
    pass_memory: int | None,
    read_only: bool,
    schedule: ScheduleChoice | None,
    shapes: tuple[str, ...],
    values: tuple[str, ...],
    converters: tuple[str, ...],
) -> None:
    """Show in the browser what every pass did.

    FILES are traces (irkit compile --trace), ONNX models (.onnx), IR text (.irs), Python scripts
    (.py), or what another compiler printed after its passes: LLVM's -print-after-all and
    -print-changed, MLIR's --mlir-print-ir-after-all and its folder of files. Models, IR and scripts
    are lowered, or run, in a separate process with limits; of a script, the calls of irkit.lower,
    build, compile or a pipeline are shown. Several files can be compared.

    Only someone who has the printed address can connect; stop with Ctrl-C. IR can be edited on the
    page, unless the server listens on another address or with --read-only.

    \b
      irkit inspect model.onnx
      irkit inspect kernel.py --watch
      irkit inspect before.trace after.trace --port 8080 --no-open
      opt -O2 f.ll -print-changed=quiet -o f.bc 2> dump.txt; irkit inspect dump.txt
    """
    if not is_loopback(host) and not expose:
        raise IRKitError(
            f"{host} lets other machines connect, and the page shows your models",
            hint="Add --expose to allow that; who knows the address with its token can look.",
        )
    token = "" if token_file is None else read_token(Path(token_file))
    rules = new_access_rules(host, token=token, read_only=read_only)
    fixed = fixed_inputs(shapes, values)
    inspection = Inspection(
        files,
        watch=watch,
        shapes=fixed.shapes,
        values=fixed.values,
        converters=converters,
        schedule=schedule,
        runs=not read_only,
        edits=is_loopback(host),
        pass_limits=_pass_limits(pass_timeout, pass_memory),
    )
    try:
        server = Server(create_app(inspection, rules), rules, host=host, port=port)
        inspection.start()
        click.echo(f"{inspection.title}: {server.address}")
        click.echo("Stop with Ctrl-C.", err=True)
        if not no_open:
            webbrowser.open(server.address)
        server.run()
    finally:
        inspection.close()


def _pass_limits(seconds: float, memory: int | None) -> Limits:
    most = PASS_LIMITS.memory if memory is None else memory << 20
    return Limits(seconds=seconds, memory=most)
