"""The verb targets of the ``irkit`` command: the targets that have names."""

import click
import msgspec
from rich.table import Table

from irkit.autoschedule import Machine
from irkit.codegen import complete_target
from irkit.core import DEVICE_TABLE, KINDS, TARGET_TABLE, Target, console

_DEVICE_COLUMNS = (
    "device", "what", "processor", "threads", "shared memory", "warp", "registers", "run in tests"
)  # fmt: skip
_COLUMNS = ("target", "what", "vector", "registers", "caches", "instructions", "run in tests")


@click.command("targets")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs to read.")
def targets(as_json: bool) -> None:
    """List the targets that have names, with what schedules know of each.

    Each name is a target of irkit.build, irkit.compile and irkit compile --target. Any other
    processor that LLVM knows is one too: "llvm -triple=aarch64-linux-gnu -cpu=cortex-a53".
    The target "c" gives C source for any processor. "host" is this machine. Devices with threads
    are targets of irkit.build, for loops that are bound to blocks and threads.

    \b
      irkit targets
      irkit targets --json
    """
    host = complete_target(Target())
    if as_json:
        data: dict[str, object] = {"host": host, "kinds": KINDS, "targets": TARGET_TABLE}
        data["devices"] = DEVICE_TABLE
        click.echo(msgspec.json.format(msgspec.json.encode(data)).decode())
        return
    table = Table(*_COLUMNS, box=None, pad_edge=False)
    here = Machine.of_target(host)
    table.add_row(
        "host",
        f"this machine: {host.cpu}",
        f"{here.vector_bytes * 8} bits",
        str(here.vector_registers),
        _sizes(here.l1, here.l2, here.l3),
        " ".join(here.features),
        "here",
    )
    for row in TARGET_TABLE:
        table.add_row(
            row.name,
            row.summary,
            f"{row.vector_bytes * 8} bits",
            str(row.vector_registers),
            _sizes(row.l1, row.l2, row.l3),
            " ".join(row.instructions),
            row.ran,
        )
    table.add_row("c", "C source, for any processor", "", "", "", "", "here")
    console().print(table)
    click.echo()
    console().print(_devices())


def _devices() -> Table:
    table = Table(*_DEVICE_COLUMNS, box=None, pad_edge=False)
    for row in DEVICE_TABLE:
        table.add_row(
            row.name,
            row.summary,
            row.cpu,
            str(row.threads),
            _sizes(row.shared_bytes),
            str(row.warp),
            str(row.registers or ""),
            row.ran,
        )
    return table


def _sizes(*caches: int) -> str:
    return " ".join(
        f"{size >> 20}M" if size >= 1 << 20 and size % (1 << 20) == 0 else f"{size >> 10}K"
        for size in caches
    )
