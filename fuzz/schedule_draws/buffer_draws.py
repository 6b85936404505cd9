"""Draws of the primitives that change buffers."""

from irkit.fuzz.schedule_draws.site import SCOPES, Site


def cache_read(s: Site) -> object:
    block = s.block()
    consumers = [s.near(block)] if s.picks.one_in(4) else []
    which = s.picks.below(3)
    reads = s.reads(block)
    buffer = reads[which % len(reads)] if reads and s.picks.below(3) else which
    return s.sch.cache_read(block, buffer, s.picks.pick(SCOPES), consumers=consumers)


def cache_write(s: Site) -> object:
    return s.sch.cache_write(s.block(), s.picks.pick(SCOPES))


def transform_layout(s: Site) -> object:
    block = s.temporary()
    return s.sch.transform_layout(block, s.index_map(block))  # pyright: ignore[reportArgumentType] -- any map


def set_scope(s: Site) -> object:
    return s.sch.set_scope(s.temporary(), s.picks.pick(SCOPES))
