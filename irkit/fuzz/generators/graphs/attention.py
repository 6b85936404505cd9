"""Attention to a few keys."""

from irkit.fuzz.generators.graphs.values import GraphValues
from irkit.ir import as_int


def attention(g: GraphValues, name: str) -> object:
    """Attend with a few keys, masked or not, to values that are small enough to be mixed."""
    x = g.floats()
    if x.rank < 2 or as_int(x.shape[-1]) is None:
        return None
    x = g.clamped(x, 2.0)
    keys, features = g.picks.pick((3, 1, 5)), g.picks.pick((2, 4, 1))
    k = g.fresh([x.sizes[-1], keys], str(x.dtype))
    v = g.fresh([keys, features], str(x.dtype))
    mask = [g.fresh([keys], str(x.dtype))] if g.picks.below(2) else []
    tile = {"rows": g.picks.below(4), "columns": g.picks.pick((0, 4, 2)), "part": g.picks.below(2)}
    if not g.fits(*x.sizes[:-1], keys, features):
        return None
    return g.op(name, x, k, v, *mask, bound=v.bound, sure=False, scale=0.125, **tile)
