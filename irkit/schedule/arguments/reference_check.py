"""Check arguments that must be block or loop references, or names of memory scopes."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Any, cast, get_args, get_origin

from irkit.core import ScheduleError
from irkit.ir import scope_problem
from irkit.schedule.state.references import BlockRef, LoopRef

_HINT = (
    "Get a loop from get_loops(block) or from the primitive that created it, and a block "
    "from get_block(name)."
)
ArgumentCheck = Callable[[Sequence[Any], Mapping[str, Any]], None]


def reference_check(method: Callable[..., Any]) -> ArgumentCheck:
    """Return a function that checks the loops, blocks and memory scopes given to a primitive.

    It raises ScheduleError naming the parameter, or TypeError if the arguments do not fit the
    signature.
    """
    signature = inspect.signature(method)
    kinds = {
        name: accepted
        for name, parameter in signature.parameters.items()
        if (accepted := _references(parameter.annotation))
    }

    def check(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        given = signature.bind(*args, **kwargs).arguments
        for name, accepted in kinds.items():
            values: Any = given.get(name, ())
            for each in cast(
                "tuple[object, ...]", values if isinstance(values, tuple) else (values,)
            ):
                if not isinstance(each, accepted):
                    what = " or ".join("block" if k is BlockRef else "loop" for k in accepted)
                    raise ScheduleError(
                        f"{method.__name__} takes a {what} as {name!r}, found "
                        f"{type(each).__name__} {each!r}",
                        hint=_HINT,
                    )
        if "scope" in given:
            _check_scope(method.__name__, given["scope"])

    return check


def _check_scope(primitive: str, scope: object) -> None:
    if not isinstance(scope, str):
        raise ScheduleError(f"{primitive} takes the name of a memory scope, found {scope!r}")
    problem = scope_problem(scope)
    if problem is not None:
        raise ScheduleError(f"{primitive}: {problem[0]}", hint=problem[1])


def _references(annotation: Any) -> tuple[type[Any], ...]:
    kinds = get_args(annotation) if get_origin(annotation) is UnionType else (annotation,)
    return kinds if all(kind in (BlockRef, LoopRef) for kind in kinds) else ()
