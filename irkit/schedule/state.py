"""Find blocks and loops in a function, and put other statements in their place.

A loop is known by its variable and a block by its name: both outlive every rewrite, so references
need no forwarding.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from irkit.core import (
    Node,
    ScheduleError,
    Span,
    children,
    equal,
    postorder,
    rewrite,
    substitute,
    uses,
    walk,
    with_fields,
)
from irkit.ir import (
    Allocate,
    Axis,
    Block,
    Buffer,
    Expr,
    For,
    Let,
    Load,
    PrimFunc,
    Region,
    Stmt,
    Store,
    Var,
    View,
    as_int,
    conjuncts,
    logical_and,
    seq,
)
from irkit.schedule.references import BlockRef, LoopRef

_N = TypeVar("_N", bound=Node)


def exchange(func: PrimFunc, changes: Mapping[Stmt, Stmt]) -> PrimFunc:
    """Put statements in the place of others, known by identity; an empty sequence deletes."""
    new: dict[int, Node] = {id(old): now for old, now in changes.items()}
    for node in postorder(func):
        if id(node) not in new:
            changed = with_fields(node, new)
            if changed is not node:
                new[id(node)] = changed
    result = new.get(id(func), func)
    assert isinstance(result, PrimFunc)
    return result


def path_to(func: PrimFunc, target: Node) -> list[Stmt]:
    """List the statements from the body of ``func`` down to ``target``, which is the last."""
    stack: list[tuple[Node, int]] = [(func, -1)]
    visited: list[tuple[Node, int]] = []
    while stack:
        node, parent = stack.pop()
        at = len(visited)
        visited.append((node, parent))
        if node is target:
            found: list[Stmt] = []
            while at > 0:
                step, at = visited[at]
                if isinstance(step, Stmt):
                    found.append(step)
            return found[::-1]
        stack.extend((child, at) for child in reversed(children(node)) if isinstance(child, Stmt))
    raise AssertionError("the statement is not part of the function")


def find_block(func: PrimFunc, name: str) -> Block:
    """Find the block of a name.

    Raises: ScheduleError if there is none, or several.
    """
    named = [block for block in walk(func, on=Block) if block.name == name]
    if len(named) != 1:
        known = ", ".join(sorted({block.name for block in walk(func, on=Block)})) or "none"
        what = "no block" if not named else f"{len(named)} blocks"
        raise ScheduleError(f"{func.name} has {what} named {name!r}; it has: {known}")
    return named[0]


def find_loop(func: PrimFunc, var: Var) -> For:
    """Find the loop of a variable.

    Raises: ScheduleError if it is gone, because it was split, fused or inlined away.
    """
    for loop in walk(func, on=For):
        if loop.var is var:
            return loop
    raise ScheduleError(
        f"{func.name} has no loop {var.name!r} any more",
        hint="A loop that was split or fused is replaced by the loops that the primitive returned.",
    )


def find_ref(func: PrimFunc, ref: BlockRef | LoopRef) -> Block | For:
    """Find what a reference stands for now."""
    return find_block(func, ref.name) if isinstance(ref, BlockRef) else find_loop(func, ref.var)


def loops_to(func: PrimFunc, stmt: Stmt) -> list[For]:
    """List all loops from the body of ``func`` down to a statement, which may be the last."""
    return [each for each in path_to(func, stmt) if isinstance(each, For)]


def loops_above(func: PrimFunc, block: Block) -> list[For]:
    """List the loops around a block, outermost first, up to a block around it."""
    found: list[For] = []
    for stmt in path_to(func, block)[:-1]:
        if isinstance(stmt, Block):
            found = []
        elif isinstance(stmt, For):
            found.append(stmt)
    return found


def unbound_at(func: PrimFunc, value: Node, here: Stmt, there: Stmt) -> str:
    """Name something that a value uses and that is bound around one statement and not around
    another; an empty name says that there is nothing."""
    named = {name for node in walk(value) for name in uses(node)}
    around = {id(stmt) for stmt in path_to(func, there)}
    for stmt in path_to(func, here):
        if id(stmt) in around or not isinstance(stmt, (For, Let, Allocate, View)):
            continue
        bound = stmt.var if isinstance(stmt, (For, Let)) else stmt.buffer
        if bound in named:
            return bound.name
    return ""


def blocks_below(stmt: Stmt) -> list[Block]:
    """List the outermost blocks inside a statement, in text order."""
    found: list[Block] = []
    stack: list[Node] = [stmt]
    while stack:
        node = stack.pop()
        if isinstance(node, Block):
            found.append(node)
        else:
            stack.extend(child for child in reversed(children(node)) if isinstance(child, Stmt))
    return found


def nest(loops: Sequence[For], body: Stmt) -> Stmt:
    """Wrap loops around a body, the first outermost."""
    for loop in reversed(loops):
        body = loop.replace(body=body)
    return body


def nest_again(loops: Sequence[For], own: Mapping[Var, Var], body: Stmt, span: Span) -> Stmt:
    """Wrap loops like some that there are around a body that already uses ``own``, their variables
    for the others'."""
    for loop in reversed(loops):
        begin, end = substitute(loop.begin, own), substitute(loop.end, own)
        body = loop.replace(var=own[loop.var], begin=begin, end=end, body=body, span=span)
    return body


def exchange_in(part: Stmt, changes: Mapping[Stmt, Stmt]) -> Stmt:
    """Put statements in the place of others below a statement that may stand in no function."""
    return exchange(PrimFunc("part", (), part), changes).body


def inside_names(body: Stmt, change: Callable[[Stmt], Stmt]) -> Stmt:
    """Change what stands inside of the allocations and names that a statement begins with."""
    around: list[Allocate | Let | View] = []
    while isinstance(body, (Allocate, Let, View)):
        around.append(body)
        body = body.body
    body = change(body)
    for stmt in reversed(around):
        body = stmt.replace(body=body)
    return body


def remove(func: PrimFunc, block: Block) -> PrimFunc:
    """Delete a block with the loops that then hold nothing."""
    gone: Stmt = block
    for stmt in reversed(path_to(func, block)[:-1]):
        if not isinstance(stmt, For):
            break
        gone = stmt
    return exchange(func, {gone: seq()})


def exchange_buffer(root: _N, old: Buffer, new: Buffer) -> _N:
    """Put a buffer in the place of another wherever it is allocated, loaded, stored or named by a
    region."""

    def move(node: Load | Store | Allocate | Region) -> Node | None:
        return node.replace(buffer=new) if node.buffer is old else None

    return rewrite(root, move, on=(Load, Store, Allocate, Region))


def reads_of(func: PrimFunc, buffer: Buffer) -> list[Block]:
    """List the blocks that load from a buffer, other than to accumulate into it."""
    found: list[Block] = []
    for block in walk(func, on=Block):
        loads = any(load.buffer is buffer for load in walk(block, on=Load))
        if loads and not any(store.buffer is buffer for store in walk(block, on=Store)):
            found.append(block)
    return found


def writes_of(func: PrimFunc, buffer: Buffer) -> list[Block]:
    """List the blocks that store to a buffer."""
    return [
        block
        for block in walk(func, on=Block)
        if any(store.buffer is buffer for store in walk(block, on=Store))
    ]


def producers_of(func: PrimFunc, block: Block) -> list[Block]:
    """List the other blocks that write what a block reads, in the order of the text."""
    return _touching(func, block, Store, read_by(block))


def consumers_of(func: PrimFunc, block: Block) -> list[Block]:
    """List the other blocks that read what a block writes, in the order of the text."""
    return _touching(func, block, Load, written_by(block))


def _touching(
    func: PrimFunc, block: Block, kind: type[Load] | type[Store], buffers: set[Buffer]
) -> list[Block]:
    others = (each for each in walk(func, on=Block) if each is not block)
    return [each for each in others if any(n.buffer in buffers for n in walk(each, on=kind))]


def written_after(func: PrimFunc, block: Block, buffers: set[Buffer]) -> Buffer | None:
    """Find one of some buffers that a block further on writes."""
    blocks = list(walk(func, on=Block))
    later = blocks[blocks.index(block) + 1 :]
    stores = (store.buffer for each in later for store in walk(each, on=Store))
    return next((buffer for buffer in stores if buffer in buffers), None)


def guards_of(block: Block) -> list[Expr]:
    """List the conditions that the predicate of a block joins."""
    return [] if block.predicate is None else conjuncts(block.predicate)


def guards_by_loops(block: Block) -> list[Expr]:
    """List the conditions that the predicate of a block joins, over loops and no axes, so that
    another block may ask them too."""
    values = {axis.var: axis.binding for axis in block.axes}
    return [substitute(part, values) for part in guards_of(block)]


def joined(guards: Sequence[Expr]) -> Expr | None:
    """Join conditions to a predicate, of which there is none where there are none."""
    return logical_and(*guards) if guards else None


def reduced_over(block: Block) -> set[Var]:
    """Collect the loops that any axis but a spatial one is bound to."""
    reducing = (axis for axis in block.axes if axis.kind != "spatial")
    return {var for axis in reducing for var in variables(axis.binding)}


def read_by(stmt: Stmt) -> set[Buffer]:
    """Collect the buffers that a statement loads from."""
    return {load.buffer for load in walk(stmt, on=Load)}


def written_by(stmt: Stmt) -> set[Buffer]:
    """Collect the buffers that a statement stores to."""
    return {store.buffer for store in walk(stmt, on=Store)}


def at_own_axes(store: Store, axes: Sequence[Axis]) -> bool:
    """Say whether a store names each of some axes once, and nothing else."""
    return len(axes) == len(store.indices) and {*store.indices} == {axis.var for axis in axes}


def same_extent(a: Expr, b: Expr) -> bool:
    """Say whether two extents are written alike, or are the same number."""
    return equal(a, b) or (as_int(a) is not None and as_int(a) == as_int(b))


def same_place(a: Load | Store, b: Load | Store) -> bool:
    """Say whether two accesses name the same element, by the same expressions."""
    return a.buffer is b.buffer and all(
        equal(one, other) for one, other in zip(a.indices, b.indices, strict=True)
    )


def only_store(block: Block) -> Store | None:
    """Return the store that is the whole body of a block, or None."""
    return block.body if isinstance(block.body, Store) else None


def allocation(func: PrimFunc, buffer: Buffer) -> Allocate | None:
    """Find where an intermediate buffer is allocated; None for a parameter."""
    return next((stmt for stmt in walk(func, on=Allocate) if stmt.buffer is buffer), None)


def without_allocation(func: PrimFunc, buffer: Buffer) -> PrimFunc:
    """Take away the allocation of a buffer that nothing uses, or that is to be elsewhere."""
    home = allocation(func, buffer)
    assert home is not None
    return exchange(func, {home: home.body})


def variables(expr: Expr | None) -> set[Var]:
    """Collect the variables of an expression."""
    return set(walk(expr, on=Var)) if expr is not None else set()
