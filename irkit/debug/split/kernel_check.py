"""Native code of a kernel, compared with the results that are expected."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import any_node
from irkit.debug.check.difference import compare, is_float
from irkit.debug.split.kernel_cases import params_of
from irkit.ir import Cast, PrimFunc, parse
from irkit.runtime import named_type

Build = Callable[[PrimFunc], Callable[..., object]]
KERNEL, INPUTS, OUTPUTS = "kernel.irs", "inputs.npz", "outputs.npz"
TOLERANCE = {8: 1e-12, 4: 1e-5}
TOLERANCE_OF_16_BITS = {"float16": 5e-3, "bfloat16": 4e-2}


def check_kernel(folder: Path, build: Build) -> None:
    """Compile the kernel of a folder, run it on its inputs, and compare with the expected outputs.

    ``build`` compiles, as ``irkit.build`` does. A float may differ by 1e-5 of the largest number of
    the output (f64 1e-12, f16 5e-3, bf16 4e-2), an integer that is rounded from floats by 1, any
    other not at all. Raises: AssertionError with the first wrong element.
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
    rounds = any_node(func.body, Cast, _rounds)
    for name, array in found.items():
        allowed = _allowed(given[name], rounds)
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


def _allowed(expected: NDArray[Any], rounds: bool) -> NDArray[Any] | None:
    """Return how far each element may be from the expected one."""
    if not is_float(expected):
        return np.ones(expected.shape) if rounds and expected.dtype.kind in "iu" else None
    wide = expected.astype(np.float64)
    largest = float(np.max(np.abs(wide), initial=0.0, where=np.isfinite(wide)))
    share = TOLERANCE_OF_16_BITS.get(expected.dtype.name) or TOLERANCE[expected.dtype.itemsize]
    return np.full(expected.shape, share * largest)


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    with np.load(path, allow_pickle=False) as file:
        return {name: named_type(file[name]) for name in file.files}
