"""The verb machine of the ``irkit`` command: what schedules know of this processor."""

import click
import msgspec

from irkit.autoschedule import Machine
from irkit.codegen import complete_target
from irkit.core import Target
from irkit.ir import PrimFunc
from irkit.phases import build
from irkit.runtime import Kernel
from irkit.tune import (
    MEASURED,
    fingerprint,
    machine_here,
    measure_machine,
    read_table,
    table_path,
    write_table,
)

_UNITS = {"l1": "bytes", "l2": "bytes", "l3": "bytes", "vector_bytes": "bytes"}
_COSTS = ("latency", "near", "far", "streamed")


@click.command("machine")
@click.option("--measure", is_flag=True, help="Measure for three seconds, and keep the result.")
@click.option("--forget", is_flag=True, help="Delete what was measured.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs to read.")
def machine(measure: bool, forget: bool, as_json: bool) -> None:
    """Show what automatic schedules know of this processor, or measure it.

    Without a measurement, schedules use numbers that are common; they are good guesses. Compiling
    measures nothing. A measurement is kept in the cache folder for this processor alone, and later
    schedules follow it: floats may then be added in another order than before. The parameter
    machine="generic" of irkit.build and irkit.compile fixes the schedule whatever was measured.

    \b
      irkit machine
      irkit machine --measure
      irkit machine --forget
    """
    if measure and forget:
        raise click.UsageError("--measure and --forget exclude each other")
    if measure:
        table = measure_machine(_as_it_is, progress=_say)
        click.echo(f"kept in {write_table(table)}", err=True)
    path = table_path(fingerprint())
    if forget and path is not None:
        path.unlink(missing_ok=True)
    table = read_table()
    target = complete_target(Target())
    known = machine_here(target) if table is None else table.machine(Machine.of_target(target))
    shown = {name: getattr(known, name) for name in known.__struct_fields__}
    if as_json:
        digest = None if table is None else table.digest()
        data = {"processor": fingerprint(), "table": digest, "machine": shown}
        click.echo(msgspec.json.format(msgspec.json.encode(data)).decode())
        return
    damaged = table is None and path is not None and path.exists()
    click.echo(f"processor  {fingerprint()}")
    if damaged:
        click.echo(f"table      {path} is damaged and not used: measure again")
    else:
        click.echo(f"table      {'built in' if table is None else table.digest()}")
    for name, value in shown.items():
        unit = _UNITS.get(name) or ("cycles" if name in _COSTS else "")
        text = " ".join(known.features) if name == "features" else f"{value} {unit}"
        origin = "  measured" if table is not None and name in MEASURED else ""
        click.echo(f"  {name:<17}{text.strip()}{origin}")


def _say(what: str) -> None:
    click.echo(f"measuring {what} ...", err=True)


def _as_it_is(func: PrimFunc) -> Kernel:
    return build(func, schedule="none")
