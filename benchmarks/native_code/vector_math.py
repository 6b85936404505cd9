"""Functions of f32 over 65,536 elements, one thread: nanoseconds an element, against NumPy and, if
it is installed, torch."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

import irkit
from benchmarks.timing import paired
from irkit import te

SIZE = 65_536
NAMES = (
    "exp", "exp2", "expm1", "sigmoid", "tanh", "erf", "log", "log2", "log10", "log1p", "sin",
    "cos", "tan", "sqrt", "rsqrt", "pow", "sinh", "cosh", "asinh", "atan",
)  # fmt: skip
_NUMPY = {"pow": "power", "asinh": "arcsinh", "atan": "arctan"}
Thunk = Callable[[], object]


def _operands(name: str) -> list[Any]:
    """Return random numbers in the domain of every function."""
    rng = np.random.default_rng(0)
    x = rng.random(SIZE, dtype=np.float32) * 8 + np.float32(0.01)
    y = rng.random(SIZE, dtype=np.float32) * 4 - 2
    return [x, y] if name == "pow" else [x]


def _ours(name: str, operands: list[Any]) -> Thunk:
    places = [te.placeholder((SIZE,), name=f"x{n}") for n in range(len(operands))]
    result: te.Tensor = getattr(te, name)(*places)
    kernel = irkit.build(te.create_prim_func([*places, result]), target="llvm", name=name)
    out = np.empty(SIZE, np.float32)
    return lambda: kernel(*operands, out)


def _numpy(name: str, operands: list[Any]) -> Thunk | None:
    function: Any = getattr(np, _NUMPY.get(name, name), None)
    out = np.empty(SIZE, np.float32)
    return None if function is None else lambda: function(*operands, out=out)


def _torch(name: str, operands: list[Any]) -> Thunk | None:
    if find_spec("torch") is None:
        return None
    torch: Any = import_module("torch")
    torch.set_num_threads(1)
    tensors, out = [torch.from_numpy(x) for x in operands], torch.empty(SIZE)
    function = getattr(torch, name)
    return lambda: function(*tensors, out=out)


def measure(name: str) -> str:
    """Compare one function with each peer that has it."""
    operands = _operands(name)
    ours, seconds = _ours(name, operands), 0.0
    ratios: list[str] = []
    for label, peer in (("NumPy", _numpy(name, operands)), ("torch", _torch(name, operands))):
        if peer is not None:
            seconds, other, ratio = paired(ours, peer, repeats=100)
            ratios.append(f"{label} {other / SIZE * 1e9:.3f}, ratio {ratio:.2f}")
    return f"{name}: {seconds / SIZE * 1e9:.3f} ns an element; {'; '.join(ratios)}"


def main() -> None:
    """Print a line for each function."""
    for name in NAMES:
        print(measure(name))


if __name__ == "__main__":
    main()
