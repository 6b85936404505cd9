"""The primitive double_buffer: mark a buffer for double buffering."""

from irkit.core import ScheduleError, any_node, walk
from irkit.ir import Allocate, Block, Buffer, For, Load, PrimFunc, Stmt, Store, View, replace_stmts
from irkit.schedule.analysis.accesses import read_by, written_by
from irkit.schedule.checks.block_buffers import buffer_written, own_buffer
from irkit.schedule.checks.order import is_used
from irkit.schedule.state.lookup import find_block, loops_to

DOUBLE_BUFFER = "double_buffer"


def double_buffer(func: PrimFunc, name: str) -> PrimFunc:
    """Mark the buffer that a block writes for double buffering.

    Lowering gives it two halves: one is filled for the next iteration of a loop while the other is
    used.

    Raises: ScheduleError if the buffer is a parameter, is not filled in each iteration of a serial
    loop, or is used there before it is filled.
    """
    block = find_block(func, name)
    buffer = buffer_written(func, name)
    what = f"double-buffer {buffer.name!r}"
    home = own_buffer(func, block, buffer, what)
    loop = _loop_around_uses(func, block, buffer)
    reason = ""
    if loop is None:
        reason = "it is filled once, not in each iteration of a loop"
    elif loop.kind != "serial":
        reason = f"loop {loop.var.name!r} is {loop.kind}, so its iterations have no order"
    elif not _fills_first(loop, buffer):
        reason = f"it is used before it is filled in loop {loop.var.name!r}"
    elif _fill_depends_on_loop(func, loop, buffer):
        reason = f"filling it reads what loop {loop.var.name!r} writes"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)
    attrs = (*((k, v) for k, v in home.attrs if k != DOUBLE_BUFFER), (DOUBLE_BUFFER, True))
    return replace_stmts(func, {home: home.replace(attrs=attrs)})


def _loop_around_uses(func: PrimFunc, block: Block, buffer: Buffer) -> For | None:
    """Return the innermost loop that contains all uses of a buffer."""
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


def _fills_first(loop: For, buffer: Buffer) -> bool:
    """Return True if the statements that fill a buffer come before those that use it."""
    parts = _parts(loop)
    fills = [at for at, stmt in enumerate(parts) if buffer in written_by(stmt)]
    uses = [at for at, s in enumerate(parts) if at not in fills and is_used(s, {buffer})]
    return bool(fills) and bool(uses) and fills[-1] < uses[0]


def _fill_depends_on_loop(func: PrimFunc, loop: For, buffer: Buffer) -> bool:
    """Return True if the statements that fill a buffer access what the loop writes."""
    written = written_by(loop.body)
    hidden = any_node(func.body, View)
    for stmt in _parts(loop):
        if buffer in written_by(stmt):
            own = {each.buffer for each in walk(stmt, on=Allocate)} | {buffer}
            read, stored = read_by(stmt) - own, written_by(stmt) - own
            if read & written or stored or (hidden and read):
                return True
    return False
