"""Check that threads read no elements of each other in memory that is one a thread.

Each thread has its own buffer of scope ``local``, also if it is allocated around the loops over
threads. It has what was stored outside the loops before, and what it has stored itself.
"""

from irkit.core import Node, ScheduleError, rewrite, substitute, symbols_bound, symbols_used, walk
from irkit.ir import Allocate, For, PrimFunc, Stmt, nested, replace_stmts
from irkit.ir.analysis import CarriedValues, enclosing, memory_owners, uses_of


def check_private(before: PrimFunc, after: PrimFunc, primitive: str) -> None:
    """Check that threads read no element of private memory that only another thread has written,
    unless they may have done so before.

    Raises: ScheduleError at the allocation.
    """
    known: set[str] | None = None
    for home in _homes(after):
        reason = _reason(after, home)
        if not reason:
            continue
        if known is None:
            known = {each.buffer.name for each in _homes(before) if _reason(before, each)}
        buffer = home.buffer
        if buffer.name not in known:
            raise ScheduleError(
                f"cannot {primitive}: each thread has its own {buffer.name!r} (scope "
                f"{buffer.scope!r}), and {reason}",
                hint="Compute what reads it in the thread that writes it before (compute_at, "
                'reverse_compute_at), or use scope "shared".',
                at=home,
            )


def _homes(func: PrimFunc) -> list[Allocate]:
    """Return the allocations of memory that may be allocated around its threads."""
    if not memory_owners(func).private:
        return []
    return [each for each in walk(func.body, Allocate) if each.buffer.is_private]


def _reason(func: PrimFunc, home: Allocate) -> str:
    """Return why a thread may read what only another one has written; "" if none does."""
    inside = [loop for loop in walk(home.body, For) if loop.kind == "thread"]
    if not inside:
        return ""
    places, uses = enclosing(func), uses_of(func)

    def axes(stmt: Stmt) -> set[str]:
        return {loop.thread for loop in places.loops(stmt) if loop in inside}

    written = {axis for store in uses.writes(home.buffer) for axis in axes(store)}
    if not written:
        return ""
    if not all(written <= axes(reader) for reader in uses.reads(home.buffer)):
        return "what is outside the threads would read what one of them has written"
    launch = {loop.thread: loop for loop in reversed(inside) if loop.thread in written}
    bound = {*symbols_bound(home.body)}
    if any((symbols_used(each.begin) | symbols_used(each.end)) & bound for each in launch.values()):
        return "it is not known there how many threads there are"
    together = _as_one_launch(func, home, launch)
    carried = CarriedValues(together)
    made = [loop for loop in walk(together.body, For) if loop.thread in launch]
    reasons = [(loop, carried.reason(loop, home.buffer)) for loop in made]
    found = next(((loop, why) for loop, why in reasons if why), None)
    if found is None:
        return ""
    return f"of the threads {found[0].var.name!r}, {found[1]}".replace("an iteration", "one")


def _as_one_launch(func: PrimFunc, home: Allocate, launch: dict[str, For]) -> PrimFunc:
    """Return a function in which one loop for each axis is around all that uses the memory."""
    values: dict[Node, Node] = {}

    def body_of(loop: For) -> Stmt | None:
        first = launch.get(loop.thread) if loop.kind == "thread" else None
        if first is None:
            return None
        if loop.var is not first.var:
            values[loop.var] = first.var + (loop.begin - first.begin)
        return loop.body

    body = substitute(rewrite(home.body, body_of, on=For), values)
    return replace_stmts(func, {home: home.replace(body=nested([*launch.values()], body))})
