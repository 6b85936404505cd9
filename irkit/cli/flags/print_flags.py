"""Options that print the IR, times and remarks of passes, named as in LLVM and MLIR."""

import sys
from collections.abc import Iterable

import click
import msgspec

from irkit.cli.flags.files import NEW_FILE, NEW_FOLDER
from irkit.cli.flags.flag_values import Option, Verb, as_value
from irkit.core import Names, atomic_write, console
from irkit.debug import StepPrinter, chrome_trace, function_time_table, remarks, time_table
from irkit.transform import PassFailed, Step

_OPTIONAL = ("--print-ir-before", "--print-ir-after")


class PrintFlags(msgspec.Struct, frozen=True):
    """Values of the options that print; everything goes to standard error or to files."""

    print_ir_before: tuple[str, ...] = ()
    print_ir_after: tuple[str, ...] = ()
    print_ir_after_change: bool = False
    print_ir_tree_dir: str | None = None
    time_passes: bool = False
    time_passes_json: str | None = None
    remarks: bool = False
    names: Names = msgspec.field(default_factory=Names)

    @property
    def printer(self) -> StepPrinter:
        """Return what prints the IR that the options ask for."""
        return StepPrinter(
            frozenset(self.print_ir_before),
            frozenset(self.print_ir_after),
            self.print_ir_after_change,
            self.print_ir_tree_dir or "",
            self.names,
        )

    @property
    def wants_steps(self) -> bool:
        """True if an option asks for something about steps."""
        asked = (
            self.print_ir_before,
            self.print_ir_after,
            self.print_ir_after_change,
            self.print_ir_tree_dir,
            self.time_passes,
            self.time_passes_json,
            self.remarks,
        )
        return any(asked)

    def print_step(self, step: Step) -> None:
        """Print what the options ask for about a step that has just run."""
        self.printer.print_step(step, _write)

    def print_failure(self, error: PassFailed) -> None:
        """Print the IR on which a pass failed, if the options ask for its IR."""
        self.printer.print_failure(error, _write)

    def print_summary(self, steps: Iterable[Step]) -> None:
        """Print the remarks and times of all steps."""
        done = tuple(steps)
        if self.remarks:
            found = remarks(done)
            _write("".join(f"{each}\n" for each in found) or "no pass made a remark\n")
        if self.time_passes:
            console(stderr=True).print(time_table(done))
            console(stderr=True).print(function_time_table(done))
        if self.time_passes_json is not None:
            with atomic_write(self.time_passes_json) as file:
                file.write_bytes(chrome_trace(done))


def _write(text: str) -> None:
    sys.stdout.flush()
    click.echo(text, nl=False, err=True)


def expand_bare_flags(args: list[str]) -> list[str]:
    """Write a bare ``--print-ir-after`` as ``--print-ir-after=*``: its value is optional, and
    given only after an equals sign, so the option never takes the file for a pass."""
    return [f"{arg}=*" if arg in _OPTIONAL else arg for arg in args]


_OPTIONS: tuple[Option, ...] = (
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
        type=NEW_FOLDER,
        metavar="DIR",
        help="Write the IR after each pass to DIR/FUNCTION/STEP_PHASE_PASS.irs.",
    ),
    click.option(
        "--time-passes", is_flag=True, help="Print tables of the time in passes, and by function."
    ),
    click.option(
        "--time-passes-json",
        type=NEW_FILE,
        metavar="FILE",
        help="Write the same as a timeline for chrome://tracing or Perfetto.",
    ),
    click.option(
        "--remarks",
        is_flag=True,
        help="Print the remarks of passes, such as why they left a line alone.",
    ),
)


def with_print_flags(verb: Verb) -> Verb:
    """Add the options that print to a verb, as one parameter ``printing``."""
    return as_value("printing", PrintFlags, _OPTIONS)(verb)
