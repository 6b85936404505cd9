"""The primitive unannotate: remove a hint."""

from irkit.core import Attrs, ScheduleError
from irkit.ir import Block, For, PrimFunc, replace_stmts


def unannotate(func: PrimFunc, stmt: For | Block, key: str) -> PrimFunc:
    """Remove a hint.

    Raises: ScheduleError if there is no hint of that key.
    """
    kept: Attrs = tuple((name, value) for name, value in stmt.attrs if name != key)
    if len(kept) == len(stmt.attrs):
        known = ", ".join(name for name, _ in stmt.attrs) or "none"
        raise ScheduleError(f"no annotation {key!r} here; there are: {known}", at=stmt)
    return replace_stmts(func, {stmt: stmt.replace(attrs=kept)})
