"""The kernels of a model, each with what a run gives it and what it must return.

The run is that of the graph before it is lowered, by the NumPy rules of its operators: expected
results owe nothing to lowering and code generation.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.core import IRKitError, IRModule
from irkit.graph import (
    Array,
    Constant,
    GraphFunc,
    Invoke,
    Prefix,
    Result,
    Tuple,
    TupleGet,
    arrays_of,
    intermediates,
)
from irkit.ir import Buffer, PrimFunc, numpy_dtype, parse, script


class KernelCase(msgspec.Struct, frozen=True):
    """A kernel, as its IR text, with arrays by the names of its parameters in that text."""

    name: str
    text: str
    inputs: dict[str, NDArray[Any]]
    outputs: dict[str, NDArray[Any]]


def kernel_cases(modules: Sequence[IRModule], feeds: Mapping[str, Array]) -> Iterator[KernelCase]:
    """Yield each kernel of a model, on the data of its first call.

    ``modules`` are the model after each graph pass; the last one calls kernels, and the run is that
    of the last one before those were made. ``feeds`` are the inputs by the names of the
    parameters of ``main``. Raises: IRKitError for a step without a kernel.
    """
    lowered = modules[-1]
    main = _main(lowered)
    kernels = {bind.step.function for bind in main.body.bindings if isinstance(bind.step, Invoke)}
    made = kernels - modules[0].functions.keys()
    unlowered = [each for each in modules if not made & each.functions.keys()]
    values = _values(unlowered[-1], feeds)
    seen: set[str] = set()
    for bind in main.body.bindings:
        match bind.step:
            case Invoke(name, args):
                if name not in seen:
                    given = [array for arg in args for array in arrays_of(values[arg.name])]
                    yield _case(name, lowered[name], given, values[bind.var.name])
                seen.add(name)
            case Constant(data):
                values[bind.var.name] = data.array
            case Tuple(items):
                values[bind.var.name] = tuple(values[item.name] for item in items)
            case Prefix():
                pass  # A part of what it was taken from, computed already.
            case TupleGet(value, index):
                whole = values[value.name]
                assert isinstance(whole, tuple)
                values[bind.var.name] = whole[index]
            case step:
                raise IRKitError(
                    f"{type(step).__name__} {bind.var.name!r} has no kernel", span=bind.span
                )


def _values(module: IRModule, feeds: Mapping[str, Array]) -> dict[str, Result]:
    """Run a graph and return every value of ``main`` by name."""
    main = _main(module)
    names = [bind.var.name for bind in main.body.bindings]
    with np.errstate(all="ignore"):
        return {**feeds, **intermediates(module, feeds, names)}


def _main(module: IRModule) -> GraphFunc:
    main = module["main"]
    assert isinstance(main, GraphFunc)
    return main


def _case(name: str, func: object, given: Sequence[Array], result: Result) -> KernelCase:
    assert isinstance(func, PrimFunc)
    text = script(func)
    params = params_of(text)
    inputs = dict(zip(params, given, strict=False))
    results = list(arrays_of(result))
    outputs = dict(zip(list(params)[len(given) :], results, strict=True))
    return KernelCase(name, text, _typed(params, inputs), _typed(params, outputs))


def params_of(text: str) -> dict[str, Buffer]:
    """Return the parameters of a kernel by name.

    Raises: IRKitError if one is not an array, or two have one name.
    """
    func = parse(text)
    found = {param.name: param for param in func.params if isinstance(param, Buffer)}
    if len(found) != len(func.params):
        raise IRKitError(f"the parameters of {func.name!r} must be arrays of different names")
    return found


def _typed(params: Mapping[str, Buffer], arrays: Mapping[str, Array]) -> dict[str, NDArray[Any]]:
    return {
        name: np.ascontiguousarray(array, numpy_dtype(params[name].dtype)).reshape(array.shape)
        for name, array in arrays.items()
    }
