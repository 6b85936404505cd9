"""The verdict on a pass that replaces one function by another."""

from typing import Any

from irkit.core import substitute
from irkit.debug import Verdict, check
from irkit.ir import LOOP_LEVEL, PrimFunc, parse, shape_vars
from irkit.transform import Phase, Pipeline, define_pass


def judged(
    case: tuple[str, str], seed: int = 0, *, declared: bool = False, prove: bool = False
) -> Verdict:
    """Return the verdict on a pass that makes the second of two functions from the first."""
    first, other = (parse(text.strip()) for text in case)

    @define_pass(changes_rounding=declared)
    def change(func: PrimFunc) -> PrimFunc:
        return func.replace(body=_renamed(other, func).body)

    pipeline = Pipeline(LOOP_LEVEL, (Phase(0, "only", (change,)),))
    (found,) = check(pipeline.steps(first), seed=seed, prove=prove)
    assert found.changed
    return found


def _renamed(other: PrimFunc, func: PrimFunc) -> PrimFunc:
    """Return a function with the parameters and dimensions of another one."""
    names: dict[Any, Any] = dict(zip(shape_vars(other), shape_vars(func), strict=True))
    names |= dict(zip(other.params, func.params, strict=True))
    return substitute(other, names)
