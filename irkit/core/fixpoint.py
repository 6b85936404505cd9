"""Repeat a change until it has nothing left to do."""

from collections.abc import Callable
from typing import Any, TypeVar, overload

from irkit.core.rules import Rule, Rules, no_fixpoint

_T = TypeVar("_T")


@overload
def fixpoint(change: Rules | Rule, bound: int) -> Rules: ...
@overload
def fixpoint(change: Callable[[_T], _T | None], bound: int) -> Callable[[_T], _T]: ...
def fixpoint(change: Any, bound: int) -> Any:
    """Make a change that is repeated until it leaves alone what it is given: a pass on a function,
    or a rule at the place of a node.

    In ``rewrite`` each firing of rules is an application of its own, under the name of the rule.

    Raises: IRKitError, when it is applied, if it still changes something after ``bound`` rounds.
    """
    if isinstance(change, (Rule, Rules)):
        return Rules(f"fixpoint({change.name})", change, bound=bound)
    name = getattr(change, "name", getattr(change, "__qualname__", repr(change)))

    def repeated(ir: _T) -> _T:
        for _ in range(bound):
            result = change(ir)
            if result is None or result is ir:
                return ir
            ir = result
        result = change(ir)
        if result is None or result is ir:
            return ir
        raise no_fixpoint(name, bound, ir)

    repeated.__qualname__ = f"fixpoint({name})"
    return repeated
