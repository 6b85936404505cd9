"""Options of check, bisect and reduce: which passes run, and on which inputs."""

import zipfile
from typing import Any

import click
import msgspec
import numpy as np

from irkit.cli.flags.files import FILE
from irkit.cli.flags.flag_values import Option, Verb, as_value
from irkit.cli.flags.placement import DISABLE, PASS, flow_of
from irkit.cli.flags.schedule_flag import SCHEDULE, schedule_from
from irkit.core import IRKitError
from irkit.phases import Flow
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
        help="Always or never run every stage as native code too.  [default: only what would take "
        "the interpreter too long]",
    ),
    SCHEDULE,
)


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

    def flow(self) -> Flow:
        """Return the pipelines that the options ask for; the loop phases end at
        ``--stop-after``."""
        flow = flow_of(self.passes, self.disabled)
        if self.stop_after is None:
            return flow
        return msgspec.structs.replace(flow, loops=flow.loops.stop_after(self.stop_after))

    def loop_passes(self) -> Pipeline:
        """Return the passes that run on loops, up to ``--stop-after``."""
        flow = self.flow()
        return flow.lowering if self.stop_after is None else flow.loops

    def schedule_trace(self) -> ScheduleTrace:
        """Return the schedule to run first; it is empty without ``--schedule``."""
        return schedule_from(self.schedule)

    def options(self) -> dict[str, Any]:
        """Return the options of :func:`irkit.debug.check`."""
        return {
            "inputs": _arrays(self.inputs) if self.inputs is not None else None,
            "dims": dict(_dim(text) for text in self.dims),
            "seed": self.seed,
            "samples": self.samples,
            "native": self.native,
        }


def with_check_flags(verb: Verb) -> Verb:
    """Add the options that check, bisect and reduce share, as one parameter ``chosen``."""
    return as_value("chosen", CheckFlags, _OPTIONS)(verb)


def _arrays(path: str) -> dict[str, Any]:
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
