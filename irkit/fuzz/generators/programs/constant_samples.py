"""Samples whose values are made of constants only, which constant folding computes: each operation
and function on constants at the edges of their types."""

from math import inf, nan

import numpy as np

from irkit import te
from irkit.debug import InputSet
from irkit.fuzz.generators.features import features_of
from irkit.fuzz.generators.functions import ON_FLOATS, ON_INTEGERS
from irkit.fuzz.generators.programs.function_samples import tolerance_of_function
from irkit.fuzz.generators.sample import Sample, Tolerance
from irkit.fuzz.picks import Picks
from irkit.ir import (
    INTRINSICS,
    OPERATIONS,
    Binary,
    Const,
    DType,
    Expr,
    as_dtype,
    binary,
    call,
    cast,
    if_then_else,
    numpy_dtype,
    select,
)
from irkit.phases import DEFAULT

_DTYPES = (
    *("i32", "f32", "i64", "bool", "u8", "f64", "f16", "i8", "i16", "u16", "u32", "u64", "bf16"),
)
_MOST_RESULTS = 12
_FLOATS = (
    *(0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 1.5, 2.5, 3.0, -7.0, 0.1, -0.3, 100.25),
    *(1 + 2.0**-11 + 2.0**-40, 1 + 3 * 2.0**-11 - 2.0**-40, 1 + 2.0**-8 + 2.0**-40),
    *(1e-3, 255.0, 65504.0, 1e-7, -1e-45, 3e9, -1e19, inf, -inf, nan),
)


def draw_constants(picks: Picks) -> Sample:
    """Draw up to 12 results, each one element computed from constants, or a chain of two."""
    results = [_result(picks, at) for at in range(1 + picks.below(_MOST_RESULTS))]
    func = te.create_prim_func([tensor for tensor, _ in results])
    # What is in the results before the call must not matter.
    tensors = [tensor for tensor, _ in results]
    filled = tuple(np.zeros((1,), numpy_dtype(as_dtype(tensor.dtype))) for tensor in tensors)
    expected = tuple(te.evaluate(tensors, {}))
    allowed: tuple[Tolerance, ...] = tuple(
        tolerance_of_function(array, name, as_dtype(tensor.dtype)) if name else None
        for array, (tensor, name) in zip(expected, results, strict=True)
    )
    return Sample(
        "programs",
        func,
        DEFAULT,
        inputs=(InputSet("constants", "given", filled),),
        expected=(expected,),
        allowed=(allowed,),
        features=(*features_of(func), "rung:constants"),
    )


def _result(picks: Picks, at: int) -> tuple[te.Tensor, str]:
    """Return a tensor of one element, and the function that it is the result of, if one."""
    value, name = _value(picks)
    if not name and picks.one_in(3):
        value = _joined(picks, value, _constant(picks, value.dtype))
    made = te.compute((1,), lambda i: value, name=f"S{at}")
    assert isinstance(made, te.Tensor)
    return made, name


def _value(picks: Picks) -> tuple[Expr, str]:
    dtype = as_dtype(picks.pick(_DTYPES))
    form = picks.below(8)
    if form < 4:
        return _joined(picks, _constant(picks, dtype), _constant(picks, dtype)), ""
    if form == 4:
        return cast(_constant(picks, dtype), picks.pick(_DTYPES)), ""
    if form == 5:
        cond = _constant(picks, as_dtype("bool"))
        make = picks.pick((select, if_then_else))
        return make(cond, _constant(picks, dtype), _constant(picks, dtype)), ""
    if form == 6 and not dtype.is_bool:
        return -_constant(picks, dtype), ""
    names = ON_FLOATS if dtype.is_float else ON_INTEGERS
    if dtype.is_bool or not names:
        return _joined(picks, _constant(picks, dtype), _constant(picks, dtype)), ""
    name = picks.pick(names)
    args = [_constant(picks, dtype) for _ in range(INTRINSICS[name].arity)]
    return call(name, *args), name


def _joined(picks: Picks, a: Expr, b: Expr) -> Expr:
    kind = "bool" if a.dtype.is_bool else "f" if a.dtype.is_float else "i"
    among: list[type[Binary]] = [cls for cls, row in OPERATIONS.items() if kind in row.kinds]
    return binary(picks.pick(among), a, b)


def _constant(picks: Picks, dtype: DType) -> Expr:
    if dtype.is_bool:
        return Const(bool(picks.below(2)), dtype)
    if dtype.is_float:
        with np.errstate(all="ignore"):
            value = np.asarray(picks.pick(_FLOATS)).astype(numpy_dtype(dtype))
        return Const(float(value), dtype)
    edges = (0, 1, -1, 2, 3, -2, 5, -7, 8, dtype.low, dtype.high, dtype.low + 1, dtype.bits)
    powers = (1 << picks.below(dtype.bits), -(1 << picks.below(dtype.bits)))
    fitting = [n for n in (*edges, *powers) if dtype.low <= n <= dtype.high]
    return Const(picks.pick(fitting), dtype)
