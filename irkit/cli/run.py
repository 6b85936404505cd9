"""The verb run of the ``irkit`` command."""

import time
import zipfile
from contextlib import ExitStack
from typing import Any

import click
import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.cli.flags.files import FILE, NEW_FILE
from irkit.cli.flags.flag_values import as_value
from irkit.codegen import TensorSpec
from irkit.core import InputError, IRKitError, atomic_write
from irkit.ir import as_dtype, numpy_dtype
from irkit.runtime import ModelProfile, load


class _ProfileFlags(msgspec.Struct, frozen=True):
    """Values of the options that measure each kernel."""

    profile: bool = False
    profile_json: str | None = None
    profile_trace: str | None = None
    profile_runs: int = 10

    @property
    def is_wanted(self) -> bool:
        """Return True if any option asks for a profile."""
        return self.profile or self.profile_json is not None or self.profile_trace is not None

    def write(self, profile: ModelProfile) -> None:
        """Print the table and write the files that the options ask for."""
        with ExitStack() as files:  # Both files appear at the end, or neither.
            if self.profile_json is not None:
                file = files.enter_context(atomic_write(self.profile_json))
                file.write_bytes(profile.to_json() + b"\n")
            if self.profile_trace is not None:
                file = files.enter_context(atomic_write(self.profile_trace))
                file.write_bytes(profile.chrome_trace())
        if self.profile:
            click.echo(profile)


_PROFILE_OPTIONS = (
    click.option(
        "--profile",
        is_flag=True,
        help="Print a table of kernels: time, GFLOP/s, GB/s, and the operators in each.",
    ),
    click.option(
        "--profile-json",
        type=NEW_FILE,
        metavar="FILE",
        help="Write it as JSON, with every run.",
    ),
    click.option(
        "--profile-trace",
        type=NEW_FILE,
        metavar="FILE",
        help="Write the runs as a timeline for chrome://tracing or Perfetto.",
    ),
    click.option(
        "--profile-runs",
        type=click.IntRange(1),
        default=10,
        show_default=True,
        help="Runs to measure, of which the table shows the median.",
    ),
)


@click.command("run")
@click.argument("package", type=FILE)
@click.option(
    "--input", "inputs", multiple=True, metavar="NAME=FILE.npy", help="Give an input. Repeatable."
)
@click.option(
    "--random",
    is_flag=True,
    help="Make up the inputs that are not given: floats from 0 to 1, integers 0.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of --random.")
@click.option("-o", "--output", type=NEW_FILE, help="Save outputs as .npz.")
@as_value("profiling", _ProfileFlags, _PROFILE_OPTIONS)
def run(
    package: str,
    inputs: tuple[str, ...],
    random: bool,
    seed: int,
    output: str | None,
    profiling: _ProfileFlags,
) -> None:
    """Run the PACKAGE on given or random inputs.

    \b
      irkit run resnet.irkit --input data_0=image.npy -o outputs.npz
      irkit run resnet.irkit --random --profile
    """
    model = load(package)
    feeds = _feeds(inputs)
    if random:
        rng = np.random.default_rng(abs(seed))
        feeds = {spec.name: _made_up(spec, rng) for spec in model.plan.inputs} | feeds
    started = time.perf_counter()
    try:
        outputs = model.run(feeds)
    except InputError as error:
        hint = "Give it with --input NAME=FILE.npy; --random makes up what is missing."
        raise InputError(error.message, hint=hint) from None
    seconds = time.perf_counter() - started
    if output is not None:
        _save_arrays(output, outputs)
    for name, array in outputs.items():
        click.echo(f"{name}: {array.dtype}{list(array.shape)} {_range(array)}".rstrip())
    click.echo(f"ran in {seconds * 1e3:.2f} ms")
    if profiling.is_wanted:
        profiling.write(model.profile(feeds, runs=profiling.profile_runs))


def _feeds(texts: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    for text in texts:
        name, _, path = text.rpartition("=")
        if not name or not path:
            raise click.BadParameter(
                f"{text!r} does not name an input and a file; write it as NAME=FILE.npy",
                param_hint="'--input'",
            )
        if name in found:
            raise click.BadParameter(f"{name!r} is given twice", param_hint="'--input'")
        found[name] = _array(name, path)
    return found


def _array(name: str, path: str) -> NDArray[Any]:
    try:
        with open(path, "rb") as file:
            array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise IRKitError(f"input {name!r}: cannot read {path!r}: {error.strerror}") from None
    except (ValueError, EOFError, OverflowError, MemoryError, TypeError) as error:
        raise IRKitError(
            f"input {name!r}: {path!r} is not an .npy file of numbers: {error}",
            hint="numpy.save writes one.",
        ) from None
    # numpy.save writes a type that it does not know, such as bf16, as bytes without a name.
    return array.view(numpy_dtype(as_dtype("bf16"))) if array.dtype == np.dtype("V2") else array


def _made_up(spec: TensorSpec, rng: np.random.Generator) -> NDArray[Any]:
    dtype = as_dtype(spec.dtype)
    if dtype.is_float:
        return rng.random(spec.shape).astype(numpy_dtype(dtype))
    return np.zeros(spec.shape, numpy_dtype(dtype))


def _save_arrays(path: str, arrays: dict[str, NDArray[Any]]) -> None:
    """Write an .npz file; numpy.savez does not accept every name."""
    with atomic_write(path) as made, zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def _range(array: NDArray[Any]) -> str:
    if array.size == 0 or array.dtype == np.bool_:
        return ""
    return f"from {float(array.min()):.6g} to {float(array.max()):.6g}"
