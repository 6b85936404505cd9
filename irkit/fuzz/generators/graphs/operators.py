"""Operators of the graph IR: one function for each family, which applies one of the family."""

from collections.abc import Callable
from typing import Any

import numpy as np

from irkit.fuzz.generators.functions import ROUNDED, TESTS, WHOLE, smooth_part
from irkit.fuzz.generators.graphs.attention import attention
from irkit.fuzz.generators.graphs.blocked import (
    block_channels,
    conv_blocked,
    conv_gathered,
    conv_winograd,
    depthwise_blocked,
    gather_channels,
    lrn_blocked,
    unblock_channels,
)
from irkit.fuzz.generators.graphs.narrow_products import (
    byte_product,
    integer_product,
    packed_product,
    panel_product,
    window,
)
from irkit.fuzz.generators.graphs.values import GraphTensor, GraphValues
from irkit.ir import as_dtype, as_int

_SMOOTH = (*ROUNDED, "reciprocal")
_SAME = ("relu", "negative", "abs", "identity")
_WHOLE = tuple(name for name in WHOLE if name not in _SAME)
_LARGER = ("maximum", "minimum")
_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
_SHIFTS = ("shift_left", "shift_right")
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_LOGICAL = ("logical_and", "logical_or", "logical_xor")
_CASTS = ("f32", "f64", "i32", "f16", "i64", "u8", "bool", "bf16", "i8")


def _sure(each: GraphTensor) -> bool:
    return each.sure


def smooth(g: GraphValues, name: str) -> object:
    """Apply a function where it is smooth; not to whole numbers, which it would not keep whole."""
    x = g.floats()
    least, most = (1.0, None) if name == "reciprocal" else smooth_part(name)
    if most is not None:
        return g.op(name, g.clamped(x, most), bound=8, sure=False)
    if least is None:
        return g.op(name, x, bound=max(2, x.bound), sure=False)
    size = g.op("abs", x, bound=x.bound)
    shifted = g.op("add", size, g.scalar(1.5, x.dtype), bound=x.bound + 2)
    return g.op(name, shifted, bound=max(4, x.bound), sure=False)


def unary(g: GraphValues, name: str) -> object:
    x = g.any(_sure) if name in (*_WHOLE, *TESTS) else g.any()
    return g.op(name, x, bound=max(1, x.bound))


def logical_not(g: GraphValues, name: str) -> object:
    return g.op(name, condition(g), bound=1)


def condition(g: GraphValues) -> GraphTensor:
    """Pick bools, or compare numbers that are known exactly."""
    found = [each for each in g.held if each.dtype.is_bool and each.sure]
    if found and g.picks.below(2):
        return g.picks.pick(found)
    x = g.any(_sure)
    return g.op("less", x, g.like(x), bound=1)


def compare(g: GraphValues, name: str) -> object:
    x = g.any(_sure)
    y = g.like(x)
    return g.op(name, x, y if y.sure else g.scalar(1, x.dtype), bound=1)


def logical(g: GraphValues, name: str) -> object:
    x = condition(g)
    return g.op(name, x, g.like(x), bound=1)


def cast(g: GraphValues, name: str) -> object:
    dtype = g.picks.pick(_CASTS)
    floats = dtype[0] == "f" or dtype == "bf16"
    x = g.any() if floats else g.any(_sure)
    if floats and g.over(as_dtype(dtype), x.bound):
        return None
    return g.op(name, x, dtype=dtype, bound=x.bound)


def add(g: GraphValues, name: str) -> object:
    x = g.any()
    y = g.like(x)
    bound = x.bound * y.bound if name == "multiply" else x.bound + y.bound
    return None if g.over(x.dtype, bound) else g.op(name, x, y, bound=bound)


def larger(g: GraphValues, name: str) -> object:
    x = g.any()
    y = g.like(x)
    return g.op(name, x, y, bound=max(x.bound, y.bound))


def divide(g: GraphValues, name: str) -> object:
    """Divide by numbers of at least 1.5, or integers by one."""
    if g.picks.one_in(3):
        x = g.any(lambda each: each.sure and each.dtype.kind in "iu")
        if x.dtype.kind in "iu":
            by = g.picks.pick((2, 3, 5) if x.dtype.kind == "u" else (-2, 3, 2, -3))
            return g.op(name, x, g.scalar(by, x.dtype), bound=x.bound)
    x = g.floats()
    size = g.op("abs", g.like(x), bound=8)
    shifted = g.op("add", size, g.scalar(1.5, x.dtype), bound=10)
    return g.op(name, x, shifted, bound=x.bound, sure=False)


def power(g: GraphValues, name: str) -> object:
    x = g.floats()
    base = g.clamped(g.op("abs", x, bound=x.bound), 2.0)
    shifted = g.op("add", base, g.scalar(0.5, x.dtype), bound=3)
    exponent = g.scalar(g.picks.pick((2.0, 0.5, -1.0, 3.0)), x.dtype)
    return g.op(name, shifted, exponent, bound=32, sure=False)


def modulo(g: GraphValues, name: str) -> object:
    x = g.any(lambda each: each.sure and not each.dtype.is_bool)
    return g.op(name, x, g.scalar(g.picks.pick((3, 2, 5)), x.dtype), bound=max(5, x.bound))


def atan2(g: GraphValues, name: str) -> object:
    x = g.floats()
    size = g.op("add", g.op("abs", x, bound=x.bound), g.scalar(0.5, x.dtype), bound=x.bound + 1)
    return g.op(name, g.like(x), size, bound=4, sure=False)


def bits(g: GraphValues, name: str) -> object:
    x = g.any(lambda each: not each.dtype.is_float)
    if name in _SHIFTS and x.dtype.is_bool:
        return None
    return g.op(name, x, g.like(x), bound=1 << x.dtype.bits)


def where(g: GraphValues, name: str) -> object:
    x = g.any()
    y, cond = g.like(x), condition(g)
    fitting = [each for each in (x, y) if each.shape == cond.shape]
    if not fitting:
        cond = g.fresh([size if (n := as_int(size)) is None else n for size in x.shape], "bool")
    return g.op(name, cond, x, y, bound=max(x.bound, y.bound))


def conv(g: GraphValues, name: str) -> object:
    """Convolve images of one or two spatial axes, sometimes in groups."""
    x = g.floats(3 + g.picks.below(2))
    spatial, channels = x.rank - 2, x.sizes[1]
    groups = channels if g.picks.one_in(4) else 1
    kernel = [1 + g.picks.below(3) for _ in range(spatial)]
    filters = groups * (1 + g.picks.below(2)) if groups > 1 else 1 + g.picks.below(3)
    shape = [filters, channels // groups, *kernel]
    w = g.constant(g.numbers(shape, str(x.dtype)), 3)
    bound = x.bound * w.bound * int(np.prod(shape[1:]))
    if g.over(x.dtype, bound) or not g.fits(*x.sizes):
        return None
    bias = (g.constant(g.numbers([filters], str(x.dtype)), 3),) if g.picks.below(2) else ()
    return g.op(name, x, w, *bias, bound=bound + 3, groups=groups, **window(g, spatial))


def pool(g: GraphValues, name: str) -> object:
    """Pool; an empty window would have no largest number, so pads stay smaller than kernels."""
    x = g.floats(3 + g.picks.below(2))
    spatial = x.rank - 2
    options: dict[str, Any] = {"kernel": (2,) * spatial, **window(g, spatial)}
    if g.picks.one_in(4):
        options["ceil_mode"] = True
    if name == "avg_pool":
        options["count_include_pad"] = bool(g.picks.below(2))
        return g.op(name, x, bound=x.bound, sure=False, **options)
    if name == "max_pool":
        return g.op(name, x, bound=x.bound, **options)
    if not x.sure:
        return None
    options.pop(
        "dilations", None
    )  # A window inside the pads has no position of its largest element.
    options["storage_order"] = g.picks.below(2)
    value = g.builder.op(name, x.value, **options)
    g.ops[name] = None
    g.held += [
        GraphTensor(g.builder.item(value, 0), x.bound),
        GraphTensor(g.builder.item(value, 1), 1000),
    ]
    return value


def matmul(g: GraphValues, name: str) -> object:
    x = g.any(lambda each: not each.dtype.is_bool and each.rank > 1)
    inner = as_int(x.shape[-1])
    if inner is None:
        return None
    y = g.fresh([inner, g.picks.pick((4, 3, 1, 8))], str(x.dtype))
    bound = x.bound * y.bound * inner
    return None if g.over(x.dtype, bound) else g.op(name, x, y, bound=bound)


def axes_of(g: GraphValues, rank: int) -> tuple[int, ...]:
    found = sorted(g.picks.some(range(rank), rank)) if rank else []
    return tuple(at - rank if g.picks.one_in(4) else at for at in found)


def reduce(g: GraphValues, name: str) -> object:
    x = g.any(lambda each: each.rank > 0)
    axes = axes_of(g, x.rank)
    count = int(np.prod([x.sizes[at] for at in axes]))
    bound = x.bound * (1 if name in ("max", "min", "mean") else count)
    if name == "prod" and x.dtype.is_float:
        x, bound = g.clamped(x, 1.0), 1
    if g.over(x.dtype, bound):
        return None
    sure = name in ("max", "min") or g.whole
    return g.op(name, x, bound=bound, sure=sure, axes=axes, keepdims=bool(g.picks.below(2)))


def arg(g: GraphValues, name: str) -> object:
    x = g.any(lambda each: each.sure and each.rank > 0)
    axis = g.picks.below(x.rank)
    return g.op(name, x, bound=1000, axis=axis, keepdims=bool(g.picks.below(2)))


def batch_norm(g: GraphValues, name: str) -> object:
    return normalised(g, g.floats(2 + g.picks.below(3)))


def normalised(g: GraphValues, x: GraphTensor) -> GraphTensor | None:
    kind, channels = str(x.dtype), x.sizes[1]
    if as_int(x.shape[1]) is None:
        return None
    parts = [g.constant(g.numbers([channels], kind), 3) for _ in range(3)]
    spread = np.abs(g.numbers([channels], kind))
    variance = g.constant(spread + spread.dtype.type(1), 4)
    return g.op("batch_norm", x, *parts, variance, bound=(x.bound + 3) * 3 + 3, sure=False)


def lrn(g: GraphValues, name: str) -> object:
    x = g.floats(4)
    return g.op(name, x, bound=x.bound, sure=False, size=g.picks.pick((3, 1, 2)), alpha=0.5)


def softmax(g: GraphValues, name: str) -> object:
    x = g.floats()
    if x.rank == 0:
        return None
    axis = g.picks.below(x.rank) - g.picks.below(2) * x.rank
    return g.op(name, g.clamped(x, 4.0), bound=16, sure=False, axis=axis)


def reshape(g: GraphValues, name: str) -> object:
    x = g.any()
    sizes = [as_int(dim) for dim in x.shape]
    if None in sizes or not sizes:
        return None
    total = int(np.prod([size or 0 for size in sizes]))
    factor = g.picks.pick([n for n in (1, 2, 3, 4) if total % n == 0])
    shape = g.picks.pick(((total,), (factor, total // factor), (total // factor, factor)))
    return g.op(name, x, bound=x.bound, shape=shape)


def transpose(g: GraphValues, name: str) -> object:
    x = g.any()
    left = list(range(x.rank))
    axes = tuple(left.pop(-1 - g.picks.below(len(left))) for _ in range(x.rank))
    return g.op(name, x, bound=x.bound, axes=axes)


def expand_dims(g: GraphValues, name: str) -> object:
    x = g.any(lambda each: each.rank < 4)
    return g.op(name, x, bound=x.bound, axes=(g.picks.below(x.rank + 1),))


def squeeze(g: GraphValues, name: str) -> object:
    x = g.any(lambda each: any(as_int(dim) == 1 for dim in each.shape))
    ones = [at for at, dim in enumerate(x.shape) if as_int(dim) == 1]
    return g.op(name, x, bound=x.bound, axes=(g.picks.pick(ones),)) if ones else None


def broadcast_to(g: GraphValues, name: str) -> object:
    x = g.any(lambda each: each.rank < 3)
    shape = (g.picks.pick((2, 3)), *(as_int(dim) or 0 for dim in x.shape))
    return g.op(name, x, bound=x.bound, shape=shape) if 0 not in shape else None


def concat(g: GraphValues, name: str) -> object:
    x = g.any(lambda each: each.rank > 0)
    alike = [x, *(e for e in g.held if e.shape == x.shape and e.dtype == x.dtype)]
    xs = [x, *(g.picks.pick(alike) for _ in range(1 + g.picks.below(2)))]
    axis, bound = g.picks.below(x.rank), max(each.bound for each in xs)
    return g.op(name, *xs, bound=bound, axis=axis) if g.fits(*x.sizes, len(xs)) else None


def slice_(g: GraphValues, name: str) -> object:
    x = g.any(lambda each: each.rank > 0)
    at = g.picks.below(x.rank)
    extent = x.sizes[at]
    begin, stride = g.picks.below(extent), g.picks.pick((1, 2, -1))
    if stride < 0:
        begins, ends = (extent - 1 - begin,), (-extent - 1,)
    else:
        begins, ends = (begin,), (extent + g.picks.below(2),)
    return g.op(name, x, bound=x.bound, begins=begins, ends=ends, strides=(stride,), axes=(at,))


def pad(g: GraphValues, name: str) -> object:
    x = g.any(lambda each: 0 < each.rank < 4)
    pads = tuple(g.picks.below(3) for _ in range(2 * x.rank))
    value = g.picks.pick((0, 1))
    return g.op(name, x, bound=max(1, x.bound), pads=pads, value=value)


def take(g: GraphValues, name: str) -> object:
    x = g.any(lambda each: each.rank > 0)
    axis = g.picks.below(x.rank)
    places = g.rng.integers(-x.sizes[axis], x.sizes[axis], (1 + g.picks.below(4),))
    if as_int(x.shape[axis]) is None:
        return None
    indices = g.constant(places.astype(g.picks.pick((np.int64, np.int32))), 8)
    return g.op(name, x, indices, bound=x.bound, axis=axis)


def scatter(g: GraphValues, name: str) -> object:
    """Replace rows of a tensor, perhaps one twice, and perhaps none."""
    x = g.any(lambda each: each.rank > 0 and all(as_int(dim) is not None for dim in each.shape))
    axis = g.picks.below(x.rank)
    count = 1 + g.picks.below(x.rank - axis)
    rows = 1 + g.picks.below(4)
    sizes = np.array(x.sizes[axis : axis + count])
    places = g.rng.integers(-sizes - 1, sizes + 1, (rows, count))
    indices = g.constant(places.astype(g.picks.pick((np.int64, np.int32))), 8)
    shape = (*x.sizes[:axis], rows, *x.sizes[axis + count :])
    updates = g.fresh(list(shape), str(x.dtype))
    return g.op(name, x, indices, updates, bound=max(updates.bound, x.bound), axis=axis)


def full(g: GraphValues, name: str) -> object:
    shape = tuple(g.picks.pick((2, 3, 1)) for _ in range(1 + g.picks.below(2)))
    dtype = g.picks.pick(_CASTS)
    return g.op(name, bound=3, shape=shape, value=g.picks.pick((1, 0)), dtype=dtype)


def full_like(g: GraphValues, name: str) -> object:
    return g.op(name, g.any(), bound=3, value=g.picks.pick((1, 0)))


Draw = Callable[[GraphValues, str], object]

# Operators that do not keep whole numbers whole.
ROUNDING = (
    *(*_SMOOTH, "divide", "power", "atan2", "mean"),
    *("avg_pool", "batch_norm", "lrn", "lrn_blocked", "softmax", "log_softmax", "attention"),
)
DRAWS: dict[str, Draw] = {
    **dict.fromkeys(_SMOOTH, smooth),
    **dict.fromkeys((*_WHOLE, *TESTS, *_SAME), unary),
    **dict.fromkeys(_COMPARISONS, compare),
    **dict.fromkeys(_LOGICAL, logical),
    **dict.fromkeys(("add", "subtract", "multiply"), add),
    **dict.fromkeys(_LARGER, larger),
    **dict.fromkeys(("floor_mod", "fmod"), modulo),
    **dict.fromkeys((*_BITS, *_SHIFTS), bits),
    **dict.fromkeys(("max_pool", "avg_pool", "max_pool_with_indices"), pool),
    **dict.fromkeys(("sum", "prod", "max", "min", "mean"), reduce),
    **dict.fromkeys(("argmax", "argmin"), arg),
    **dict.fromkeys(("conv_integer", "matmul_integer"), integer_product),
    **{"attention": attention},
    **dict.fromkeys(("softmax", "log_softmax"), softmax),
    **{"block_channels": block_channels, "unblock_channels": unblock_channels},
    **{"conv_blocked": conv_blocked, "depthwise_blocked": depthwise_blocked},
    **{"conv_winograd": conv_winograd, "conv_gathered": conv_gathered},
    **{"gather_channels": gather_channels, "lrn_blocked": lrn_blocked},
    **{"matmul_4bit": packed_product, "matmul_panels": panel_product},
    **dict.fromkeys(("matmul_8bit", "matmul_quantized_panels"), byte_product),
    **{"logical_not": logical_not, "cast": cast, "divide": divide, "power": power},
    **{"atan2": atan2, "where": where, "conv": conv, "matmul": matmul, "lrn": lrn},
    **{"batch_norm": batch_norm, "reshape": reshape, "transpose": transpose, "take": take},
    **{
        "scatter": scatter,
        "expand_dims": expand_dims,
        "squeeze": squeeze,
        "broadcast_to": broadcast_to,
    },
    **{"concat": concat, "slice": slice_, "pad": pad, "full": full, "full_like": full_like},
}
"""The function that applies each operator of the graph IR."""
