"""Options of check, bisect and reduce: which passes run, and on which inputs."""

import zipfile
from typing import Any

import click
import msgspec
import numpy as np

from irkit.cli.flags.files import FILE
from irkit.cli.flags.fixed_inputs import SHAPE, STATE, VALUE, fixed_inputs
from irkit.cli.flags.flag_values import Option, Verb, as_value
from irkit.cli.flags.placement import DISABLE, PASS, flow_of
from irkit.cli.flags.programs import CONVERTER, ProgramFile, kind_of, read_program
from irkit.cli.flags.schedule_flag import (
    SCHEDULE,
    WORDS,
    ChosenSchedule,
    auto_scheduled,
    schedule_from,
    unscheduled_part,
)
from irkit.core import IRKitError, IRModule, as_target
from irkit.debug import MAX_STEPS
from irkit.phases import Flow, ScheduleChoice, for_machine, machine_of
from irkit.schedule import ScheduleTrace
from irkit.transform import Pipeline

_OPTIONS: tuple[Option, ...] = (
    PASS,
    DISABLE,
    click.option("--stop-after", type=int, metavar="PHASE", help="The last phase to run: 0 to 3."),
    click.option(
        "--inputs", type=FILE, help="Arrays by parameter name, as .npz; the others are made up."
    ),
    click.option(
        "--dim", "dims", multiple=True, metavar="NAME=5", help="Fix a symbolic dimension."
    ),
    click.option("--seed", default=0, show_default=True, help="Seed of the made-up inputs."),
    click.option(
        "--samples",
        default=4,
        type=click.IntRange(1, 1000),
        show_default=True,
        help="How many sets of inputs to try.",
    ),
    click.option(
        "--native/--no-native",
        default=None,
        help="Compile every stage, or none, as irkit.build does, and compare what its code "
        "computes with the interpreter.  [default: the last stage of each function]",
    ),
    SCHEDULE,
    SHAPE,
    CONVERTER,
    VALUE,
    STATE,
)
MODEL_STEPS = 50_000
"""Most steps that the interpreter may take for a kernel of a model: native code runs the larger
ones, or a network would take minutes."""


class CheckFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Values of the options that check, bisect and reduce share."""

    passes: tuple[str, ...]
    disabled: tuple[str, ...]
    stop_after: int | None
    inputs: str | None
    dims: tuple[str, ...]
    seed: int
    samples: int
    native: bool | None
    schedule: str | None
    shapes: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    states: tuple[str, ...] = ()

    @property
    def places_passes(self) -> bool:
        """Return True if the options change which passes run."""
        return bool(self.passes or self.disabled or self.stop_after is not None)

    def program(self, file: str) -> ProgramFile:
        """Read the program in a file. Raises: IRKitError, UsageError."""
        if self.schedule not in (None, *WORDS) and kind_of(file) != "text":
            raise click.UsageError("the file of a schedule is for loop IR (.irs)")
        return read_program(file, fixed_inputs(self.shapes, self.values, self.states))

    def pipelines(self, program: ProgramFile) -> tuple[Pipeline, ...]:
        """Return the pipelines that the options ask for: that of graphs if the program has some,
        then the loop phases up to ``--stop-after``."""
        return self._pipelines(program, self.chosen_schedule().choice("none"))

    def _pipelines(self, program: ProgramFile, schedule: ScheduleChoice) -> tuple[Pipeline, ...]:
        flow = flow_of(self.passes, self.disabled)
        loops = flow.lowering if self.stop_after is None else flow.loops.stop_after(self.stop_after)
        if schedule == "auto":
            loops = auto_scheduled(loops)
        if not program.is_of_graphs:
            if program.recorded and flow.graph != Flow().graph:
                raise IRKitError(
                    "the trace begins with loop functions, or holds only digests of its constants: "
                    "graph passes have nothing to run on",
                    hint="Give the model itself.",
                )
            return (loops,)
        machine = machine_of("host", as_target("llvm"))
        return for_machine(flow.graph, machine, self.chosen_schedule().choice("auto")), loops

    def own_passes(self, program: ProgramFile) -> frozenset[str]:
        """Return the names of the passes that ``--pass`` adds and irkit does not come with."""
        if not self.passes:
            return frozenset()
        placed = [p for pipeline in self.pipelines(program) for _, p in pipeline.placed]
        return frozenset(p.name for p in placed if not p.path.startswith("irkit."))

    def chosen_schedule(self) -> ChosenSchedule:
        """Return what ``--schedule`` says."""
        return schedule_from(self.schedule)

    def schedule_trace(self) -> ScheduleTrace:
        """Return the schedule to run first; it is empty without the file of one."""
        return self.chosen_schedule().trace

    def forms(self, program: ProgramFile) -> list[tuple[str, IRModule, tuple[Pipeline, ...]]]:
        """Return the forms of a program to work on: its name, the functions, their pipelines.

        Unless a schedule is chosen, functions that nobody has scheduled are worked on as written
        and with the schedule that build would give them.
        """
        found = [("as written", program.module, self.pipelines(program))]
        if not self.chosen_schedule().is_given and not program.is_of_graphs:
            auto = self._pipelines(program, "auto")
            module = unscheduled_part(program.module, auto[-1])
            if module.functions:
                found.append(("with the automatic schedule", module, auto))
        return found

    def options(self, program: ProgramFile) -> dict[str, Any]:
        """Return the options of :func:`irkit.debug.check`."""
        return {
            "max_steps": MODEL_STEPS if program.is_of_kernels else MAX_STEPS,
            "inputs": read_npz(self.inputs) if self.inputs is not None else {},
            "dims": dict(_dim(text) for text in self.dims),
            "seed": self.seed,
            "samples": self.samples,
            "native": self.native,
            "code": True,
        }


def with_check_flags(verb: Verb) -> Verb:
    """Add the options that check, bisect and reduce share, as one parameter ``chosen``."""
    return as_value("chosen", CheckFlags, _OPTIONS)(verb)


def read_npz(path: str) -> dict[str, Any]:
    """Read arrays by name from an .npz file. Raises: IRKitError."""
    try:
        with zipfile.ZipFile(path):  # An .npy file would be one array without a name.
            pass
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise IRKitError(f"cannot read inputs from {path!r}: {error}") from error


def _dim(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    if not name or not size.isdecimal():
        raise click.BadParameter(f"{text!r} is not a dimension; write it as NAME=5")
    return name, int(size)
