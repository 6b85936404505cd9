"""Inputs of a model: ``--input``, and random numbers."""

from collections.abc import Iterable
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from irkit.codegen import TensorSpec
from irkit.core import IRKitError
from irkit.ir import array_type
from irkit.runtime import named_type

INPUT = click.option(
    "--input", "inputs", multiple=True, metavar="NAME=FILE.npy", help="Give an input. Repeatable."
)


def given_inputs(texts: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Read the arrays that ``--input`` names.

    Raises: BadParameter; IRKitError for a file that cannot be read.
    """
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
        found[name] = read_npy(name, path)
    return found


def read_npy(name: str, path: str) -> NDArray[Any]:
    """Read the array of an input from an .npy file.

    Raises: IRKitError.
    """
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
    return named_type(array)


def random_inputs(specs: Iterable[TensorSpec], seed: int) -> dict[str, NDArray[Any]]:
    """Make up inputs: floats from 0 to 1, integers 0; the same seed gives the same numbers."""
    rng = np.random.default_rng(abs(seed))
    return {spec.name: _made_up(spec, rng) for spec in specs}


def _made_up(spec: TensorSpec, rng: np.random.Generator) -> NDArray[Any]:
    if spec.dtype.startswith(("f", "bf")):
        return rng.random(spec.extents).astype(array_type(spec.dtype))
    return np.zeros(spec.extents, array_type(spec.dtype))
