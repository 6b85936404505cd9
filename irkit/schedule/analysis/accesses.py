"""Which buffers and variables statements use, and which blocks read and write a buffer."""

from collections.abc import Sequence
from itertools import pairwise

from irkit.core import analysis, equal, walk
from irkit.ir import (
    Axis,
    Block,
    Buffer,
    Expr,
    If,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    as_int,
    statements,
)
from irkit.schedule.state.lookup import path_to


def reads_of(func: PrimFunc, buffer: Buffer) -> list[Block]:
    """List the blocks that load from a buffer, other than to accumulate into it."""
    return [
        block
        for block in statements(func).blocks
        if buffer in _loaded_in(block) and buffer not in _stored_in(block)
    ]


def writes_of(func: PrimFunc, buffer: Buffer) -> list[Block]:
    """List the blocks that store to a buffer."""
    return [block for block in statements(func).blocks if buffer in _stored_in(block)]


def writes_beside(func: PrimFunc, block: Block, buffer: Buffer) -> list[Block]:
    """List the other blocks that store to a buffer, but not those that run only if a block does
    not, as in another arm of an ``if``."""
    path = path_to(func, block)
    excluded = set[Block]()
    for stmt, inner in pairwise(path):
        if isinstance(stmt, If):
            arms = (stmt.then, stmt.otherwise)
            excluded.update(b for arm in arms if arm and arm is not inner for b in walk(arm, Block))
    return [b for b in writes_of(func, buffer) if b is not block and b not in excluded]


def producers_of(func: PrimFunc, block: Block) -> list[Block]:
    """List the other blocks that write what a block reads, in text order."""
    read = _loaded_in(block)
    return [each for each in _others(func, block) if read.keys() & _stored_in(each).keys()]


def consumers_of(func: PrimFunc, block: Block) -> list[Block]:
    """List the other blocks that read what a block writes, in text order."""
    written = _stored_in(block)
    return [each for each in _others(func, block) if written.keys() & _loaded_in(each).keys()]


def _others(func: PrimFunc, block: Block) -> list[Block]:
    return [each for each in statements(func).blocks if each is not block]


def written_after(func: PrimFunc, block: Block, buffers: set[Buffer]) -> Buffer | None:
    """Return one of the buffers that a later block writes, or None."""
    blocks = statements(func).blocks
    later = blocks[blocks.index(block) + 1 :]
    stores = (buffer for each in later for buffer in _stored_in(each))
    return next((buffer for buffer in stores if buffer in buffers), None)


@analysis
def _loaded_in(block: Block) -> dict[Buffer, None]:
    """Collect the buffers that a block loads from, in text order."""
    return {load.buffer: None for load in walk(block, on=Load)}


@analysis
def _stored_in(block: Block) -> dict[Buffer, None]:
    """Collect the buffers that a block stores to, in text order."""
    return {store.buffer: None for store in walk(block, on=Store)}


def read_by(stmt: Stmt) -> set[Buffer]:
    """Collect the buffers that a statement loads from."""
    return {load.buffer for load in walk(stmt, on=Load)}


def written_by(stmt: Stmt) -> set[Buffer]:
    """Collect the buffers that a statement stores to."""
    return {store.buffer for store in walk(stmt, on=Store)}


def at_own_axes(store: Store, axes: Sequence[Axis]) -> bool:
    """Return True if the indices of a store are exactly the given axes, each once."""
    return len(axes) == len(store.indices) and {*store.indices} == {axis.var for axis in axes}


def same_extent(a: Expr, b: Expr) -> bool:
    """Return True if two extents are the same expression or the same number."""
    return equal(a, b) or (as_int(a) is not None and as_int(a) == as_int(b))


def only_store(block: Block) -> Store | None:
    """Return the store that is the whole body of a block, or None."""
    return block.body if isinstance(block.body, Store) else None


def variables(expr: Expr | None) -> set[Var]:
    """Collect the variables of an expression."""
    return set(walk(expr, on=Var)) if expr is not None else set()
