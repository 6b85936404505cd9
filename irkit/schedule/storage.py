"""Primitives on where intermediate buffers lie: storage_align, double_buffer, reuse_buffer,
unsafe_set_dtype."""

from collections.abc import Sequence

from irkit.core import Node, ScheduleError, Span, rewrite, substitute, walk
from irkit.ir import (
    Allocate,
    Block,
    Buffer,
    DType,
    Expr,
    For,
    Load,
    PrimFunc,
    Stmt,
    Store,
    View,
    as_int,
    cast,
    index,
    liveness,
    shape_vars,
    simplify,
)
from irkit.schedule.cache import buffer_written
from irkit.schedule.order import is_used
from irkit.schedule.state import (
    allocation,
    exchange,
    exchange_buffer,
    find_block,
    loops_to,
    path_to,
    read_by,
    variables,
    written_by,
)

_MOST_FACTOR = 1 << 20
DOUBLE_BUFFER = "double_buffer"


def storage_align(
    func: PrimFunc, name: str, given: Buffer | str | int, axis: int, factor: int, offset: int
) -> PrimFunc:
    """Leave gaps between the rows of a buffer that a block writes, so that its stride along
    ``axis`` is ``offset`` more than a multiple of ``factor`` (elements).

    The strides of inner axes stay; those of outer ones follow without further gaps.
    Raises: ScheduleError if the buffer is a parameter or seen through a view, there is no such
    axis, ``offset`` is not in 0 to ``factor`` - 1, or an outer axis has gaps already.
    """
    block = find_block(func, name)
    old = buffer_written(func, name, given)
    what = f"align {old.name!r}"
    own_buffer(func, block, old, what)
    at = axis + old.rank if axis < 0 else axis
    if not 0 <= at < old.rank:
        raise ScheduleError(
            f"cannot {what}: it has {old.rank} dimensions, and no axis {axis}", at=block
        )
    if not 1 <= factor <= _MOST_FACTOR or not 0 <= offset < factor:
        raise ScheduleError(
            f"cannot {what}: a factor is from 1 to {_MOST_FACTOR} and an offset at least 0 and "
            f"less than the factor, found {factor} and {offset}",
            at=block,
        )
    strides = list(old.strides or _packed(old.shape, old.rank, index(1)))
    packed = _packed(old.shape, at, strides[at])
    if any(a != simplify(b) for a, b in zip(packed, strides[:at], strict=True)):
        raise ScheduleError(
            f"cannot {what} along axis {axis}: there are gaps along an outer axis already",
            hint="Align inner axes first.",
            at=block,
        )
    fewest = strides[at]
    rounded = (fewest + (factor - 1 - offset)) // factor * factor + offset
    strides[at] = simplify(rounded)
    strides[:at] = _packed(old.shape, at, strides[at])
    new = old.replace(strides=tuple(strides))
    return exchange_buffer(func, old, new)


def _packed(shape: Sequence[Expr], upto: int, inner: Expr) -> list[Expr]:
    """Give the strides of the first dimensions where there are no gaps; ``inner`` is that of the
    dimension behind them, or the size of an element."""
    found: list[Expr] = []
    step = inner
    for at in reversed(range(upto)):
        below = at + 1
        step = simplify(step * shape[below]) if below < len(shape) else step
        found.append(step)
    return found[::-1]


def own_buffer(func: PrimFunc, block: Block, buffer: Buffer, what: str) -> Allocate:
    """Find where the buffer is allocated that a block writes.

    Raises: ScheduleError if it is a parameter, the block does not write it, or a view shows it.
    """
    home = allocation(func, buffer)
    reason = ""
    if home is None:
        reason = "it is a parameter, and belongs to the caller"
    elif buffer not in written_by(block):
        reason = f"block {block.name!r} does not write it"
    elif any(view.source is buffer for view in walk(func, on=View)):
        reason = "it is seen through a view"
    if home is None or reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)
    return home


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
    return exchange(func, {home: home.replace(attrs=attrs)})


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


def reuse_buffer(func: PrimFunc, first: str, second: str) -> PrimFunc:
    """Let what a second block writes lie in the memory of what a first one writes.

    Raises: ScheduleError unless both are buffers of the function's own, of one type and scope, the
    second fits into the first along every axis, and they are never needed at the same time.
    """
    blocks = find_block(func, first), find_block(func, second)
    a, b = buffer_written(func, first), buffer_written(func, second)
    what = f"let {b.name!r} lie in the memory of {a.name!r}"
    homes = [own_buffer(func, *each, what) for each in zip(blocks, (a, b), strict=True)]
    reason = _misfit(a, b)
    if any(dict(home.attrs) for home in homes):
        reason = "one of them is marked for more than its memory"
    elif not reason and liveness(func).interfere(a, b):
        reason = "they are needed at the same time"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=blocks[1])
    paths = [path_to(func, home) for home in homes]
    shared = [x for x, y in zip(*paths, strict=False) if x is y]
    for path in paths:
        _check_leaves(path, len(shared), a, blocks[1], what)
    if not {var for dim in a.shape for var in variables(dim)} <= set(shape_vars(func)):
        raise ScheduleError(f"cannot {what}: its size changes in a loop", at=blocks[1])
    both, top = a.copy(), shared[-1]
    around = Allocate(both, top, span=Span("schedule", "reuse_buffer", parent=homes[0].span))

    def bare(node: Allocate) -> Stmt | None:
        return node.body if node.buffer in (a, b) else None

    made = rewrite(exchange(func, {top: around}), bare, on=Allocate)
    names: dict[Node, Node] = {a: both, b: both}
    return substitute(made, names)


def _misfit(a: Buffer, b: Buffer) -> str:
    if (a.dtype, a.scope) != (b.dtype, b.scope):
        return "they differ in type or scope"
    if a.rank != b.rank or not all(map(_is_within, b.shape, a.shape)):
        return "it does not fit in there along every axis"
    if b.strides is not None and b.strides != a.strides:
        return f"{b.name!r} has strides of its own"
    return "" if b.align <= max(a.align, 1) else f"{b.name!r} is aligned more strictly"


def _is_within(small: Expr, large: Expr) -> bool:
    x, y = as_int(small), as_int(large)
    if x is not None and y is not None:
        return x <= y
    return small.dtype == large.dtype and as_int(simplify(large - small)) == 0


def _check_leaves(path: Sequence[Stmt], at: int, buffer: Buffer, block: Block, what: str) -> None:
    """Refuse where memory would have to leave what needs memory of its own, each time it runs."""
    reason = ""
    for stmt in path[at:]:
        if isinstance(stmt, For) and stmt.kind not in ("serial", "unrolled"):
            reason = f"it would be shared by iterations of the {stmt.kind} loop {stmt.var.name!r}"
        elif isinstance(stmt, Block) and (stmt.reads is not None or stmt.writes is not None):
            reason = f"block {stmt.name!r} says what it touches, and the memory is not part of it"
    threads = (stmt.kind == "thread" for stmt in path[:at] if isinstance(stmt, For))
    if buffer.scope == "shared" and any(threads):
        reason = "which thread still needs it is a matter of barriers"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)


def unsafe_set_dtype(func: PrimFunc, name: str, dtype: DType) -> PrimFunc:
    """Keep the buffer that a block writes in another type: what is stored is converted to it, and
    what is loaded back from it. This may change results.

    Raises: ScheduleError if the buffer is a parameter, or the type is a vector.
    """
    block = find_block(func, name)
    old = buffer_written(func, name)
    what = f"keep {old.name!r} as {dtype}"
    own_buffer(func, block, old, what)
    if dtype.lanes != 1:
        raise ScheduleError(f"cannot {what}: an element is no vector", at=block)
    new = old.replace(dtype=dtype)

    def convert(node: Load | Store | Allocate) -> Node | None:
        if node.buffer is not old:
            return None
        if isinstance(node, Load):
            there = node.replace(buffer=new, dtype=dtype.with_lanes(node.dtype.lanes))
            return cast(there, old.dtype)
        if isinstance(node, Store):
            return node.replace(buffer=new, value=cast(node.value, dtype))
        return node.replace(buffer=new)

    return rewrite(func, convert, on=(Load, Store, Allocate))
