"""The primitive double_buffer: mark a buffer to be lowered to two halves."""

from irkit.core import ScheduleError, walk
from irkit.ir import Allocate, Block, Buffer, For, Load, PrimFunc, Stmt, Store, View
from irkit.schedule.analysis.accesses import read_by, written_by
from irkit.schedule.checks.block_buffers import buffer_written, own_buffer
from irkit.schedule.checks.order import is_used
from irkit.schedule.state.lookup import find_block, loops_to
from irkit.schedule.state.replace import replace_stmts

DOUBLE_BUFFER = "double_buffer"


def double_buffer(func: PrimFunc, name: str) -> PrimFunc:
    """Mark the buffer that a block writes, so that lowering gives it two halves: one is filled for
    the next iteration of a loop while the other is used.

    Raises: ScheduleError if the buffer is a parameter, is not filled anew in each iteration of a
    serial loop, or is used there before it is filled.
    """
    block = find_block(func, name)
    buffer = buffer_written(func, name)
    what = f"buffer {buffer.name!r} twice"
    home = own_buffer(func, block, buffer, what)
    loop = _loop_around_uses(func, block, buffer)
    reason = ""
    if loop is None:
        reason = "it is filled once, and not in each iteration of a loop"
    elif loop.kind != "serial":
        reason = f"loop {loop.var.name!r} is {loop.kind}, and its iterations have no order"
    elif not _fills_first(loop, buffer):
        reason = f"in loop {loop.var.name!r} it is used before it is filled"
    elif _carries(func, loop, buffer):
        reason = f"what fills it reads what loop {loop.var.name!r} writes"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)
    attrs = (*((k, v) for k, v in home.attrs if k != DOUBLE_BUFFER), (DOUBLE_BUFFER, True))
    return replace_stmts(func, {home: home.replace(attrs=attrs)})


def _loop_around_uses(func: PrimFunc, block: Block, buffer: Buffer) -> For | None:
    """Find the innermost loop that holds all uses of a buffer."""
    loops = loops_to(func, block)
    uses = _uses(func.body, buffer)
    for loop in reversed(loops):
        if len(_uses(loop.body, buffer)) == len(uses):
            return loop
    return None


def _uses(root: Stmt, buffer: Buffer) -> list[Load | Store]:
    return [node for node in walk(root, on=(Load, Store)) if node.buffer is buffer]


def _parts(loop: For) -> list[Stmt]:
    body = loop.body
    while isinstance(body, Allocate):
        body = body.body
    stmts = getattr(body, "stmts", None)
    return [body] if stmts is None else list(stmts)


def _is_fill(stmt: Stmt, buffer: Buffer) -> bool:
    return any(store.buffer is buffer for store in walk(stmt, on=Store))


def _fills_first(loop: For, buffer: Buffer) -> bool:
    """Say whether statements that fill a buffer come first, and others that use it after them."""
    parts = _parts(loop)
    fills = [at for at, stmt in enumerate(parts) if _is_fill(stmt, buffer)]
    uses = [at for at, s in enumerate(parts) if at not in fills and is_used(s, {buffer})]
    return bool(fills) and bool(uses) and fills[-1] < uses[0]


def _carries(func: PrimFunc, loop: For, buffer: Buffer) -> bool:
    """Say whether what fills a buffer touches what its loop writes."""
    written = written_by(loop.body)
    hidden = any(True for _ in walk(func.body, on=View))
    for stmt in _parts(loop):
        if _is_fill(stmt, buffer):
            own = {each.buffer for each in walk(stmt, on=Allocate)} | {buffer}
            read, stored = read_by(stmt) - own, written_by(stmt) - own
            if read & written or stored or (hidden and read):
                return True
    return False
