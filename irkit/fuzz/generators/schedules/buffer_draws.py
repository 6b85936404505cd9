"""Random calls of the primitives that change buffers."""

from irkit.fuzz.generators.schedules.site import SCOPES, Site
from irkit.ir import F32
from irkit.schedule import LoopRef, Schedule


def cache_read(s: Site) -> object:
    block = s.block()
    consumers = [s.near(block)] if s.picks.one_in(4) else []
    which = s.picks.below(3)
    reads = s.reads(block)
    buffer = reads[which % len(reads)] if reads and s.picks.below(3) else which
    return s.sch.cache_read(block, s.reference(buffer), s.picks.pick(SCOPES), consumers=consumers)


def cache_write(s: Site) -> object:
    return s.sch.cache_write(s.block(), s.picks.pick(SCOPES))


def transform_layout(s: Site) -> object:
    block = s.temporary()
    pad = s.picks.pick((None, None, 0, 1))
    return s.sch.transform_layout(block, s.index_map(block), pad)


def set_scope(s: Site) -> object:
    return s.sch.set_scope(s.temporary(), s.picks.pick(SCOPES))


def cache_inplace(s: Site) -> object:
    block = s.block()
    return s.sch.cache_inplace(block, s.picks.pick([*s.writes(block), 0]), s.picks.pick(SCOPES))


def cache_index(s: Site) -> object:
    return s.sch.cache_index(s.block(), s.picks.pick(SCOPES))


def stage_mem(s: Site) -> object:
    block = s.block()
    buffers = [*s.reads(block), *s.writes(block)]
    return s.sch.stage_mem(s.loop_of(block), s.picks.pick(buffers), s.picks.pick(SCOPES))


def read_at(s: Site) -> object:
    block = s.block()
    buffer = s.picks.pick([*s.reads(block), 0])
    return s.sch.read_at(s.loop_of(block), block, s.reference(buffer), s.picks.pick(SCOPES))


def write_at(s: Site) -> object:
    block = s.block()
    buffer = s.picks.pick([*s.writes(block), 0])
    return s.sch.write_at(s.loop_of(block), block, buffer, s.picks.pick(SCOPES))


def reindex(s: Site) -> object:
    block = s.block()
    buffer = s.reference(s.picks.pick([*s.reads(block), *s.writes(block)]))
    assert not isinstance(buffer, int)
    return s.sch.reindex(block, buffer)


def reindex_cache_read(s: Site) -> object:
    block = s.block()
    buffer = s.picks.pick([*s.reads(block), 0])
    mapped = s.map_of(len(s.sch.get(block).axes))
    return s.sch.reindex_cache_read(block, buffer, s.picks.pick(SCOPES), mapped)


def reindex_cache_write(s: Site) -> object:
    block = s.block()
    buffer = s.picks.pick([*s.writes(block), 0])
    mapped = s.map_of(len(s.sch.get(block).axes))
    return s.sch.reindex_cache_write(block, buffer, s.picks.pick(SCOPES), mapped)


def storage_align(s: Site) -> object:
    axis, factor = s.picks.below(3), s.picks.pick((4, 8, 3, 0))
    return s.sch.storage_align(s.temporary(), s.picks.below(2), axis, factor, s.picks.below(3))


def double_buffer(s: Site) -> object:
    return s.sch.double_buffer(s.temporary())


def reuse_buffer(s: Site) -> object:
    pairs = [(s.temporary(), s.temporary()) for _ in range(6)]
    return s.seek([lambda sch, p=pair: sch.reuse_buffer(*p) for pair in pairs])


def unsafe_set_dtype(s: Site) -> object:
    """64-bit floats hold all 32-bit floats exactly, so that nothing may change."""
    block = s.temporary()
    narrow = all(buffer.dtype == F32 for buffer in s.writes(block))
    return s.sch.unsafe_set_dtype(block, "f64" if narrow else s.writes(block)[0].dtype)


def rolling_buffer(s: Site) -> object:
    """Mostly move a producer to a loop of its consumer first, as no other buffer is rolled."""
    block = s.temporary()
    consumers = s.sch.get_consumers(block)
    if not consumers or s.picks.one_in(4):
        return s.sch.rolling_buffer(block)
    loops = s.around(s.picks.pick(consumers)) or s.loops

    def at(sch: Schedule, loop: LoopRef) -> object:
        sch.compute_at(block, loop)
        return sch.rolling_buffer(block)

    return s.seek([lambda sch, a=loop: at(sch, a) for loop in loops])


def prefetch(s: Site) -> object:
    block = s.block()
    buffer = s.picks.pick([*s.reads(block), 0])
    loop, offset = s.loop_of(block), s.picks.pick((1, 2, 0, -1))
    inside = s.loop_of(block) if s.picks.one_in(2) else None
    return s.sch.prefetch(block, buffer, loop, offset, inside=inside)
