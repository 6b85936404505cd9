"""Repeat a change until it has no more effect."""

from collections.abc import Callable
from typing import Any, TypeVar, overload

from irkit.core.rules import Rule, Rules, no_fixpoint

_T = TypeVar("_T")


@overload
def fixpoint(change: Rules | Rule, bound: int) -> Rules: ...
@overload
def fixpoint(change: Callable[[_T], _T | None], bound: int) -> Callable[[_T], _T]: ...
def fixpoint(change: Any, bound: int) -> Any:
    """Repeat a pass on a function, or a rule at a node, until it changes nothing.

    In ``rewrite`` each firing of a rule counts as an application under the name of the rule.

    Raises: IRKitError, on application, if there are still changes after ``bound`` rounds.
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
