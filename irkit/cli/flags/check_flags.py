"""FIXME Give a command the options that say which passes run, and on which inputs."""

import zipfile
from typing import Any

import click
import numpy as np

from irkit.cli.flags.files import FILE
from irkit.cli.flags.placement import DISABLE, PASS
from irkit.core import IRKitError
from irkit.phases import Flow
from irkit.transform import Pipeline

_OPTIONS = (
    PASS,
    DISABLE,
    click.option("--stop-after", type=int, metavar="PHASE", help="The last phase to run: 0 to 3."),
    click.option(
        "--inputs", "npz", type=FILE, help="Arrays by parameter name, as .npz; others are made up."
    ),
    click.option(
        "--dim", "dims", multiple=True, metavar="NAME=5", help="Fix a symbolic dimension."
    ),
    click.option("--seed", default=0, show_default=True, help="What inputs are drawn from."),
    click.option(
        "--samples",
        default=4,
        type=click.IntRange(1, 1000),
        show_default=True,
        help="How many sets of inputs.",
    ),
    click.option(
        "--native/--no-native",
        default=None,
        help="Run every stage as native code too, or never.  [default: what would take the "
        "interpreter too long]",
    ),
)


def with_check_flags(command: Any) -> Any:
    """Give a command the options that say which passes run, and on which inputs."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def loop_passes_until(flow: Flow, stop_after: int | None) -> Pipeline:
    """Give the passes over loops, up to a phase."""
    return flow.lowering if stop_after is None else flow.loops.stop_after(stop_after)


def check_options(
    npz: str | None, dims: tuple[str, ...], seed: int, samples: int, native: bool | None
) -> dict[str, Any]:
    """Read what :func:`with_check_flags` gives as the options of :func:`irkit.debug.check`."""
    return {
        "inputs": _arrays(npz) if npz is not None else None,
        "dims": dict(_dim(text) for text in dims),
        "seed": seed,
        "samples": samples,
        "native": native,
    }


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
        raise click.BadParameter(f"{text!r} is no dimension; write it as NAME=5")
    return name, int(size)
