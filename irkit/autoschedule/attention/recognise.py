"""Recognise a softmax of products that are multiplied again, in stages with tiles of rows.

The stages: copies of the operands in tiles and panels; the scores of a tile, and what is made of
them element by element; the maximum of each row, the exponentials, their sum; the second product;
and results. Of several parts of a row, each has a maximum, a sum and a product of its own, and
they are weighed before they are added.
"""

from typing import NamedTuple

from irkit.autoschedule.structure import blocks_of
from irkit.autoschedule.transforms import is_read_alike
from irkit.core import walk
from irkit.ir import Add, Axis, Block, Buffer, Load, Max, Mul, Store, Var, is_const
from irkit.schedule import Schedule, allocation, only_store, reads_of, variables, writes_of

_INSIDE = 4
"""Axes of the scores: tiles of rows, parts, rows of a tile, columns; others are before them."""


class AttentionParts(NamedTuple):
    """What puts the parts of a row together."""

    best: Block
    weights: Block
    whole: Block
    joined: Block


class AttentionStages(NamedTuple):
    """The stages; ``parts`` are None if a row is a single one."""

    queries: Block
    keys: Block
    values: Block
    scores: Block
    masked: Block
    top: Block
    powers: Block
    total: Block
    mixed: Block
    parts: AttentionParts | None
    finish: Block

    @property
    def kept(self) -> tuple[Block, ...]:
        """The stages without a reduction that are not to be inlined into another."""
        own = (self.queries, self.keys, self.values, self.masked, self.powers)
        return own if self.parts is None else (*own, self.parts.weights)


def stages_of_attention(sch: Schedule) -> frozenset[str]:
    """Return the names of stages that are not to be inlined."""
    names: set[str] = set()
    for block in blocks_of(sch):
        found = None if block.init is None else attention_of(sch, block)
        if found is not None:
            ends = () if is_read_alike(sch, found.finish) else (found.finish,)
            names |= {each.name for each in (*found.kept, *ends)}
    return frozenset(names)


def attention_of(sch: Schedule, block: Block) -> AttentionStages | None:
    """Return the stages around the product of queries and keys; None if it is no such product."""
    operands = _operands(block)
    readers = [] if operands is None else _readers(sch, block)
    if operands is None or len(readers) != 1 or not _is_pointwise(readers[0]):
        return None
    masked, (queries, keys) = readers[0], operands
    tops, powers = _apart(_readers(sch, masked))
    if len(masked.axes) < _INSIDE or len(tops) != 1 or len(powers) != 1:
        return None
    sums, others = _apart(_readers(sch, powers[0]))
    mixed = [each for each in sums if _operands(each) is not None]
    totals = [each for each in sums if each not in mixed]
    if len(mixed) != 1 or len(totals) != 1 or others or not _reduces(tops[0], Max):
        return None
    factors = _operands(mixed[0])
    parts = _parts(sch, tops[0], totals[0], mixed[0])
    ends = (totals[0], mixed[0]) if parts is None else (parts.whole, parts.joined)
    finish = _readers(sch, ends[1])
    if factors is None or len(finish) != 1 or finish != _readers(sch, ends[0]):
        return None
    copies = [_copy(sch, load.buffer) for load in (queries, keys, factors[1])]
    first, second, third = copies
    if first is None or second is None or third is None or not _is_pointwise(finish[0]):
        return None
    return AttentionStages(
        first, second, third, block, masked, tops[0], powers[0], totals[0], mixed[0], parts,
        finish[0],
    )  # fmt: skip


def row_and_feature(found: AttentionStages) -> tuple[Axis, Axis] | None:
    """Return the axes of the results along queries and along features; None if the axes before them
    are not those of the products."""
    source = _made(found.mixed if found.parts is None else found.parts.joined)
    loads = [each for each in walk(found.finish.body, on=Load) if each.buffer is source]
    if len(loads) != 1:
        return None
    indices = loads[0].indices
    at = len(indices) - (_INSIDE if found.parts is not None else _INSIDE + 1)
    by_var = {axis.var: axis for axis in found.finish.axes}
    row, feature = (
        [by_var[var] for var in variables(index) if var in by_var]
        for index in (indices[at], indices[-1])
    )
    others = [axis.var for axis in found.finish.axes if axis not in (*row, *feature)]
    if len(row) != 1 or len(feature) != 1 or set(others) != set(indices[:at]):
        return None
    return row[0], feature[0]


def _parts(sch: Schedule, top: Block, total: Block, mixed: Block) -> AttentionParts | None:
    bests, weights = _apart(_readers(sch, top))
    if len(bests) != 1 or not _reduces(bests[0], Max):
        return None
    found = [each for each in weights if each in _readers(sch, bests[0])]
    sums = [_readers(sch, each) for each in (total, mixed)]
    if len(found) != 1 or any(len(each) != 1 or not _reduces(each[0], Add) for each in sums):
        return None
    return AttentionParts(bests[0], found[0], sums[0][0], sums[1][0])


def _operands(block: Block) -> tuple[Load, Load] | None:
    """Return what a sum of products multiplies, the operand that moves along the last axis last."""
    store = only_store(block)
    if store is None or not isinstance(block.init, Store) or not is_const(block.init.value, 0):
        return None
    value = store.value
    if not isinstance(value, Add) or not isinstance(value.a, Load) or not isinstance(value.b, Mul):
        return None
    a, b = value.b.a, value.b.b
    if value.a.buffer is not store.buffer or not isinstance(a, Load) or not isinstance(b, Load):
        return None
    if not store.indices:
        return None
    line = variables(store.indices[-1])
    return None if line & _used(a) or not line <= _used(b) else (a, b)


def _used(load: Load) -> set[Var]:
    return {var for index in load.indices for var in variables(index)}


def _reduces(block: Block, kind: type[Add | Max]) -> bool:
    store = only_store(block)
    return block.init is not None and store is not None and isinstance(store.value, kind)


def _is_pointwise(block: Block) -> bool:
    return block.init is None and only_store(block) is not None


def _made(block: Block) -> Buffer | None:
    store = only_store(block)
    return None if store is None else store.buffer


def _readers(sch: Schedule, block: Block) -> list[Block]:
    """Return the stages that read what a block alone makes; none if others can see it."""
    buffer = _made(block)
    if buffer is None or allocation(sch.func, buffer) is None:
        return []
    return reads_of(sch.func, buffer) if len(writes_of(sch.func, buffer)) == 1 else []


def _apart(blocks: list[Block]) -> tuple[list[Block], list[Block]]:
    """Return the reductions among some stages, and the others."""
    reductions = [each for each in blocks if each.init is not None]
    return reductions, [each for each in blocks if each.init is None]


def _copy(sch: Schedule, buffer: Buffer) -> Block | None:
    """Return the stage that alone makes a buffer, element by element, for a single reader."""
    writers = writes_of(sch.func, buffer)
    if allocation(sch.func, buffer) is None or len(writers) != 1 or not _is_pointwise(writers[0]):
        return None
    return writers[0] if len(reads_of(sch.func, buffer)) == 1 else None
