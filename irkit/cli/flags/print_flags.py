"""The familiar switches: what a verb prints about the passes it runs."""

import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any

import click
import msgspec

from irkit.core import Names, atomic_write
from irkit.debug import StepPrinter, chrome_trace, console, remarks, time_table
from irkit.transform import PassFailed, Step

_OPTIONAL = ("--print-ir-before", "--print-ir-after")


class PrintFlags(msgspec.Struct, frozen=True):
    """The values of the switches; everything goes to standard error or to files."""

    print_ir_before: tuple[str, ...] = ()
    print_ir_after: tuple[str, ...] = ()
    print_ir_after_change: bool = False
    print_ir_tree_dir: str | None = None
    time_passes: bool = False
    time_passes_json: str | None = None
    remarks: bool = False
    names: Names = msgspec.field(default_factory=Names)

    @property
    def printing(self) -> StepPrinter:
        """Say what IR is to be printed."""
        return StepPrinter(
            frozenset(self.print_ir_before),
            frozenset(self.print_ir_after),
            self.print_ir_after_change,
            self.print_ir_tree_dir or "",
            self.names,
        )

    def print_step(self, step: Step) -> None:
        """Print what is asked for of one step, as soon as it is there."""
        self.printing.print_step(step, _write)

    def print_failure(self, error: PassFailed) -> None:
        """Print the IR at which a pass failed, if its IR was asked for."""
        self.printing.print_failure(error, _write)

    def finish(self, steps: Iterable[Step]) -> None:
        """Print what sums up all steps."""
        kept = tuple(steps)
        if self.remarks:
            said = remarks(kept)
            _write("".join(f"{each}\n" for each in said) or "no pass made a remark\n")
        if self.time_passes:
            console(stderr=True).print(time_table(kept))
        if self.time_passes_json is not None:
            with atomic_write(self.time_passes_json) as file:
                file.write_bytes(chrome_trace(kept))


def _write(text: str) -> None:
    sys.stdout.flush()
    click.echo(text, nl=False, err=True)


def with_print_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the switches, as one argument ``switches``."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        chosen = {name: given.pop(name) for name in PrintFlags.__struct_fields__ if name in given}
        command(**given, switches=PrintFlags(**chosen))

    made: Callable[..., None] = run
    for option in reversed(_FLAGS):
        made = option(made)
    return made


def expand_bare_flags(args: list[str]) -> list[str]:
    """Let ``--print-ir-after`` stand for ``--print-ir-after=*``: its value is optional, and only
    after an equals sign, so that it does not take the file for a pass."""
    return [f"{arg}=*" if arg in _OPTIONAL else arg for arg in args]


_FLAGS: tuple[Callable[[Callable[..., None]], Callable[..., None]], ...] = (
    click.option(
        "--print-ir-before",
        multiple=True,
        metavar="[=PASS]",
        help="Print the IR before each pass, or before one (after an '='). Repeatable.",
    ),
    click.option(
        "--print-ir-after",
        multiple=True,
        metavar="[=PASS]",
        help="Print the IR after each pass, or after one. Repeatable.",
    ),
    click.option(
        "--print-ir-after-change",
        is_flag=True,
        help="Print the IR only where a pass changed it.",
    ),
    click.option(
        "--print-ir-tree-dir",
        type=click.Path(file_okay=False),
        metavar="DIR",
        help="Write the IR after each pass to DIR/FUNCTION/STEP_PHASE_PASS.irs.",
    ),
    click.option("--time-passes", is_flag=True, help="Print a table of the time in passes."),
    click.option(
        "--time-passes-json",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Write the same as a timeline for chrome://tracing or Perfetto.",
    ),
    click.option(
        "--remarks", is_flag=True, help="Print what passes say, such as why they left a line alone."
    ),
)
