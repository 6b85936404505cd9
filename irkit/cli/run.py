"""The verb run of the ``irkit`` command."""

import time
import zipfile
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from irkit.cli.flags.files import FILE, NEW_FILE
from irkit.codegen import TensorSpec
from irkit.core import InputError, IRKitError, atomic_write
from irkit.ir import as_dtype, numpy_dtype
from irkit.runtime import load


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
def run(package: str, inputs: tuple[str, ...], random: bool, seed: int, output: str | None) -> None:
    """Run the PACKAGE on given or random inputs.

    \b
      irkit run resnet.irkit --input data_0=image.npy -o outputs.npz
      irkit run resnet.irkit --random
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
