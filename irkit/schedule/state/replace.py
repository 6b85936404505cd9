"""Replace statements and buffers in a function."""

from collections.abc import Callable
from typing import TypeVar

from irkit.core import Node, rewrite
from irkit.ir import (
    Allocate,
    Block,
    Buffer,
    Let,
    Load,
    PrimFunc,
    Region,
    Stmt,
    Store,
    View,
    nested,
    replace_stmts,
    seq,
)
from irkit.schedule.state.lookup import allocation, nest_of

_N = TypeVar("_N", bound=Node)


def inside_bindings(body: Stmt, change: Callable[[Stmt], Stmt]) -> Stmt:
    """Apply ``change`` to what is inside the leading allocations, lets and views of a statement."""
    around: list[Allocate | Let | View] = []
    while isinstance(body, (Allocate, Let, View)):
        around.append(body)
        body = body.body
    return nested(around, change(body))


def remove_block(func: PrimFunc, block: Block) -> PrimFunc:
    """Delete a block and the loops that become empty."""
    return replace_stmts(func, {nest_of(func, block): seq()})


def replace_buffer(root: _N, old: Buffer, new: Buffer) -> _N:
    """Replace a buffer wherever it is allocated, loaded, stored or part of a region."""

    def move(node: Load | Store | Allocate | Region) -> Node | None:
        return node.replace(buffer=new) if node.buffer is old else None

    return rewrite(root, move, on=(Load, Store, Allocate, Region))


def without_allocation(func: PrimFunc, buffer: Buffer) -> PrimFunc:
    """Remove the allocation of a buffer, which is unused or will be allocated elsewhere."""
    home = allocation(func, buffer)
    assert home is not None
    return replace_stmts(func, {home: home.body})
