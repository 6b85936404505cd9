"""Programs that have one meaning on their inputs.

They stay within bounds, and their results depend neither on the contents of fresh memory nor on the
order in which unordered loops run. A reducer that accepted others would end at programs with
undefined meaning, which compilers may translate as they like.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from irkit.core import IRKitError, Node, any_node, rewrite
from irkit.debug.check.difference import same_values
from irkit.debug.execution.executors import MAX_STEPS, arrays_of
from irkit.debug.execution.inputs import Array, InputSet
from irkit.debug.execution.orders import backwards
from irkit.ir import (
    Allocate,
    Buffer,
    For,
    InterpretedFunction,
    PrimFunc,
    StepLimit,
    Stmt,
    Store,
    Var,
    const,
    seq,
    verify,
)


def runs(func: PrimFunc, args: Sequence[Any], *, max_steps: int = MAX_STEPS) -> bool:
    """Return True if a function verifies and runs; ``args`` are not changed.

    Raises: StepLimit if it takes too long.
    """
    return _outcome(func, args, max_steps) is not None


def is_well_defined(func: PrimFunc, args: Sequence[Any], *, max_steps: int = MAX_STEPS) -> bool:
    """Return True if a function verifies, runs, and leaves nothing to chance.

    Raises: StepLimit if it takes too long.
    """
    chance = left_to_chance(func, args, max_steps=max_steps)
    return chance is not None and not any(map(np.any, chance))


def left_to_chance(
    func: PrimFunc, args: Sequence[Any], *, max_steps: int = MAX_STEPS
) -> list[Array] | None:
    """Return which elements of each array depend on fresh memory or on the order of iterations;
    None if the function does not run.

    Raises: StepLimit if it takes too long.
    """
    first = _outcome(func, args, max_steps)
    if first is None:
        return None
    chance = [np.zeros(array.shape, bool) for array in first]
    for variant in _variants(func):
        other = _outcome(variant, args, max_steps)
        if other is None:
            return None
        chance = [
            known | ~same_values(a, b) for known, a, b in zip(chance, first, other, strict=True)
        ]
    return chance


def _outcome(func: PrimFunc, args: Sequence[Any], max_steps: int) -> tuple[Any, ...] | None:
    if verify(func):
        return None
    own = InputSet("", "given", tuple(args)).copied()
    try:
        InterpretedFunction(func)(*own, max_steps=max_steps)
    except StepLimit:
        raise
    except IRKitError:
        return None
    return arrays_of(func, own)


def _variants(func: PrimFunc) -> list[PrimFunc]:
    """Return programs with the same results, unless something is left to chance."""
    made = list[PrimFunc]()
    if any_node(func, Allocate):
        made += [rewrite(func, partial(_filled, value=value), on=Allocate) for value in (0, 1)]
    turned = backwards(func)
    return made if turned is func else [*made, turned]


def _filled(node: Allocate, *, value: int) -> Node:
    buffer: Buffer = node.buffer
    variables = tuple(Var(f"fill_{axis}", dim.dtype) for axis, dim in enumerate(buffer.shape))
    body: Stmt = Store(buffer, variables, const(value, buffer.dtype))
    for var, dim in zip(reversed(variables), reversed(buffer.shape), strict=True):
        body = For(var, const(0, dim.dtype), dim, body)
    return node.replace(body=seq(body, node.body))
