"""The verb run of the ``irkit`` command."""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, cast

import click
import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from irkit.cli.flags.files import FILE, NEW_FILE
from irkit.cli.flags.fixed_inputs import VALUE, values_of
from irkit.cli.flags.flag_values import as_value
from irkit.cli.flags.model_inputs import INPUT, given_inputs, random_inputs
from irkit.codegen import TensorSpec, evaluate_sizes
from irkit.core import InputError, IRKitError, atomic_write
from irkit.ir import array_type
from irkit.runtime import (
    Cache,
    DeferredModel,
    LibraryModel,
    Model,
    ModelProfile,
    load,
    load_library,
    write_arrays,
)

_LIBRARIES = (b"\x7fELF", b"\xcf\xfa\xed\xfe")
"""How shared libraries begin, on Linux and on macOS."""


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
@INPUT
@VALUE
@click.option(
    "--random",
    is_flag=True,
    help="Make up the inputs that are not given: floats from 0 to 1, integers 0.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of --random.")
@click.option("-o", "--output", type=NEW_FILE, help="Save outputs as .npz.")
@click.option("--name", default="", help="Prefix of a library, if not that of its file.")
@as_value("profiling", _ProfileFlags, _PROFILE_OPTIONS)
def run(
    package: str,
    inputs: tuple[str, ...],
    values: tuple[str, ...],
    random: bool,
    seed: int,
    output: str | None,
    name: str,
    profiling: _ProfileFlags,
) -> None:
    """Run the PACKAGE, or the library of a model, on given or random inputs.

    A package, like a library, is machine code that this process runs. Trust it as you would a
    wheel: open only those whose origin you know.

    \b
      irkit run resnet.irkit --input data_0=image.npy -o outputs.npz
      irkit run resnet.irkit --random --profile
      irkit run upscale.irkit --random --value sizes=1,3,448,448
      irkit run libresnet.so --random
    """
    model = _opened(package, name)
    if isinstance(model, LibraryModel) and profiling.is_wanted:
        raise IRKitError(
            "the kernels of a library cannot be measured apart",
            hint="Compile the model to a package for a profile.",
        )
    declared = {spec.name: spec for spec in _declared(model)}
    feeds = given_inputs(inputs)
    for title, value in values_of(values).items():
        feeds[title] = _as_declared(value, declared.get(title))
    if random:
        known = () if isinstance(model, LibraryModel) else model.specialisations[:1]
        held = [each.values for each in known]
        made_up = random_inputs(declared.values(), seed)
        feeds = made_up | dict(held[0] if held else {}) | feeds
    given = _with_caches(model, feeds)
    started = time.perf_counter()
    try:
        outputs = model.run(given)
    except InputError as error:
        hint = "Give it with --input NAME=FILE.npy; --random makes up what is missing."
        raise InputError(error.message, hint=hint) from None
    seconds = time.perf_counter() - started
    if output is not None:
        write_arrays(output, outputs)
    for title, array in outputs.items():
        click.echo(f"{title}: {array.dtype}{list(array.shape)} {_range(array)}".rstrip())
    click.echo(f"ran in {seconds * 1e3:.2f} ms")
    if profiling.is_wanted and not isinstance(model, LibraryModel):
        again = _with_caches(model, feeds)
        profiling.write(model.profile(again, runs=profiling.profile_runs))


def _opened(file: str, name: str) -> Model | LibraryModel:
    """Load a package, or a library, which is known by its first bytes."""
    with open(file, "rb") as opened:
        is_library = opened.read(4) in _LIBRARIES
    if is_library:
        return load_library(file, name=name)
    if name:
        raise IRKitError("--name is for the library of a model, and this is a package")
    return load(file)


def _with_caches(model: Model | LibraryModel, feeds: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs with those that grow in a cache: rows that were given, and room for more."""
    found = dict(feeds)
    if isinstance(model, DeferredModel):
        return found
    for pair in model.state:
        spec = model.inputs[pair.param]
        given = found.get(spec.name)
        if pair.capacity and isinstance(given, np.ndarray) and given.ndim == len(spec.shape):
            rows = cast("NDArray[Any]", given)
            length = rows.shape[pair.axis]
            room = [*rows.shape]
            room[pair.axis] = max(pair.capacity, length)
            whole = np.zeros(room, rows.dtype)
            whole[(slice(None),) * pair.axis + (slice(0, length),)] = rows
            found[spec.name] = Cache(whole, length)
    return found


def _declared(model: Model | LibraryModel) -> list[TensorSpec]:
    """Return the inputs; a shape that is open is that of the first specialisation, and a dimension
    with a name has its least size, but 1 at least."""
    if isinstance(model, LibraryModel):
        least = {name: min(max(low, 1), high) for name, (low, high) in model.dims.items()}
        return [spec.at_sizes(least) for spec in model.inputs]
    if not isinstance(model, DeferredModel):
        sizes = {dim.name: min(max(dim.least, 1), dim.most) for dim in model.plan.dims}
        known = evaluate_sizes(model.plan.sizes, sizes)
        return [spec.at_sizes(known) for spec in model.plan.inputs]
    held = model.specialisations[0] if model.specialisations else None
    shapes = {} if held is None else {**held.shapes, **{n: v.shape for n, v in held.values.items()}}
    return [
        TensorSpec(each.name, tuple(shapes.get(each.name, each.dims or ())), each.dtype)
        for each in model.open_inputs
    ]


def _as_declared(value: ArrayLike, spec: TensorSpec | None) -> NDArray[Any]:
    """Return numbers of Python as an array of the type of an input."""
    if spec is None or isinstance(value, np.ndarray):
        return np.asarray(value)
    array = np.asarray(value, array_type(spec.dtype))
    return array.reshape(1) if array.ndim == 0 and len(spec.shape) == 1 else array


def _range(array: NDArray[Any]) -> str:
    if array.size == 0 or array.dtype == np.bool_:
        return ""
    return f"from {float(array.min()):.6g} to {float(array.max()):.6g}"
