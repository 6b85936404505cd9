"""Check that arguments which must be block or loop references are."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Any, cast, get_args, get_origin

from irkit.core import ScheduleError
from irkit.schedule.state.references import BlockRef, LoopRef

_HINT = (
    "Get a loop from get_loops(block) or from the primitive that created it, and a block "
    "from get_block(name)."
)
ArgumentCheck = Callable[[Sequence[Any], Mapping[str, Any]], None]


def reference_check(method: Callable[..., Any]) -> ArgumentCheck:
    """Return a function that checks the loop and block arguments of a primitive.

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

    return check


def _references(annotation: Any) -> tuple[type[Any], ...]:
    kinds = get_args(annotation) if get_origin(annotation) is UnionType else (annotation,)
    return kinds if all(kind in (BlockRef, LoopRef) for kind in kinds) else ()
