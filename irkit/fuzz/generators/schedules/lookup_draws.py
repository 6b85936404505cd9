"""Random calls of the look-ups, and of the primitives that make random choices themselves."""

from irkit.fuzz.generators.schedules.site import Site


def get_block(s: Site) -> object:
    return s.sch.get_block("nothing" if s.picks.one_in(3) else s.block().name)


def get_loops(s: Site) -> object:
    return s.sch.get_loops(s.block())


def get_loop(s: Site) -> object:
    return s.sch.get_loop(s.block(), s.picks.below(4) - 1)


def get_child_blocks(s: Site) -> object:
    return s.sch.get_child_blocks(s.loop())


def get_producers(s: Site) -> object:
    return s.sch.get_producers(s.block())


def get_consumers(s: Site) -> object:
    return s.sch.get_consumers(s.block())


def get_output_blocks(s: Site) -> object:
    return s.sch.get_output_blocks()


def sample_categorical(s: Site) -> object:
    n = s.sch.sample_categorical([2, 3, 4], [1.0, 2.0, 0.0])
    return s.sch.split(s.loop(), [None, n])


def sample_perfect_tile(s: Site) -> object:
    loop = s.loop()
    return s.sch.split(loop, s.sch.sample_perfect_tile(loop, 1 + s.picks.below(3)))


def sample_partitioned_tile(s: Site) -> object:
    loop = s.loop()
    return s.sch.split(loop, s.sch.sample_partitioned_tile(loop, 2, 1, 1 + s.picks.below(3)))


def sample_compute_location(s: Site) -> object:
    block = s.block()
    loop = s.sch.sample_compute_location(block)
    return s.sch.compute_root(block) if loop is None else s.sch.compute_at(block, loop)


def work_on(s: Site) -> object:
    return s.sch.work_on(s.sch.func_working_on)
