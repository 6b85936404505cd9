"""Native code of a kernel, compared with the results that are expected."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import any_node
from irkit.debug.check.difference import compare, is_float
from irkit.debug.split.kernel_cases import params_of
from irkit.ir import Cast, PrimFunc, parse, work_of
from irkit.runtime import named_type

Build = Callable[[PrimFunc], Callable[..., object]]
KERNEL, INPUTS, OUTPUTS = "kernel.irs", "inputs.npz", "outputs.npz"
# Of the largest number of an output, for functions that are not exact; and half a unit.
LEAST = {"float64": 1e-12, "float32": 1e-5, "float16": 5e-3, "bfloat16": 4e-2}
ROUNDING = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}


def check_kernel(folder: Path, build: Build) -> None:
    """Compile the kernel of a folder, run it on its inputs, and compare with the expected outputs.

    ``build`` compiles, as ``irkit.build`` does. A float may differ by 1e-5 of the largest number of
    the output (f64 1e-12, f16 5e-3, bf16 4e-2), or by as many roundings as a sum has terms where
    that is more; an integer that is rounded from floats by 1, any other not at all.
    Raises: AssertionError with the first wrong element.
    """
    text = (folder / KERNEL).read_text(encoding="utf-8")
    problems = list(differences(text, _arrays(folder / INPUTS), _arrays(folder / OUTPUTS), build))
    assert not problems, "\n".join(f"{folder / KERNEL}: {problem}" for problem in problems)


def differences(
    text: str,
    inputs: dict[str, NDArray[Any]],
    outputs: dict[str, NDArray[Any]],
    build: Build,
) -> Iterator[str]:
    """Yield how the outputs of a kernel differ from what is expected, one text an output."""
    func, params = parse(text), params_of(text)
    given = {**inputs, **outputs}
    found = {name: np.zeros_like(given[name]) for name in outputs}
    build(func)(*[found.get(name, given[name]) for name in params])
    rounds, work = any_node(func.body, Cast, _rounds), work_of(func)
    size = sum([array.size for array in outputs.values()])
    # Each term of a sum is multiplied and added.
    terms = 1.0 if work is None or not size else max(1.0, work.flops / size / 2)
    for name, array in found.items():
        allowed = _allowed(given[name], rounds, terms)
        error = compare(given[name], array, allowed, zeros_have_signs=False)
        if error.at is not None:
            at = ", ".join(map(str, error.at))
            yield (
                f"{name}[{at}] = {error.found}, expected {error.expected}; "
                f"{error.wrong} of {array.size} elements are wrong"
            )


def _rounds(node: Cast) -> bool:
    """Return True for a conversion of a float to an integer, which may round to either side."""
    return node.value.dtype.is_float and node.dtype.is_integer


def _allowed(expected: NDArray[Any], rounds: bool, terms: float) -> NDArray[Any] | None:
    """Return how far each element may be from the expected one."""
    if not is_float(expected):
        return np.ones(expected.shape) if rounds and expected.dtype.kind in "iu" else None
    wide = expected.astype(np.float64)
    largest = float(np.max(np.abs(wide), initial=0.0, where=np.isfinite(wide)))
    # Roundings of 16 bits are seldom all to one side; their sum would allow anything.
    count = terms if expected.dtype.itemsize > 2 else 2 * math.sqrt(terms)
    kind = expected.dtype.name
    return np.full(expected.shape, largest * max(LEAST[kind], count * ROUNDING[kind]))


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    with np.load(path, allow_pickle=False) as file:
        return {name: named_type(file[name]) for name in file.files}
