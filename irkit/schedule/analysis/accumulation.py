"""Blocks that accumulate, so that their iterations can run in any order."""

from irkit.core import walk
from irkit.ir import (
    Add,
    And,
    BitAnd,
    BitOr,
    BitXor,
    Block,
    Expr,
    Load,
    Max,
    Min,
    Mul,
    Or,
    PrimFunc,
    Store,
    uses_of,
)
from irkit.schedule.analysis.accesses import only_store, same_place

_COMMUTATIVE = (Add, Mul, Max, Min, And, Or, BitAnd, BitOr, BitXor)


def accumulates(func: PrimFunc, block: Block) -> bool:
    """Return True if the body of a block combines one element with a value, by an associative and
    commutative operation, and the value does not read what the block writes."""
    store = only_store(block)
    if store is None or store.mask is not None or not isinstance(store.value, _COMMUTATIVE):
        return False
    memory = uses_of(func).memory
    own = memory(store.buffer)

    def reads_own(expr: Expr) -> bool:
        return any(memory(load.buffer) is own for load in walk(expr, on=Load))

    sides = (store.value.a, store.value.b)
    rest = [side for side in sides if not _is_old_value(side, store)]
    indices = any(reads_own(index) for index in store.indices)
    asks = block.predicate is not None and reads_own(block.predicate)
    return len(rest) == 1 and not reads_own(rest[0]) and not indices and not asks


def _is_old_value(side: Expr, store: Store) -> bool:
    return isinstance(side, Load) and same_place(side, store)
