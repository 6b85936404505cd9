"""Which arguments of a primitive are references, and the error where one is something else."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Any, cast, get_args, get_origin

from irkit.core import ScheduleError
from irkit.schedule.state.references import BlockRef, LoopRef

_HINT = (
    "A loop comes from get_loops(block) or from the primitive that made it, a block from "
    "get_block(name)."
)
ArgumentCheck = Callable[[Sequence[Any], Mapping[str, Any]], None]


def reference_check(method: Callable[..., Any]) -> ArgumentCheck:
    """Make the check that arguments which should be a loop or a block are one.

    The check raises ScheduleError naming the parameter; TypeError if the arguments do not fit at
    all.
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
