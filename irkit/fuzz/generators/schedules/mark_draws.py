"""Random calls of the primitives that mark loops and blocks."""

from irkit.fuzz.generators.schedules.site import AXES, Site
from irkit.schedule import BlockRef, LoopRef


def parallel(s: Site) -> object:
    return s.sch.parallel(s.loop())


def vectorize(s: Site) -> object:
    return s.sch.vectorize(s.loop())


def unroll(s: Site) -> object:
    return s.sch.unroll(s.loop())


def bind(s: Site) -> object:
    return s.sch.bind(s.loop(), s.picks.pick(AXES))


def annotate(s: Site) -> object:
    where = s.loop() if s.picks.below(2) else s.block()
    return s.sch.annotate(where, s.picks.pick(("note", "other")), s.picks.pick((1, "x", 0.5, True)))


def unannotate(s: Site) -> object:
    where = s.loop() if s.picks.below(2) else s.block()
    return s.sch.unannotate(where, _hint_of(s, where))


def _hint_of(s: Site, where: LoopRef | BlockRef) -> str:
    if s.picks.below(3):
        s.sch.annotate(where, "note", 2)
    return "note"


def pragma(s: Site) -> object:
    key, value = s.picks.pick(
        (("auto_unroll_max_step", 4), ("unroll_explicit", True), ("parallel_chunks", 1), ("x", 1))
    )
    return s.sch.pragma(s.loop(), key, value)
