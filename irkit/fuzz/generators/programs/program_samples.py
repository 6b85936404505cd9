"""Samples that are programs: stages with arguments and NumPy's results, and loop functions."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irkit import te
from irkit.core import IRKitError, any_node, rewrite
from irkit.debug import InputSet
from irkit.fuzz.generators.arguments import draw_arguments
from irkit.fuzz.generators.features import features_of
from irkit.fuzz.generators.loops.large_extents import (
    draw_extents,
    large_arguments,
    large_function,
    results_of,
    small_extents,
)
from irkit.fuzz.generators.programs.seed_functions import seed_functions
from irkit.fuzz.generators.reference.bounded import evaluate_bounded
from irkit.fuzz.generators.sample import Array, Sample, Tolerance, Unusable, outputs_of
from irkit.fuzz.generators.stages.stage_tensors import stage_tensors
from irkit.fuzz.generators.stages.theme import FRACTIONS, INTEGERS, SPECIAL, WHOLE, Numbers, Theme
from irkit.fuzz.generators.stages.value_tensors import value_tensors
from irkit.fuzz.picks import Picks
from irkit.ir import Binary, Block, Max, Min, PrimFunc, Var, block_reads, block_writes, shape_vars
from irkit.passes.loop import storage_rewrite
from irkit.phases import DEFAULT
from irkit.transform import Pipeline

_MOST_STAGES = 3
# Of the programs on floats, half use whole numbers, which are compared bit for bit.
_THEMES = (
    *(WHOLE, INTEGERS, WHOLE, FRACTIONS, WHOLE),
    *(INTEGERS, WHOLE, SPECIAL, FRACTIONS, WHOLE),
)
_VALUE_THEMES = (SPECIAL, INTEGERS, SPECIAL, WHOLE)
_LOOP_NUMBERS: tuple[Numbers, ...] = ("whole", "whole", "special", "whole", "whole", "integers")
_FOR_SMALL = DEFAULT.replace("storage-rewrite", storage_rewrite.using(smallest=1))
_PLAINLY = DEFAULT.without("simplify")
"""Without it, other passes meet expressions that are not simplified."""


def draw_values(picks: Picks) -> Sample:
    """Draw a program of many operations on the same few elements."""
    theme = picks.pick(_VALUE_THEMES)
    return _sample_of(value_tensors(picks, theme), picks, theme)


def draw_any_stages(picks: Picks) -> Sample:
    """Draw a program of stages with a theme of its own."""
    return draw_stages(picks, picks.pick(_THEMES))


def draw_stages(picks: Picks, theme: Theme, most: int = _MOST_STAGES) -> Sample:
    """Draw a program of stages, and compute its results in NumPy."""
    return _sample_of(stage_tensors(picks, most, theme), picks, theme)


def _sample_of(tensors: Sequence[te.Tensor], picks: Picks, theme: Theme) -> Sample:
    return sample_of(te.create_prim_func(tensors), tensors, picks, theme)


def sample_of(func: PrimFunc, tensors: Sequence[te.Tensor], picks: Picks, theme: Theme) -> Sample:
    """Draw the arguments of a function made of tensors, and compute its results in NumPy."""
    if theme.numbers == "special":
        # Whether a product overflows depends on whether it is rounded before it is added.
        func = func.replace(attrs=(*func.attrs, ("contract", False)))
    inputs = draw_arguments(func, picks, theme.numbers)
    expected, allowed = numpy_results(tensors, func, inputs, theme)
    floats = any(array.dtype.kind not in "iub" for array in expected)
    signed = theme.numbers == "special" and not _loses_signs(func)
    return Sample(
        "programs",
        func,
        draw_limits(picks),
        inputs=(inputs,),
        expected=(expected,),
        allowed=(allowed,),
        features=(*features_of(func), f"rung:{theme.numbers}{' of floats' if floats else ''}"),
        zeros_have_signs=signed,
    )


def draw_seed_function(picks: Picks) -> Sample:
    """Take a function of the seed corpus; the interpreter computes what must come out."""
    fixed = picks.pick(seed_functions())
    return _loop_sample(fixed.func, fixed.arguments(picks), picks, "whole")


def draw_loop_function(picks: Picks, make: Callable[[Picks], PrimFunc]) -> Sample:
    """Draw a loop function and its arguments; the interpreter computes what must come out."""
    numbers = picks.pick(_LOOP_NUMBERS)
    func = make(picks)
    inputs = draw_arguments(func, picks, numbers, empty=False)  # They read the first element.
    return _loop_sample(func, inputs, picks, numbers)


def draw_large(picks: Picks) -> Sample:
    """Draw a function with extents that fit into no memory, after some that do."""
    func = large_function(picks)
    sizes = [small_extents(func), *(draw_extents(func, picks) for _ in range(2))]
    inputs: list[InputSet] = []
    for each in sizes:
        name = ", ".join(f"{var.name}={size}" for var, size in each.items())
        inputs.append(InputSet(f"large ({name})", "whole numbers", large_arguments(func, each)))
    return Sample(
        "programs",
        func,
        picks.pick((DEFAULT, _FOR_SMALL, _PLAINLY)),
        inputs=tuple(inputs),
        expected=tuple((results_of(func, each),) for each in sizes),
        allowed=((None,),) * len(sizes),
        features=(*features_of(func), "rung:large extents"),
        may_lack_memory=True,
    )


def _loop_sample(func: PrimFunc, inputs: InputSet, picks: Picks, numbers: Numbers) -> Sample:
    if picks.one_in(4):
        func = _with_regions(func)
    if numbers == "special":
        func = func.replace(attrs=(*func.attrs, ("contract", False)))
    exact: tuple[Tolerance, ...] = (None,) * len(outputs_of(func))
    return Sample(
        "programs",
        func,
        picks.pick((DEFAULT, _FOR_SMALL, _PLAINLY)),
        inputs=(inputs,),
        expected=(None,),
        allowed=(exact,),
        features=(*features_of(func), f"rung:{numbers} loops"),
        sound=True,
    )


def draw_limits(picks: Picks) -> Pipeline:
    """Pick the default passes, or as often those without limits for small functions: all that is
    drawn is small."""
    return DEFAULT if picks.below(2) else _FOR_SMALL


def _with_regions(func: PrimFunc) -> PrimFunc:
    """State the regions that each block reads and writes, which are otherwise inferred."""

    def with_regions(block: Block) -> Block:
        return block.replace(reads=block_reads(block), writes=block_writes(block))

    return rewrite(func, with_regions, on=Block)


def numpy_results(
    tensors: Sequence[te.Tensor], func: PrimFunc, inputs: InputSet, theme: Theme
) -> tuple[tuple[Array, ...], tuple[Tolerance, ...]]:
    """Compute the results for a set of arguments, and the tolerance of each."""
    outputs = [tensors[place] for place in outputs_of(func)]
    given = {
        tensor: np.asarray(value)
        for tensor, value in zip(tensors, inputs.args, strict=True)
        if isinstance(tensor.op, te.PlaceholderOp)
    }
    if theme.numbers != "fractions":
        try:
            found = te.evaluate(outputs, given)
        except IRKitError as error:
            raise Unusable(f"NumPy cannot compute it: {error}") from error
        return tuple(found), (None,) * len(found)
    near = evaluate_bounded(outputs, given, _sizes(func, inputs.args))
    for value, error in near:
        if error is not None and value.dtype.kind in "iub" and np.any(error):
            raise Unusable("a float that is not known exactly was compared")
    return tuple(value for value, _ in near), tuple(error for _, error in near)


def _sizes(func: PrimFunc, args: Sequence[Any]) -> dict[Var, int]:
    known: dict[Var, int] = {}
    wanted = set(shape_vars(func))
    for param, arg in zip(func.params, args, strict=True):
        shape = () if isinstance(param, Var) else param.shape
        for dim, size in zip(shape, np.shape(arg), strict=True):
            if isinstance(dim, Var) and dim in wanted:
                known.setdefault(dim, size)
    return known


def _loses_signs(func: PrimFunc) -> bool:
    """Return True if zeros can come out with either sign: of two zeros, min and max return
    either."""

    def loses(node: Binary) -> bool:
        return isinstance(node, (Min, Max)) and node.dtype.is_float

    return any_node(func, Binary, loses)
