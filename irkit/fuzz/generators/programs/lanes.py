"""Stage programs with short vectorized loops: they have none themselves, and schedules seldom make
some."""

from irkit.core import rewrite, symbols_used
from irkit.ir import Block, For, PrimFunc, as_int

_MOST_LANES = 16


def vectorize_short_loops(func: PrimFunc) -> PrimFunc:
    """Vectorize each short innermost loop that only indexes the results of its block."""

    def mark(loop: For) -> For | None:
        count, block = as_int(loop.end), loop.body
        if loop.kind != "serial" or not isinstance(block, Block) or count is None:
            return None
        kinds = {axis.kind for axis in block.axes if loop.var in symbols_used(axis.binding)}
        fits = kinds == {"spatial"} and 1 < count <= _MOST_LANES
        return loop.replace(kind="vectorized") if fits else None

    return rewrite(func, mark, on=For)
