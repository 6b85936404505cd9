"""Products of graphs whose operands have few bits; and the windows of convolutions."""

from typing import Any

import numpy as np

from irkit.fuzz.generators.graphs.values import GraphTensor, GraphValues
from irkit.ir import as_int

_NARROW = ("u8", "i8", "i16", "u16")


def window(g: GraphValues, spatial: int) -> dict[str, Any]:
    """Pick how a window moves."""
    made: dict[str, Any] = {}
    if g.picks.below(2):
        made["strides"] = tuple(1 + g.picks.below(2) for _ in range(spatial))
    if g.picks.below(2):
        made["pads"] = tuple(g.picks.below(2) for _ in range(2 * spatial))
    if g.picks.one_in(4):
        made["dilations"] = tuple(1 + g.picks.below(2) for _ in range(spatial))
    return made


def integer_product(g: GraphValues, name: str) -> object:
    """Multiply integers of 8 or 16 bits exactly, each of a type of its own."""
    x = g.any(_narrow)
    if not _narrow(x):
        x = g.fresh(g.shape(4 if name == "conv_integer" else 2), g.picks.pick(_NARROW))
    kind = g.picks.pick(_NARROW)
    if name == "matmul_integer":
        if x.rank == 0 or (inner := as_int(x.shape[-1])) is None:
            return None
        w = g.constant(g.numbers([inner, g.picks.pick((4, 3, 1, 8))], kind), 3)
        return g.op(name, x, w, bound=x.bound * w.bound * inner)
    if x.rank < 3 or (channels := as_int(x.shape[1])) is None or not g.fits(*x.sizes):
        return None
    shape = [1 + g.picks.below(3), channels, *(1 + g.picks.below(2) for _ in range(x.rank - 2))]
    w = g.constant(g.numbers(shape, kind), 3)
    bound = x.bound * w.bound * int(np.prod(shape[1:]))
    return g.op(name, x, w, bound=bound, **window(g, x.rank - 2))


def packed_product(g: GraphValues, name: str) -> object:
    """Multiply by weights of 4 bits, with or without zero points of their own."""
    x = g.floats(1 + g.picks.below(3))
    if (inner := as_int(x.shape[-1])) is None:
        return None
    block, columns = g.picks.pick((2, 1, 3, 4)), g.picks.pick((4, 3, 1, 8))
    pairs, blocks = -(-inner // 2), -(-inner // block)
    b = g.constant(g.rng.integers(0, 256, (pairs, columns)).astype(np.uint8), 255)
    scales = g.constant(np.abs(g.numbers([blocks, columns], str(x.dtype))), 3)
    zeros = g.rng.integers(0, 16, (blocks, columns)).astype(np.uint8)
    more = (g.constant(zeros, 16),) if g.picks.below(2) else ()
    bound = x.bound * 16 * 3 * inner
    return (
        None
        if g.over(x.dtype, bound)
        else g.op(name, x, b, scales, *more, bound=bound, block=block)
    )


def byte_product(g: GraphValues, name: str) -> object:
    """Multiply by weights of 8 bits, with or without zero points, as a matrix or in panels."""
    x = g.floats(1 + g.picks.below(3))
    if (inner := as_int(x.shape[-1])) is None:
        return None
    in_panels = name == "matmul_quantized_panels"
    bits = 4 if in_panels and inner % 2 == 0 and g.picks.below(2) else 8
    choices = [each for each in (inner, 2, 1, 4, 3) if not in_panels or inner % each == 0]
    block = g.picks.pick([each for each in choices if each * bits % 8 == 0])
    columns, width = g.picks.pick((4, 3, 1, 8)), g.picks.pick((4, 1, 3, 8))
    lead, wide = ([-(-columns // width)], width) if in_panels else ([], columns)
    blocks = [*lead, -(-inner // block), wide]
    low, kind = (-128, np.int8) if bits == 8 else (0, np.uint8)
    b = g.rng.integers(low, low + 256, [*lead, inner * bits // 8, wide]).astype(kind)
    scales = g.constant(np.abs(g.numbers(blocks, str(x.dtype))), 3)
    more: tuple[GraphTensor, ...] = ()
    if g.picks.below(2):
        more = (g.constant(g.rng.integers(0, 16, blocks).astype(kind), 16),)
    bound = x.bound * 144 * 3 * inner
    if g.over(x.dtype, bound):
        return None
    options: dict[str, Any] = {"columns": columns, "bits": bits} if in_panels else {}
    return g.op(name, x, g.constant(b, 128), scales, *more, bound=bound, block=block, **options)


def panel_product(g: GraphValues, name: str) -> object:
    """Multiply by a matrix in panels, of which the last one may be wider than what is left."""
    x = g.floats(1 + g.picks.below(3))
    if (inner := as_int(x.shape[-1])) is None:
        return None
    width, columns = g.picks.pick((4, 1, 3, 8)), g.picks.pick((4, 3, 1, 9))
    b = g.fresh([-(-columns // width), inner, width], str(x.dtype))
    bound = x.bound * b.bound * inner
    return None if g.over(x.dtype, bound) else g.op(name, x, b, bound=bound, columns=columns)


def _narrow(each: GraphTensor) -> bool:
    return str(each.dtype) in _NARROW and each.rank > 1
