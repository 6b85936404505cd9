"""Find blocks, loops, allocations and the paths to them in a function.

A loop is identified by its variable and a block by its name: both survive every rewrite, so
references need no forwarding.
"""

from itertools import pairwise

from irkit.core import Node, ScheduleError, children, uses, walk
from irkit.ir import (
    Allocate,
    Assert,
    Block,
    Buffer,
    Const,
    Expr,
    For,
    If,
    Let,
    PrimFunc,
    Seq,
    Stmt,
    Var,
    View,
    ge,
    logical_not,
    lt,
    statements,
)
from irkit.schedule.state.references import BlockRef, LoopRef


def nest_of(func: PrimFunc, block: Block) -> Stmt:
    """Return the outermost loop around a block that contains nothing else."""
    top: Stmt = block
    for stmt in reversed(path_to(func, block)[:-1]):
        if not isinstance(stmt, For):
            break
        top = stmt
    return top


def path_to(func: PrimFunc, target: Stmt) -> list[Stmt]:
    """List the statements from the body of ``func`` down to ``target``, which is the last."""
    table = statements(func)
    assert target in table, "the statement is not part of the function"
    return table.path(target)


def conditions_around(func: PrimFunc, target: Stmt) -> list[Expr]:
    """List the conditions of the branches around a statement, as they hold there."""
    found: list[Expr] = []
    for stmt, inner in pairwise(path_to(func, target)):
        if isinstance(stmt, If):
            found.append(stmt.cond if inner is stmt.then else logical_not(stmt.cond))
    return found


def facts_at(func: PrimFunc, target: Stmt) -> list[Expr]:
    """List what holds where a statement runs: the branches around it, that each loop around it has
    an iteration, the assertions before it, and that dimensions of buffers are not negative."""
    dims = [dim for param in func.params if isinstance(param, Buffer) for dim in param.shape]
    found = [ge(dim, 0) for dim in dims if not isinstance(dim, (Var, Const))]
    found += conditions_around(func, target)
    for stmt, inner in pairwise(path_to(func, target)):
        if isinstance(stmt, Allocate):
            found += [ge(dim, 0) for dim in stmt.buffer.shape if not isinstance(dim, Const)]
        elif isinstance(stmt, For):
            found.append(lt(stmt.begin, stmt.end))
        elif isinstance(stmt, Seq):
            before = stmt.stmts[: stmt.stmts.index(inner)]
            found += [each.cond for each in before if isinstance(each, Assert)]
    return found


def find_block(func: PrimFunc, name: str) -> Block:
    """Return the block of a name.

    Raises: ScheduleError if there is none, or several.
    """
    blocks = statements(func).blocks
    named = [block for block in blocks if block.name == name]
    if len(named) != 1:
        known = ", ".join(sorted({block.name for block in blocks})) or "none"
        what = "no block" if not named else f"{len(named)} blocks"
        raise ScheduleError(f"{func.name} has {what} named {name!r}; it has: {known}")
    return named[0]


def find_loop(func: PrimFunc, var: Var) -> For:
    """Return the loop of a variable.

    Raises: ScheduleError if there is no such loop any more, for example because it was split or
    fused.
    """
    loop = statements(func).loop(var)
    if loop is not None:
        return loop
    raise ScheduleError(
        f"{func.name} has no loop {var.name!r} any more",
        hint="After split or fuse, use the loops that the primitive returned.",
    )


def find_ref(func: PrimFunc, ref: BlockRef | LoopRef) -> Block | For:
    """Return the current block or loop of a reference."""
    return find_block(func, ref.name) if isinstance(ref, BlockRef) else find_loop(func, ref.var)


def loops_to(func: PrimFunc, stmt: Stmt) -> list[For]:
    """List all loops from the body of ``func`` down to a statement, including the statement
    itself."""
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
    """Return the name of something that a value uses and that is bound around ``here`` but not
    around ``there``; empty if there is nothing."""
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


def allocation(func: PrimFunc, buffer: Buffer) -> Allocate | None:
    """Return the allocation of an intermediate buffer; None for a parameter."""
    found = (stmt for stmt in statements(func).all if isinstance(stmt, Allocate))
    return next((stmt for stmt in found if stmt.buffer is buffer), None)
