"""The code of an instruction against its meaning, on this machine."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.codegen import host_target
from irkit.core import IRKitError, Target
from irkit.ir import (
    I64,
    Buffer,
    Const,
    DType,
    Expr,
    Instruction,
    Load,
    PrimFunc,
    Store,
    find_instruction,
    interpret,
    numpy_dtype,
    ramp,
)
from irkit.runtime import build_kernels

_FRACTION_BITS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}


def check_instruction(instruction: Instruction, *, draws: int = 300, seed: int = 0) -> str | None:
    """Run the code of an instruction and its meaning on edges of its types and on random bits;
    return the first difference, or None. Any NaN equals any other.

    Raises: IRKitError if it is not defined, or this machine lacks it.
    """
    host = host_target()
    if find_instruction(instruction.name) is not instruction:
        raise IRKitError(
            f"{instruction.name!r} is not defined", hint="Call define_instruction with it first."
        )
    if not instruction.is_native(host.triple, host.features):
        raise IRKitError(f"this machine lacks the instruction {instruction.name!r}")
    func = as_function(instruction)
    kernel = build_kernels([func], Target("llvm"))[0]
    random = np.random.default_rng(seed)
    for _ in range(draws):
        given = [_drawn(random, dtype) for dtype in (*instruction.types, instruction.dtype)]
        native, meant = [each.copy() for each in given], [each.copy() for each in given]
        kernel(*native)
        interpret(instruction.meaning, *meant)
        lanes = np.flatnonzero(_differ(native[-1], meant[-1]))
        if len(lanes):
            lane = int(lanes[0])
            return (
                f"{instruction.name} computes {native[-1][lane]} in lane {lane}, and its meaning "
                f"{meant[-1][lane]}, of {', '.join(str(each.tolist()) for each in given[:-1])}"
            )
    return None


def as_function(instruction: Instruction) -> PrimFunc:
    """Return a function that only calls an instruction, with the parameters of its meaning."""
    params = [param.copy() for param in instruction.meaning.params if isinstance(param, Buffer)]
    lanes = [*instruction.types, instruction.dtype]
    places = [_lanes(dtype) for dtype in lanes]
    loads = [
        Load(param, (place,), None, dtype)
        for param, place, dtype in zip(params[:-1], places, lanes, strict=False)
    ]
    store = Store(params[-1], (places[-1],), instruction(*loads))
    return PrimFunc(instruction.name, tuple(params), store)


def _lanes(dtype: DType) -> Expr:
    return ramp(Const(0, I64), 1, dtype.lanes)


def _drawn(random: np.random.Generator, dtype: DType) -> NDArray[Any]:
    """Draw lanes: random bits, or edges of the type, or both by turns; and all of them, or a few
    among zeros, which show in a long sum what each of its terms does."""
    kind = numpy_dtype(dtype)
    bits = np.frombuffer(random.bytes(dtype.lanes * kind.itemsize), kind)
    edges = _edges(dtype.element)
    taken = edges[random.integers(0, len(edges), dtype.lanes)]
    found = np.where(random.random(dtype.lanes) < random.choice([0.0, 0.5, 1.0]), bits, taken)
    kept = random.random(dtype.lanes) < random.choice([1.0, 0.25, 1 / 16])
    return np.where(kept, found, np.zeros(1, kind))


def _edges(dtype: DType) -> NDArray[Any]:
    if not dtype.is_float:
        low, high = dtype.low, dtype.high
        near = [low, low + 1, 0, 1, high - 1, high, *([-1] if low < 0 else [])]
        return np.array(near, numpy_dtype(dtype))
    # Zero, the denormals at both ends, the least normal number, 1 and its neighbour, the largest
    # number, infinity, NaN; and the negative ones.
    fraction, width = _FRACTION_BITS[str(dtype)], dtype.bits
    one = ((1 << (width - 2 - fraction)) - 1) << fraction
    infinity = ((1 << (width - 1 - fraction)) - 1) << fraction
    least = 1 << fraction
    sizes = [0, 1, least - 1, least, one, one + 1, infinity - 1, infinity, infinity + least // 2]
    found = np.array([each | sign << (width - 1) for sign in (0, 1) for each in sizes])
    return found.astype(f"u{dtype.bytes}").view(numpy_dtype(dtype))


def _differ(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(invalid="ignore"):
        return (a != b) & ~((a != a) & (b != b))
