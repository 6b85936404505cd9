"""Random calls of the primitives that change loops."""

from irkit.fuzz.generators.schedules.site import AXES, Site
from irkit.ir import Expr, index
from irkit.schedule import BlockRef, LoopRef


def split(s: Site) -> object:
    loop, how = s.loop(), s.picks.below(10)
    n, m = s.factor(loop), s.factor(loop)
    if how < 5:
        tail = "shift" if s.picks.one_in(3) else "guard"
        factors: list[int | Expr | None] = [None, n] if how < 3 else [n, None]
        return s.sch.split(loop, factors, tail=tail)
    if how == 5:
        return s.sch.split(loop, [m, n])
    if how == 6:
        return s.sch.split(loop, [m, None, n])
    if how == 7:
        return s.sch.split(loop, nparts=n)
    if how == 8 and s.symbols():
        return s.sch.split(loop, [None, index(s.picks.pick(s.symbols()))])
    return s.sch.split(loop, factor=n)


def tile(s: Site) -> object:
    loops = (s.nested(2) * 2)[:2]
    return s.sch.tile(loops[0], loops[1], s.factor(loops[0]), s.factor(loops[1]))


def fuse(s: Site) -> object:
    return s.sch.fuse(*s.nested(3))


def reorder(s: Site) -> object:
    loops = s.nested(4)
    order = [loops.pop(-1 - s.picks.below(len(loops))) for _ in range(len(loops))]
    return s.sch.reorder(*order)


def loop_partition(s: Site) -> object:
    loop = s.loop()
    n, extent = s.factor(loop), s.extent(loop)
    forms = ([n, None], [1, None, 1], [n, extent - n], [None, n], [None, extent + 1])
    return s.sch.loop_partition(loop, s.picks.pick(forms))


def cut_loop(s: Site) -> object:
    loop = s.loop()
    return s.sch.cut_loop(loop, s.picks.below(max(1, s.extent(loop)) + 1))


def join_loops(s: Site) -> object:
    loop = s.loop()
    if s.picks.below(2):  # Chance seldom finds loops that fit.
        parts = s.sch.cut_loop(loop, 1 + s.picks.below(max(1, s.extent(loop) - 1)))
        return s.sch.join_loops(*parts)
    return s.sch.join_loops(loop, s.next_to(loop))


def shift_loop(s: Site) -> object:
    return s.sch.shift_loop(s.loop(), s.picks.pick((1, 0, -2, 5)))


def merge(s: Site) -> object:
    loop = s.loop()
    if s.picks.below(4):
        first = s.picks.below(len(s.blocks))
        pair = [s.around(block) for block in s.blocks[first : first + 2]]
        depth = s.picks.below(3)
        found = [loops[depth] for loops in pair if len(loops) > depth]
        return s.sch.merge(*(found or [loop]))
    return s.sch.merge(loop, s.next_to(loop))


def fission(s: Site) -> object:
    loop = s.picks.pick(s.shared_loops() or s.loops)
    inside = s.inside(loop)
    after: BlockRef | LoopRef = s.next_to(loop)
    if inside and s.picks.below(4):
        after = s.picks.pick(inside[:-1] or inside)
    return s.sch.fission(loop, after)


def lift_scope(s: Site) -> object:
    return s.sch.lift_scope(s.loop() if s.picks.below(3) else s.block())


def add_unit_loop(s: Site) -> object:
    return s.sch.add_unit_loop(s.loop() if s.picks.below(2) else s.block())


def env_threads(s: Site) -> object:
    axes = [(name, s.picks.pick((2, 1, 3, 0))) for name in s.picks.some(AXES, 2)]
    return s.sch.env_threads(s.block(), axes)
