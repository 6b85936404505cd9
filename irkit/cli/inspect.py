"""The verb inspect of the ``irkit`` command."""

import webbrowser

import click

from irkit.core import IRKitError
from irkit.inspector_web.load import Inspection
from irkit.inspector_web.server import (
    LOOPBACK,
    Server,
    create_app,
    is_loopback,
    new_access_rules,
)


@click.command("inspect")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    help="Port to listen on; 0, the default, takes any that is free.",
)
@click.option("--no-open", is_flag=True, help="Print the address and open no browser.")
@click.option("--watch", is_flag=True, help="Show it anew when a file changes.")
@click.option(
    "--host",
    default=LOOPBACK,
    show_default=True,
    help="Address to listen on. Anything but this machine needs --expose.",
)
@click.option("--expose", is_flag=True, help="With --host: let other machines connect.")
def inspect_(
    files: tuple[str, ...], port: int, no_open: bool, watch: bool, host: str, expose: bool
) -> None:
    """See in the browser what every pass did.

    FILES are traces (irkit compile --trace), ONNX models (.onnx), IR text (.irs) or Python scripts
    (.py): these are lowered, or run, in a process of their own with limits, and a script is shown
    where it calls irkit.lower, build, compile or a pipeline. Several files can be compared.

    Only who has the printed address can look; stop with Ctrl-C.

    \b
      irkit inspect model.onnx
      irkit inspect kernel.py --watch
      irkit inspect before.trace after.trace --port 8080 --no-open
    """
    if not is_loopback(host) and not expose:
        raise IRKitError(
            f"{host} lets other machines connect, and the page shows your models",
            hint="Add --expose if you want that; the address with the token is all they need.",
        )
    rules = new_access_rules(host)
    inspection = Inspection(files, watch=watch)
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
