"""The primitive annotate: add a hint to a loop or block."""

from collections.abc import Sequence
from typing import cast

from irkit.core import AttrValue, ScheduleError
from irkit.ir import Block, For, PrimFunc, replace_stmts


def annotate(func: PrimFunc, stmt: For | Block, key: str, value: object) -> PrimFunc:
    """Add a hint to a loop or block, replacing any with the same key.

    Raises: ScheduleError if the key is empty, or the value is not printable data.
    """
    if not key:
        raise ScheduleError("an annotation needs a key", at=stmt)
    kept = [(name, old) for name, old in stmt.attrs if name != key]
    return replace_stmts(func, {stmt: stmt.replace(attrs=(*kept, (key, _data(value, stmt))))})


def _data(value: object, at: For | Block, depth: int = 0) -> AttrValue:
    if isinstance(value, (tuple, list)) and depth < 2:
        items = cast("Sequence[object]", value)
        return tuple(_data(item, at, depth + 1) for item in items)  # pyright: ignore[reportReturnType] -- two deep at most
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise ScheduleError(
        f"an annotation must be a string, number, bool, None or a tuple of these, found {value!r}",
        at=at,
    )
