"""Check that a moved block still runs after the blocks it reads from and before those that read
it."""

from irkit.core import STATEMENTS, Node, ScheduleError, deep_recursion, uses, walk
from irkit.ir import (
    Allocate,
    Block,
    Buffer,
    For,
    PrimFunc,
    Stmt,
    Store,
    Var,
    View,
    dependences,
    replace_stmts,
    seq,
    statements,
    uses_of,
)
from irkit.schedule.analysis.accesses import read_by, variables, written_by
from irkit.schedule.state.lookup import allocation, find_block, loops_to, path_to


def scope_of(func: PrimFunc, stmt: Stmt) -> Block | None:
    """Return the innermost block around a statement."""
    around = [each for each in path_to(func, stmt)[:-1] if isinstance(each, Block)]
    return around[-1] if around else None


def is_used(root: Node, buffers: set[Buffer]) -> bool:
    """Return True if any of the given buffers is used below a node."""
    return any(buffer in buffers for node in walk(root) for buffer in uses(node))


def is_used_outside(func: PrimFunc, buffers: set[Buffer], *inside: Stmt) -> bool:
    """Return True if any of the given buffers is used other than below the given statements."""
    from_here: dict[Stmt, Stmt] = {}
    for stmt in inside:
        from_here[stmt] = stmt.replace(body=seq()) if isinstance(stmt, For) else seq()
    return is_used(replace_stmts(func, from_here), buffers)


def check_moved(
    old: PrimFunc, new: PrimFunc, name: str, what: str, apart_from: frozenset[str] = frozenset()
) -> None:
    """Check that all blocks compute the same values after one has moved."""
    check_visible(new, find_block(new, name), what)
    check_inputs_stay(old, new, name, what, apart_from)
    check_readers_stay(old, new, name, what)


def check_inputs_stay(
    old: PrimFunc, new: PrimFunc, name: str, what: str, apart_from: frozenset[str]
) -> None:
    """Check that a moved block reads the same values as before.

    Every other writer of its inputs must run before it in both functions, or after it in both; and
    if it leaves loops that it shared with a writer, no iteration of theirs may overwrite what an
    earlier one wrote. The caller checks the writers named in ``apart_from``.
    Raises: ScheduleError if it could read other values.
    """
    block = find_block(old, name)
    memory = uses_of(old).memory
    read = {memory(buffer) for buffer in read_by(block) - written_by(block)}
    in_blocks: set[int] = set()
    for before in _others(old, block):
        in_blocks.update(id(store) for store in walk(before, on=Store))
        shared = {memory(buffer) for buffer in written_by(before)} & read
        if shared and before.name not in apart_from:
            after = find_block(new, before.name)
            buffer = next(iter(shared)).name
            pair = (new, find_block(new, name), after)
            _check_writer((old, block, before), pair, buffer, what)
    in_blocks.update(id(store) for store in walk(block, on=Store))
    for store in walk(old, on=Store):
        if id(store) not in in_blocks and memory(store.buffer) in read:
            raise ScheduleError(
                f"cannot {what}: its input {store.buffer.name!r} is written outside blocks",
                at=store,
            )


_Pair = tuple[PrimFunc, Block, Block]


def _check_writer(old: _Pair, new: _Pair, buffer: str, what: str) -> None:
    block, writer = old[1], old[2]
    first = f"cannot {what}: block {writer.name!r}"
    if _comes_first(*old) != _comes_first(*new):
        raise ScheduleError(f"{first}, which writes its input {buffer!r}, is in between", at=block)
    around, now = _shared_loops(*old), _shared_loops(*new)
    vars_before = {loop.var for loop in around}
    if any(loop.var not in vars_before for loop in now):
        raise ScheduleError(
            f"{first} writes its input {buffer!r} in the loop it would move to", at=block
        )
    vars_now = {loop.var for loop in now}
    for loop in around:
        reason = None if loop.var in vars_now else dependences(old[0]).carried(loop)
        if reason is not None:
            raise ScheduleError(
                f"{first} writes its input {buffer!r} in the loop {loop.var.name!r} that "
                f"it would leave, and there {reason}",
                at=block,
            )


def _comes_first(func: PrimFunc, block: Block, other: Block) -> bool:
    blocks = statements(func).blocks
    return blocks.index(other) < blocks.index(block)


def _shared_loops(func: PrimFunc, block: Block, other: Block) -> list[For]:
    there = loops_to(func, other)
    return [loop for loop in loops_to(func, block) if loop in there]


def _others(func: PrimFunc, block: Block) -> list[Block]:
    """List the blocks that neither contain a block nor are inside it."""
    around = {id(stmt) for stmt in path_to(func, block)}
    inside = {id(each) for each in walk(block, on=Block)}
    return [b for b in statements(func).blocks if id(b) not in around and id(b) not in inside]


def check_readers_stay(old: PrimFunc, new: PrimFunc, name: str, what: str) -> None:
    """Check that other blocks read the same values from what a moved block writes.

    Readers must stay before or after the block. One that comes before must not share a new loop
    with it, or it would read what earlier iterations wrote; and if the block leaves a loop, no
    iteration may read the initial contents of a parameter that a later iteration overwrites.
    Raises: ScheduleError if they could read other values.
    """
    block = find_block(old, name)
    written = written_by(block)
    for other in _others(old, block):
        shared = read_by(other) & written
        if not shared:
            continue
        buffer = next(iter(shared))
        before = (old, block, other)
        after = (new, find_block(new, name), find_block(new, other.name))
        reason = "in between"
        if _comes_first(*before) == _comes_first(*after):
            reason = _read_in_turns(before, after, allocation(old, buffer) is None)
        if reason:
            raise ScheduleError(
                f"cannot {what}: block {other.name!r} reads {buffer.name!r} {reason}", at=block
            )


def _read_in_turns(old: _Pair, new: _Pair, given: bool) -> str:
    around, now = _shared_loops(*old), _shared_loops(*new)
    vars_before, vars_now = {loop.var for loop in around}, {loop.var for loop in now}
    if _comes_first(*new) and vars_now - vars_before:
        return "in the loop it would move to"
    # A loop that no longer selects a part of the block is left too: all of it runs each time.
    driven, still = controlling_vars(*old[:2]), controlling_vars(*new[:2])
    left = [
        loop
        for loop in around
        if loop.var not in vars_now or (loop.var in driven and loop.var not in still)
    ]
    if given and any(dependences(old[0]).carried(loop) for loop in left):
        return "in a loop it would leave"
    return ""


def check_visible(func: PrimFunc, block: Block, what: str) -> None:
    """Check that every buffer a block uses is allocated around it."""
    _check_visible(block, _params(func) | _allocated(path_to(func, block)), what)


def check_all_visible(func: PrimFunc, what: str) -> None:
    """Check that the buffers of all blocks are allocated around them."""
    path: list[Stmt] = []
    params = _params(func)

    def visit(stmt: Stmt) -> None:
        path.append(stmt)
        if isinstance(stmt, Block):
            _check_visible(stmt, params | _allocated(path), what)
        for inner in STATEMENTS[stmt.__class__](stmt):
            if isinstance(inner, Stmt):
                visit(inner)
        path.pop()

    with deep_recursion:
        visit(func.body)


def _params(func: PrimFunc) -> set[Buffer]:
    return {param for param in func.params if isinstance(param, Buffer)}


def _allocated(path: list[Stmt]) -> set[Buffer]:
    return {stmt.buffer for stmt in path if isinstance(stmt, (Allocate, View))}


def _check_visible(block: Block, around: set[Buffer], what: str) -> None:
    inner = {stmt.buffer for stmt in walk(block, on=(Allocate, View))}
    hidden = (read_by(block) | written_by(block)) - around - inner
    if hidden:
        raise ScheduleError(
            f"cannot {what}: it uses {next(iter(hidden)).name!r}, which is not allocated around "
            "that place",
            hint="Move the block that computes it first.",
            at=block,
        )


def controlling_vars(func: PrimFunc, block: Block) -> set[Var]:
    """Collect the variables that the bindings and the predicate of a block use."""
    loops = loops_to(func, block)
    used = [variables(axis.binding) for axis in block.axes]
    used += [variables(loop.begin) | variables(loop.end) for loop in loops]
    return set[Var]().union(variables(block.predicate), *used)
