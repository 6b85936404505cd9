"""Stages that read one array, and sometimes others: element by element, neighbours, a product along
an axis, and elements at computed indices."""

from irkit import te
from irkit.fuzz.generators.stages.stages import Stages, StageTensor, is_float
from irkit.fuzz.generators.stages.values import Number, Values, clamped
from irkit.ir import Expr, as_dtype, as_int, cast, ge, if_then_else, le, logical_and


def operate(s: Stages, source: StageTensor) -> bool:
    """Make each element by a random tree of operations on elements at its index."""
    others = [each for each in s.made if each.shape == source.shape and each is not source]
    sources = [source, *(s.picks.some(others, 2) if others and s.picks.below(3) else ())]
    if s.picks.one_in(4):
        sources.append(s.partner(source, source.shape))
    dtype = s.picks.pick(s.theme.dtypes) if s.picks.one_in(3) else source.dtype
    depth, bound = 1 + s.picks.below(3), 0

    def value(*axes: Expr) -> Expr:
        nonlocal bound
        reads = [Number(each.tensor[axes], each.bound, s.sure(each)) for each in sources]
        made = Values(s, axes, reads).value(dtype, depth)
        bound = made.bound
        return made.expr

    made = te.compute(source.shape, value, name=s.name())
    return s.add(made, bound, *sources)


def stencil(s: Stages, source: StageTensor) -> bool:
    """Read neighbours on both sides, with the edge element or nothing beyond the end."""
    at = s.picks.below(len(source.shape))
    dtype, wide = source.dtype, 1 + s.picks.below(2)
    if s.over(dtype, source.bound * 3) or dtype == "bool":
        return False
    guarded = s.picks.below(2)
    last = source.shape[at] - 1

    def value(*axes: Expr) -> Expr:
        def near(by: int) -> Expr:
            index = axes[at] + by
            inside = logical_and(ge(index, 0), le(index, last))
            there = index if guarded else te.minimum(te.maximum(index, 0), last)
            read = source.tensor[(*axes[:at], there, *axes[at + 1 :])]
            return if_then_else(inside, read, te.const(0, dtype)) if guarded else read

        return near(-wide) - near(0) + near(wide)

    made = te.compute(source.shape, value, name=s.name())
    return s.add(made, source.bound * 3, source)


def cross(s: Stages, source: StageTensor) -> bool:
    """Join elements at one index of two arrays with those of another, reversed along an axis."""
    rank = len(source.shape)
    other = s.partner(source, source.shape)
    dtype, at = source.dtype, s.picks.below(rank)
    if other.dtype != dtype or dtype == "bool" or s.over(dtype, source.bound + other.bound):
        return False

    def value(*axes: Expr) -> Expr:
        back = source.shape[at] - 1 - axes[at]
        return other.tensor[axes] - source.tensor[(*axes[:at], back, *axes[at + 1 :])]

    made = te.compute(source.shape, value, name=s.name())
    return s.add(made, source.bound + other.bound, source, other)


def multiply(s: Stages, source: StageTensor) -> bool:
    """Reduce by the product along the last axis, of signs where numbers must stay small."""
    dtype = "i32" if source.dtype == "bool" else source.dtype
    integers = s.theme.numbers == "integers" or not is_float(dtype)
    if not s.theme.adds or (not integers and s.theme.numbers == "fractions"):
        return False
    r = te.reduce_axis((0, source.shape[-1]), name="p")

    def value(*axes: Expr) -> Expr:
        x = cast(source.tensor[(*axes, r)], dtype)
        return te.prod(x if integers else clamped(x, 1), axis=r)

    made = te.compute(source.shape[:-1], value, name=s.name())
    high = as_dtype(dtype).high if not is_float(dtype) else 1
    return s.add(made, high, source)


def look_up(s: Stages, source: StageTensor) -> bool:
    """Read along an axis at indices that the program computes, wrapped around into bounds."""
    at = s.picks.below(len(source.shape))
    extent = as_int(source.shape[at])
    found = [each for each in s.made if not is_float(each.dtype) and len(each.shape) == 1]
    if not extent or not found:
        return False
    where = s.picks.pick(found)
    shape = (*source.shape[:at], where.shape[0], *source.shape[at + 1 :])
    if not s.fits(source, shape):
        return False

    def value(*axes: Expr) -> Expr:
        place = cast(where.tensor[axes[at]], "i64") % extent
        return source.tensor[(*axes[:at], place, *axes[at + 1 :])]

    return s.add(te.compute(shape, value, name=s.name()), source.bound, source, where)
