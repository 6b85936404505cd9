"""Inputs of a model: ``--input``, and random numbers; and the model on its way to kernels."""

from collections.abc import Iterable, Mapping
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from irkit.codegen import TensorSpec, complete_target
from irkit.core import DTypeError, InputError, IRKitError, IRModule, ShapeError, as_target
from irkit.graph import Array, GraphFunc
from irkit.ir import array_type, bits_of
from irkit.phases import GRAPH, for_target, input_specs
from irkit.runtime import named_type
from irkit.transform import Pipeline

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


def feeds_of(main: GraphFunc, given: Mapping[str, NDArray[Any]], seed: int) -> dict[str, Array]:
    """Return the inputs by the names of parameters, which may differ from those in the model; what
    is not given is made up.

    Raises: InputError, DTypeError, ShapeError for what is given and does not fit.
    """
    specs = input_specs(main)
    arrays = random_inputs(specs, seed) | dict(given)
    listed = ", ".join(spec.name for spec in specs) or "none"
    for name in given:
        if name not in {spec.name for spec in specs}:
            raise InputError(f"{name!r} is not an input; the inputs are: {listed}")
    for spec in specs:
        found, wanted = arrays[spec.name], array_type(spec.dtype)
        if found.dtype != wanted:
            raise DTypeError(f"input {spec.name!r} must be of type {wanted}, found {found.dtype}")
        if found.shape != spec.shape:
            raise ShapeError(
                f"input {spec.name!r} must have shape {spec.shape}, found {found.shape}"
            )
    return {p.name: bits_of(arrays[spec.name]) for p, spec in zip(main.params, specs, strict=True)}


def graph_stages(module: IRModule, pipeline: Pipeline | None = None) -> list[IRModule]:
    """Return a model after each graph pass, by default of irkit's own."""
    found = [module]
    passes = pipeline or for_target(GRAPH, complete_target(as_target("llvm")))
    for step in passes.steps(module):
        made = step.applied_to(found[-1])
        assert isinstance(made, IRModule)
        found.append(made)
    return found
