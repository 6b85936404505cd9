"""Random calls of the primitives that move blocks and decompose reductions."""

from itertools import pairwise
from typing import Any

from irkit.core import walk
from irkit.fuzz.generators.schedules.site import Site
from irkit.ir import I64, Conditional, Const, const, eq, lt, shape_vars
from irkit.schedule import BlockRef, LoopRef, Schedule, builtin_intrinsics


def compute_inline(s: Site) -> object:
    return s.sch.compute_inline(s.temporary())


def reverse_compute_inline(s: Site) -> object:
    consumers = s.sch.get_consumers(s.temporary())
    return s.sch.reverse_compute_inline(s.picks.pick(consumers or s.blocks))


def compute_at(s: Site) -> object:
    block = s.temporary()
    consumers = s.sch.get_consumers(block)
    other = s.picks.pick(consumers) if consumers and s.picks.below(8) else s.near(block)
    return s.sch.compute_at(block, s.loop_of(other))


def reverse_compute_at(s: Site) -> object:
    """Now and then under a loop fused from those of two producers."""
    pairs = [(one, two, b) for b in s.blocks for one, two in pairwise(s.sch.get_producers(b))]
    if pairs and s.picks.one_in(3):
        return s.seek([lambda sch, p=pair: _under_both(s, sch, *p) for pair in pairs])
    producer = s.temporary()
    consumers = s.sch.get_consumers(producer)
    block = s.picks.pick(consumers) if consumers and s.picks.below(8) else s.block()
    return s.sch.reverse_compute_at(block, s.loop_of(producer))


def _under_both(s: Site, sch: Schedule, one: BlockRef, two: BlockRef, last: BlockRef) -> object:
    loops = [s.around(block)[:1] for block in (one, two)]
    return sch.reverse_compute_at(last, sch.merge(*(each for found in loops for each in found)))


def compute_root(s: Site) -> object:
    return s.sch.compute_root(s.block())


def decompose_reduction(s: Site) -> object:
    block = s.reduction()
    return s.sch.decompose_reduction(block, s.loop_of(block))


def rfactor(s: Site) -> object:
    block = s.reduction()
    loops = s.around(block)
    if loops and s.picks.below(3):
        loops = loops[-1:]  # Reduction loops are innermost at first.
    return s.sch.rfactor(s.picks.pick(loops or s.loops), s.picks.below(3))


def overcompute(s: Site) -> object:
    guarded = [b for b in s.blocks if s.sch.get(b).predicate is not None]
    return s.sch.overcompute(s.picks.pick(guarded or s.blocks))


def set_store_predicate(s: Site) -> object:
    n, which = s.picks.below(5), s.picks.below(4)
    block = s.picks.pick([each for each in s.blocks if s.sch.get(each).axes] or s.blocks)

    def predicate(*at: Any) -> Any:
        first, last = at[0], at[-1]
        return (last < n, (first >= 0) & (last != n), first < 1, first + last <= n + 9)[which]

    has_axes = bool(s.sch.get(block).axes)
    return s.sch.set_store_predicate(block, predicate if has_axes else (lambda: const(True)))


def specialize(s: Site) -> object:
    """Over sizes of the function, or over a number where all of them are known."""
    sizes = [*shape_vars(s.sch.func)]

    def condition() -> Any:
        size: Any = s.picks.pick(sizes) if sizes else Const(s.picks.below(20), I64)
        limit = s.picks.below(10)
        return (lt(size, limit), eq(size % (limit + 1), 0), eq(size, limit))[s.picks.below(3)]

    return s.sch.specialize(*(condition() for _ in range(1 + s.picks.below(2))))


def blockize(s: Site) -> object:
    return s.sch.blockize(s.loop())


def tensorize(s: Site) -> object:
    """Mostly tile blocks that reduce, so that an intrinsic may fit."""
    names = [each.name for each in builtin_intrinsics()]
    nests = [s.around(b)[-3:] for b in s.blocks if s.sch.get(b).init is not None]
    nests = [loops for loops in nests if len(loops) == 3]
    if not nests or s.picks.one_in(4):
        return s.sch.tensorize(s.loop(), s.picks.pick(names))

    def tiled(sch: Schedule, loops: list[LoopRef], name: str) -> object:
        inner = [sch.split(loop, [None, 4]) for loop in loops]
        sch.reorder(*(outer for outer, _ in inner), *(each for _, each in inner))
        return sch.tensorize(inner[0][1], name)

    return s.seek([lambda sch, a=a, n=n: tiled(sch, a, n) for a in nests for n in names])


def decompose_padding(s: Site) -> object:
    """Mostly choose blocks with a select, as padding has."""
    padded = [b for b in s.blocks if list(walk(s.sch.get(b).body, on=Conditional))]
    block = s.picks.pick(padded or s.blocks)
    return s.sch.decompose_padding(block, s.loop_of(block))


def pad_einsum(s: Site) -> object:
    block = s.reduction()
    return s.sch.pad_einsum(block, [s.picks.pick((1, 4, 2, 3)) for _ in s.sch.get(block).axes])


def begin_at_first(s: Site) -> object:
    return s.sch.begin_at_first(s.reduction())


def shift_to_unsigned(s: Site) -> object:
    block = s.reduction()
    return s.sch.shift_to_unsigned(block, s.picks.pick((0, 1)))


def transform_block_layout(s: Site) -> object:
    block = s.block()
    mapped = s.map_of(len(s.sch.get(block).axes))
    return s.sch.transform_block_layout(block, mapped)


def reorder_block_iter_var(s: Site) -> object:
    block = s.block()
    left = list(range(len(s.sch.get(block).axes) + s.picks.one_in(9)))
    order = [left.pop(-1 - s.picks.below(len(left))) for _ in range(len(left))]
    return s.sch.reorder_block_iter_var(block, order)


def fuse_reduction_epilogue(s: Site) -> object:
    reducing = [b for b in s.blocks if any(a.kind == "reduce" for a in s.sch.get(b).axes)]
    pairs = [(b, c) for b in reducing for c in s.sch.get_consumers(b)] or [(s.block(), s.block())]
    return s.seek([lambda sch, p=pair: sch.fuse_reduction_epilogue(*p) for pair in pairs])
