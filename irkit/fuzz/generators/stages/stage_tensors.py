"""Random tensor expressions as loop functions with blocks: chains and joins of stages, small enough
to interpret after every step of a schedule.

Numbers stay so small that floats hold them exactly, in any order of a sum.
"""

from collections.abc import Sequence

from irkit import te
from irkit.fuzz.generators.stages.readers import cross, look_up, multiply, operate, stencil
from irkit.fuzz.generators.stages.stages import Stages, StageTensor, adding, count_of, number
from irkit.fuzz.generators.stages.theme import SMALL, Theme
from irkit.fuzz.picks import Picks
from irkit.ir import DType, Expr, Var, as_int, simplify

# LLVM unrolls and joins nests of three loops, which takes it as long as all the rest.
_RANKS = (1, 2, 2, 1, 3)


def stage_tensors(picks: Picks, most: int = 5, theme: Theme = SMALL) -> list[te.Tensor]:
    """Make the parameters of a function of up to ``most`` stages: inputs, then results."""
    s, left = Stages(picks, theme), most
    s.input(1 + picks.below(3) if theme is SMALL else picks.pick(_RANKS))
    # One is as likely as any other number. Drawn after each, so that shrinking can leave one out.
    while left == most or (left and picks.below(left + 1)):
        before = len(s.made)
        _stage(s)
        left -= 1
        for each in s.made[before:]:
            assert each.bound <= s.most(each.dtype) or not each.tensor.dtype.is_float
    tensors = [each.tensor for each in s.made if each.tensor not in s.inputs]
    return [*s.inputs, *(t for t in tensors if t not in s.read or picks.one_in(6))]


def _stage(s: Stages) -> None:
    """Add a stage of some form, or an element-wise one where that form does not fit."""
    # The last tensors are read most, so that stages form chains.
    source = s.made[-1 - s.picks.below(min(3, len(s.made)))]
    form = s.picks.pick(_FORMS_OF[s.theme.numbers] if s.theme is not SMALL else _FORMS)
    if (not source.shape and form not in _OF_ANY_RANK) or not form(s, source):
        _elementwise(s, source)


def _elementwise(s: Stages, source: StageTensor) -> bool:
    dtype, which = adding(source), s.picks.below(8)
    bound = source.bound
    if which == 4:
        new = s.picks.pick([each for each in s.theme.dtypes if each != "bool"])
        dtype = dtype if s.over(new, bound) else new
    if s.over(dtype, bound):
        which = 3
    if which in (4, 6) and not s.sure(source):
        which, dtype = 0, adding(source)

    squares = bound < 1000 if s.theme is SMALL else not s.over(dtype, bound * bound)

    def value(*axes: Expr) -> Expr:
        x = number(source.tensor[axes], dtype)
        one = te.const(1, dtype)
        if which == 1:
            return x * te.const(2, dtype)
        if which == 2:
            return te.const(3, dtype) - x
        if which == 3:
            return te.minimum(te.maximum(x, te.const(0, dtype)), te.const(6, dtype))
        if which == 5 and squares:
            return x * x
        if which == 6:
            return te.gt(x, one)
        if which == 7 and axes:
            return te.select(te.lt(axes[-1], 2), x, te.cast(axes[0], dtype))
        return x + one

    beyond = 8 if s.theme is SMALL or which != 7 else 65
    bound = {1: 2 * bound, 3: 6, 5: bound * bound}.get(which, bound + beyond)
    made = te.compute(source.shape, value, name=s.name())
    return s.add(made, bound if which != 5 or squares else source.bound + 8, source)


def _pairwise(s: Stages, source: StageTensor) -> bool:
    """Join two tensors of one shape, or with one that has only the last axes."""
    rank = len(source.shape)
    shape = source.shape[s.picks.below(2) if rank > 1 else 0 :]
    other = s.partner(source, shape)
    dtype, which = adding(source, other), s.picks.below(5)
    both = source.bound * other.bound if which == 2 else source.bound + other.bound
    if s.over(dtype, both) or (which == 4 and not s.sure(source, other)):
        return False

    def value(*axes: Expr) -> Expr:
        x = number(source.tensor[axes], dtype)
        y = number(other.tensor[axes[rank - len(shape) :]], dtype)
        return (
            lambda: x + y,
            lambda: x - y,
            lambda: x * y,
            lambda: te.maximum(x, y),
            lambda: te.if_then_else(te.lt(x, y), x, y + te.const(1, dtype)),
        )[which]()

    return s.add(te.compute(source.shape, value, name=s.name()), both + 1, source, other)


def _transpose(s: Stages, source: StageTensor) -> bool:
    order = s.picks.some(range(len(source.shape)), 1) if len(source.shape) < 2 else []
    left = [at for at in range(len(source.shape)) if at not in order]
    while left:
        order.append(left.pop(-1 - s.picks.below(len(left))))
    shape = tuple(source.shape[at] for at in order)

    def value(*axes: Expr) -> Expr:
        return source.tensor[tuple(axes[order.index(at)] for at in range(len(order)))]

    return s.add(te.compute(shape, value, name=s.name()), source.bound, source)


def _window(s: Stages, source: StageTensor) -> bool:
    """Read neighbours along an axis, within bounds: the result is one shorter."""
    at = s.picks.below(len(source.shape))
    extent = as_int(source.shape[at])
    if (extent is not None and extent < 2) or not s.fits(source, source.shape):
        return False
    dtype = adding(source)
    # A symbolic extent may be too small to subtract one from.
    step = 1 + s.picks.below(2) if extent is not None or isinstance(source.shape[at], Var) else 2
    shape = list(source.shape)
    shape[at] = simplify(shape[at] - 1 if step == 1 else shape[at] // 2)

    def value(*axes: Expr) -> Expr:
        first, second = list(axes), list(axes)
        first[at], second[at] = axes[at] * step, axes[at] * step + 1
        return number(source.tensor[tuple(first)], dtype) + number(
            source.tensor[tuple(second)], dtype
        )

    return s.add(te.compute(tuple(shape), value, name=s.name()), source.bound * 2, source)


def _reverse(s: Stages, source: StageTensor) -> bool:
    at = s.picks.below(len(source.shape))

    def value(*axes: Expr) -> Expr:
        there = list(axes)
        there[at] = source.shape[at] - 1 - axes[at]
        return source.tensor[tuple(there)]

    return s.add(te.compute(source.shape, value, name=s.name()), source.bound, source)


def _pad(s: Stages, source: StageTensor) -> bool:
    at, low, high = s.picks.below(len(source.shape)), s.picks.below(3), 1 + s.picks.below(2)
    shape = list(source.shape)
    shape[at] = simplify(shape[at] + (low + high))
    if not s.fits(source, tuple(shape)):
        return False

    def value(*axes: Expr) -> Expr:
        there = list(axes)
        there[at] = axes[at] - low
        inside = te.all(te.ge(axes[at], low), te.lt(axes[at], source.shape[at] + low))
        nothing = te.const(0, source.dtype)
        return te.if_then_else(inside, source.tensor[tuple(there)], nothing)

    return s.add(te.compute(tuple(shape), value, name=s.name()), source.bound, source)


def _reshape(s: Stages, source: StageTensor) -> bool:
    """Make two axes one, or one axis two."""
    shape = source.shape
    if len(shape) > 1:
        inner = shape[-1]

        def flat(*axes: Expr) -> Expr:
            return source.tensor[(*axes[:-1], axes[-1] // inner, axes[-1] % inner)]

        made = te.compute((*shape[:-2], simplify(shape[-2] * inner)), flat, name=s.name())
        return s.add(made, source.bound, source)
    extent = as_int(shape[0]) if shape else None
    factors = [n for n in (2, 3, 4, 1) if extent is not None and extent % n == 0]
    if not factors:
        return False
    factor = s.picks.pick(factors)

    def parts(i: Expr, j: Expr) -> Expr:
        return source.tensor[i * factor + j]

    made = te.compute(((extent or 0) // factor, factor), parts, name=s.name())
    return s.add(made, source.bound, source)


def _broadcast(s: Stages, source: StageTensor) -> bool:
    shape = (*source.shape, s.picks.pick((3, 2, 1)))
    if len(shape) > 3 or not s.fits(source, shape):
        return False
    dtype = adding(source)

    def value(*axes: Expr) -> Expr:
        return number(source.tensor[axes[:-1]], dtype) + te.cast(axes[-1], dtype)

    return s.add(te.compute(shape, value, name=s.name()), source.bound + 8, source)


def _gather(s: Stages, source: StageTensor) -> bool:
    """Read at indices from another tensor."""
    where = s.input(1, shape=(s.picks.pick(SMALL.extents),), dtype="i32")
    last = source.shape[0] - 1

    def value(*axes: Expr) -> Expr:
        at = te.maximum(te.minimum(te.cast(where.tensor[axes[0]], "i64"), last), 0)
        return source.tensor[(at, *axes[1:])]

    shape = (*where.shape, *source.shape[1:])
    if not as_int(source.shape[0]) or not s.fits(source, shape):
        return False
    return s.add(te.compute(shape, value, name=s.name()), source.bound, source, where)


def _concat(s: Stages, source: StageTensor) -> bool:
    extent = source.shape[0]
    shape = (simplify(extent + extent), *source.shape[1:])
    if not s.fits(source, shape):
        return False
    other = s.partner(source, source.shape)
    if not s.sure(other) and not source.tensor.dtype.is_float:
        return False
    bound = max(source.bound, other.bound)
    if source.tensor.dtype.is_float and bound > s.most(source.dtype):
        return False

    def value(*axes: Expr) -> Expr:
        second = te.cast(other.tensor[(axes[0] - extent, *axes[1:])], source.dtype)
        return te.if_then_else(te.lt(axes[0], extent), source.tensor[axes], second)

    return s.add(te.compute(shape, value, name=s.name()), bound, source, other)


def _two_results(s: Stages, source: StageTensor) -> bool:
    if not s.sure(source):
        return False
    dtype = adding(source)

    def value(*axes: Expr) -> tuple[Expr, Expr]:
        x = number(source.tensor[axes], dtype)
        return x + te.const(1, dtype), te.gt(x, te.const(2, dtype))

    return s.add(te.compute(source.shape, value, s.name()), source.bound + 1, source)


def _reduce(s: Stages, source: StageTensor) -> bool:
    """Reduce over an axis, or over the first two."""
    rank, dtype = len(source.shape), adding(source)
    count = 2 if rank > 1 and s.picks.one_in(3) else 1
    at = s.picks.below(rank) if count == 1 else 0
    over = [te.reduce_axis((0, source.shape[at + more]), name=f"r{more}") for more in range(count)]
    kind = s.picks.below(7)
    most = _summed(s, over)
    if s.over(dtype, source.bound * most) or not s.theme.adds:
        kind = 1 + kind % 2

    def value(*axes: Expr) -> Expr:
        there = (*axes[:at], *over, *axes[at:])
        x = number(source.tensor[there], dtype)
        only = te.ne(over[0], 1) if kind == 3 else None
        if kind in (1, 2):
            return (te.max if kind == 1 else te.min)(x, axis=over)
        return te.sum(x, axis=over, where=only)

    shape = (*source.shape[:at], *source.shape[at + count :])
    if kind == 6 and count == 1 and s.theme.adds:
        return _reduce_pair(s, source, at, over[0])
    bound = source.bound * (1 if kind in (1, 2) else most)
    return s.add(te.compute(shape, value, name=s.name()), bound, source)


def _summed(s: Stages, over: Sequence[te.IterVar]) -> int:
    """Return how many numbers are added up."""
    return 64 if s.theme is SMALL else max(1, count_of([axis.extent for axis in over]))


def _reduce_pair(s: Stages, source: StageTensor, at: int, over: te.IterVar) -> bool:
    """Reduce two values together: the sum with the maximum, or the maximum with its position."""
    dtype, arg = adding(source), s.picks.below(2) if s.sure(source) else 0

    def largest(x: tuple[Expr, Expr], y: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
        keep = te.ge(x[1], y[1])
        return te.select(keep, x[0], y[0]), te.select(keep, x[1], y[1])

    def joined(x: tuple[Expr, Expr], y: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
        return x[0] + y[0], te.maximum(x[1], y[1])

    def identity(first: DType, second: DType) -> tuple[Expr, Expr]:
        return te.const(-1 if arg else 0, first), te.least(second)

    pair = te.comm_reducer(largest if arg else joined, identity, name="pair")

    def value(*axes: Expr) -> tuple[Expr, ...]:
        x = number(source.tensor[(*axes[:at], over, *axes[at:])], dtype)
        found = pair((te.cast(over, "i32") if arg else x, x), axis=over)
        assert isinstance(found, tuple)
        return found

    shape = (*source.shape[:at], *source.shape[at + 1 :])
    made = te.compute(shape, value, name=s.name())
    return s.add(made, source.bound * _summed(s, (over,)), source)


def _matmul(s: Stages, source: StageTensor) -> bool:
    if len(source.shape) != 2:
        return False
    m, k = source.shape
    columns = s.picks.pick((4, 3, 5, 1))
    other = s.partner(source, (k, columns))
    dtype, r = adding(source, other), te.reduce_axis((0, k), name="r")
    bound = source.bound * other.bound * (8 if s.theme is SMALL else count_of([k]))
    if s.over(dtype, bound):
        return False

    def value(i: Expr, j: Expr) -> Expr:
        left, right = source.tensor[i, r], other.tensor[r, j]
        return te.sum(number(left, dtype) * number(right, dtype), axis=r)

    return s.add(te.compute((m, columns), value, name=s.name()), bound, source, other)


def _linear(s: Stages, source: StageTensor) -> bool:
    """Multiply by weights in tiles that intrinsics have, and add a bias."""
    given = s.input(2, shape=(s.picks.pick((4, 8, 5)), 4), dtype="f32")
    weights = s.input(2, shape=(4, s.picks.pick((4, 8, 3))), dtype="f32")
    bias = s.input(1, shape=(weights.shape[1],), dtype="f32")
    r = te.reduce_axis((0, 4), name="r")

    def product(i: Expr, j: Expr) -> Expr:
        return te.sum(given.tensor[i, r] * weights.tensor[r, j], axis=r)

    shape = (given.shape[0], weights.shape[1])
    made = te.compute(shape, product, name=s.name())
    s.add(made, given.bound * weights.bound * 4, given, weights)

    def biased(i: Expr, j: Expr) -> Expr:
        return made[i, j] + bias.tensor[j]

    added = te.compute(shape, biased, name=s.name())
    return s.add(added, s.made[-1].bound + bias.bound, s.made[-1], bias)


def _convolve(s: Stages, source: StageTensor) -> bool:
    """Slide weights along the last axis."""
    extent = as_int(source.shape[-1])
    if extent is None or extent < 3:
        return False
    size = 2 + s.picks.below(2)
    weights = s.partner(source, (size,))
    dtype, r = adding(source, weights), te.reduce_axis((0, size), name="r")
    bound = source.bound * weights.bound * 3
    if s.over(dtype, bound):
        return False

    def value(*axes: Expr) -> Expr:
        x = number(source.tensor[(*axes[:-1], axes[-1] + r)], dtype)
        return te.sum(x * number(weights.tensor[r], dtype), axis=r)

    shape = (*source.shape[:-1], extent - size + 1)
    return s.add(te.compute(shape, value, name=s.name()), bound, source, weights)


_FORMS = (
    *(_elementwise, _pairwise, _reduce, _matmul, _transpose, _window, _convolve, _pad, _reshape),
    *(_broadcast, _reverse, _concat, _gather, _two_results, _reduce, _elementwise, _pairwise),
    *(_linear, _window, _convolve, cross),
)
_MOVES = (
    *(_transpose, _window, _pad, _reshape, _broadcast, _reverse, _concat, _gather, look_up),
    cross,
)
_SUMS = (_reduce, _matmul, _reduce, _convolve, stencil)
_ANY = (operate, operate, operate, _elementwise, operate, _pairwise, operate, _two_results)
_FORMS_OF = {
    "whole": (*_ANY, *_MOVES, *_SUMS, _linear, multiply),
    "integers": (*_ANY, *_MOVES, *_SUMS, multiply, operate),
    "fractions": (*_ANY, *_MOVES, *_SUMS, _linear, operate, operate),
    "special": (*_ANY, *_MOVES, _reduce),
}
_OF_ANY_RANK = (_linear, operate, _elementwise, _pairwise, _two_results, _broadcast)
