"""Inline the stages that cost less where they are read than in memory."""

from collections.abc import Callable

from irkit.autoschedule.attention import stages_of_attention
from irkit.autoschedule.structure import blocks_of
from irkit.autoschedule.transforms import stages_of_transforms
from irkit.core import ScheduleError, any_node, children, walk
from irkit.ir import (
    Block,
    Call,
    Conditional,
    Const,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    InstructionCall,
    Load,
    Store,
    Var,
    is_const,
    simplify,
)
from irkit.ir.analysis import ValueNumbering
from irkit.schedule import BlockRef, Schedule, only_store, reads_of, variables

_MOST_ADDED = 24
"""Loads and operations for each element that inlining a stage may add to all others together: what
it takes about as long as to store a value and read it again from the second cache."""
_MOST_NODES = 400
"""Loads and operations of a stage into which others were inlined."""
_DEAR = (Call, InstructionCall, Conditional, Div, FloorDiv, FloorMod)
"""What is not computed again: functions, divisions, and what tests its place."""


def inline_stages(sch: Schedule, *, kept: frozenset[str] = frozenset()) -> None:
    """Inline every stage that costs nothing or that only one pointwise stage reads, once; then,
    readers first, those that cost little where they are read.

    Stages whose names are ``kept``, and those of attention or of a product between transforms,
    stay.
    """
    kept |= stages_of_transforms(sch) | stages_of_attention(sch)
    for block in blocks_of(sch):
        _inline(sch, block, kept, _is_free_or_read_once)
    for block in reversed(blocks_of(sch)):
        _inline(sch, block, kept, _costs_little)


def _inline(
    sch: Schedule,
    block: Block,
    kept: frozenset[str],
    pays: Callable[[Schedule, Block, Store, list[Block]], bool],
) -> None:
    store = only_store(block)
    if store is None or block.init is not None or block.name in kept:
        return
    readers = reads_of(sch.func, store.buffer)
    if readers and pays(sch, block, store, readers):
        try:
            sch.compute_inline(BlockRef(block.name))
        except ScheduleError:
            return


def _is_free_or_read_once(sch: Schedule, block: Block, store: Store, readers: list[Block]) -> bool:
    once = len(readers) == 1 and readers[0].init is None and len(_loads(readers[0], store)) == 1
    return once or _is_free(block, store, readers)


def _loads(reader: Block, store: Store) -> list[Load]:
    return [load for load in walk(reader.body, on=Load) if load.buffer is store.buffer]


def _is_free(block: Block, store: Store, readers: list[Block]) -> bool:
    """Return True if a value is a constant or a load, without arithmetic or a select.

    If a reduction reads it, neighbouring elements must also stay neighbours.
    """
    value = store.value
    if not isinstance(value, (Const, Load)) or any_node(value, (Call, Conditional)):
        return False
    if isinstance(value, Const) or all(reader.init is None for reader in readers):
        return True
    last = block.axes[-1].var if block.axes else None
    plain = bool(value.indices) and value.indices[-1] is last
    return plain or last not in variables(value)


def _costs_little(sch: Schedule, block: Block, store: Store, readers: list[Block]) -> bool:
    """Return True if computing a value wherever it is read takes few more operations, equal ones
    counted once, and no element is computed for all that it is repeated for."""
    if any_node(store.value, _DEAR):
        return False
    if any(only_store(reader) is None for reader in readers):
        return False
    if not all(_moves_with(reader, load) for reader in readers for load in _loads(reader, store)):
        return False
    trial = sch.copy()
    try:
        trial.compute_inline(BlockRef(block.name))
    except ScheduleError:
        return False
    before = [_operations(each) for each in (block, *readers)]
    after = [_operations(trial.get(BlockRef(reader.name))) for reader in readers]
    return max(after) <= _MOST_NODES and sum(after) - sum(before) <= _MOST_ADDED


def _moves_with(reader: Block, load: Load) -> bool:
    """Return True if a load reads another element at each point of a stage. For a reduction, which
    windows can make overlap, each axis must be an index by itself."""
    if reader.init is not None:
        return all(axis.var in load.indices for axis in reader.axes if not is_const(axis.extent, 1))
    used = {var for index in load.indices for var in variables(index)}
    return all(axis.var in used for axis in reader.axes if not is_const(axis.extent, 1))


def _operations(block: Block) -> int:
    """Count the loads and operations of a stage, equal ones once and those of indices not."""
    store = only_store(block)
    assert store is not None
    numbering = ValueNumbering()
    found: set[int] = set()
    waiting: list[Expr] = [simplify(store.value)]
    while waiting:
        each = waiting.pop()
        number = numbering.of(each)
        if number in found or isinstance(each, (Const, Var)):
            continue
        found.add(number)
        if not isinstance(each, Load):
            waiting += [node for node in children(each) if isinstance(node, Expr)]
    return len(found)
