"""Samples that call operators of topi, as users do who write tensor expressions; NumPy computes the
expected results, bit for bit."""

import numpy as np

from irkit import te
from irkit.autoschedule import Machine, auto_schedule
from irkit.core import IRKitError
from irkit.debug import InputSet, lay_out
from irkit.fuzz.generators.features import features_of
from irkit.fuzz.generators.operators.pointwise import Found, Operand, Operands, is_small
from irkit.fuzz.generators.operators.structured import OPERATORS
from irkit.fuzz.generators.sample import Array, Sample, Unusable
from irkit.fuzz.picks import Picks
from irkit.ir import Buffer, Var, numpy_dtype
from irkit.phases import DEFAULT

_MOST_OPERATORS = 3
_TRIES = 8
# Operators that no operator of a graph uses are drawn more often.
_ALONE = (
    *("floor_divide", "operators", "clip", "square", "add_all", "leaky_relu", "matmul", "dense"),
    *("gemm", "flatten", "split", "gather", "take", "global_avg_pool", "global_max_pool"),
    *("batch_norm", "strided_slice", "conv", "pad", "argmax", "argmin"),
)
_NAMES = (*_ALONE, *OPERATORS)


def draw_operators(picks: Picks, *, scheduled: bool = True) -> Sample:
    """Draw up to 3 operators; where they can be ``scheduled``, half of them with the schedule that
    kernels get.

    Raises: Unusable where nothing fits; what topi raises where it refuses what is legal.
    """
    symbol = te.var("n") if picks.one_in(4) else None
    o = Operands(picks, symbol, picks.pick((3, 2, 5)))
    wanted, names = 1 + picks.below(_MOST_OPERATORS), dict[str, None]()
    for _ in range(_TRIES):
        if len(names) < wanted:
            name = picks.pick(_NAMES)
            if _apply(o, name):
                names[name] = None
    results = [each for each in o.held if each not in o.inputs]
    if not results:
        raise Unusable("no operator fitted")
    tensors = [*o.inputs, *results]
    func = te.create_prim_func([each.tensor for each in tensors])
    known: dict[Var, int] = {} if symbol is None else {symbol: o.size}
    args = tuple(
        lay_out(param, each.array if each in o.inputs else np.ones_like(each.array), known)
        for param, each in zip(func.params, tensors, strict=True)
        if isinstance(param, Buffer)
    )
    if scheduled and picks.below(2):
        func = auto_schedule(func, Machine.with_vectors(picks.pick((16, 32, 64))))
    return Sample(
        "programs",
        func,
        DEFAULT,
        inputs=(InputSet("whole", "whole numbers", args),),
        expected=(tuple(each.array for each in results),),
        allowed=((None,) * len(results),),
        features=(*features_of(func), *(f"topi:{name}" for name in names), "rung:whole operators"),
    )


def _apply(o: Operands, name: str) -> bool:
    """Apply an operator; return False if it does not fit. Symbolic extents may be refused, nothing
    else."""
    inputs, held = list(o.inputs), list(o.held)
    try:
        found = OPERATORS[name](o)
    except IRKitError:
        if o.symbol is None:
            raise
        found = None
    several: list[Found] = [found] if isinstance(found, tuple) else found or []
    made = [Operand(tensor, _typed(tensor, array)) for tensor, array in several]
    if not made or not all(is_small(array) for _, array in several):
        o.inputs, o.held = inputs, held
        return False
    o.held += made
    return True


def _typed(tensor: te.Tensor, array: Array) -> Array:
    """Cast numbers to the type of a tensor; integers wrap around."""
    made = np.asarray(array).astype(numpy_dtype(tensor.dtype))
    assert made.ndim == tensor.ndim, f"{tensor} against {made.shape}"
    return made.copy()
