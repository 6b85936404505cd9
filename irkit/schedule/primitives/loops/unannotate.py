"""The primitive unannotate: take a hint away."""

from irkit.core import Attrs, ScheduleError
from irkit.ir import Block, For, PrimFunc
from irkit.schedule.state.replace import replace_stmts


def unannotate(func: PrimFunc, stmt: For | Block, key: str) -> PrimFunc:
    """Take a hint away.

    Raises: ScheduleError if there is none of that key.
    """
    kept: Attrs = tuple((name, value) for name, value in stmt.attrs if name != key)
    if len(kept) == len(stmt.attrs):
        known = ", ".join(name for name, _ in stmt.attrs) or "none"
        raise ScheduleError(f"there is no annotation {key!r} here, only: {known}", at=stmt)
    return replace_stmts(func, {stmt: stmt.replace(attrs=kept)})
