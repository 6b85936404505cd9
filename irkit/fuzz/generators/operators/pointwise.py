"""Pointwise operators of topi: one function for each family, which applies one of the family to
whole numbers and computes the same in NumPy.

Nothing here shares code with topi. Operators of the graph IR are drawn as graphs too, with their
attributes; the operators here are those that no graph has, and options that only a caller can give.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from irkit import te, topi
from irkit.fuzz.generators.sample import Array
from irkit.fuzz.picks import Picks
from irkit.ir import Expr, Var, as_dtype, numpy_dtype

_SIZES = (3, 2, 4, 1, 5, 8)
_DTYPES = ("f32", "f32", "i32", "f64", "f16", "i8", "i64", "u8")
_MOST_ELEMENTS = 300
_MOST = 256
"""Upper bound of floats, so that each type holds every intermediate result."""
Dim = int | Expr


class Operand(msgspec.Struct, frozen=True, eq=False):
    """A tensor, and the numbers it holds."""

    tensor: te.Tensor
    array: Array

    @property
    def shape(self) -> tuple[Expr, ...]:
        return self.tensor.shape

    @property
    def rank(self) -> int:
        return self.array.ndim

    @property
    def kind(self) -> str:
        return self.array.dtype.kind

    @property
    def wide(self) -> Array:
        """The numbers, in the widest type of their kind."""
        return self.array.astype({"f": np.float64, "b": np.bool_}.get(self.kind, np.int64))


Found = tuple[te.Tensor, Array]
Draw = Callable[["Operands"], "Found | list[Found] | None"]


class Operands:
    """The tensors of a program so far. An extent of ``size`` can be a ``symbol``."""

    def __init__(self, picks: Picks, symbol: Var | None, size: int) -> None:
        self.picks = picks
        self.symbol, self.size = symbol, size
        self.rng = np.random.default_rng(picks.below(1 << 16))
        self.inputs: list[Operand] = []
        self.held: list[Operand] = []

    def shape(self, rank: int) -> tuple[Dim, ...]:
        """Pick extents; those of the unknown size are symbolic."""
        sizes = [self.picks.pick(_SIZES if rank < 3 else _SIZES[:4]) for _ in range(rank)]
        symbol = self.symbol
        return tuple(symbol if symbol is not None and n == self.size else n for n in sizes)

    def sizes(self, shape: Sequence[Dim]) -> tuple[int, ...]:
        """Return the sizes of extents from :meth:`shape`."""
        return tuple(dim if isinstance(dim, int) else self.size for dim in shape)

    def input(
        self, shape: Sequence[Dim], dtype: str, low: int = -3, high: int = 3, *, times: int = 1
    ) -> Operand:
        """Make a parameter of whole numbers."""
        kind = as_dtype(dtype)
        low = max(low, 0) if kind.kind in ("u", "bool") else low
        numbers = np.asarray(self.rng.integers(low, high + 1, self._known(shape)) * times)
        return self.param(shape, numbers.astype(numpy_dtype(kind)))

    def param(self, shape: Sequence[Dim], array: Array) -> Operand:
        """Make a parameter of some numbers."""
        name = f"{'XYZUVW'[len(self.inputs) % 6]}{len(self.inputs) // 6 or ''}"
        dtype = "bool" if array.dtype.kind == "b" else str(array.dtype)
        made = Operand(te.placeholder(tuple(shape), dtype, name=name), array)
        self.inputs.append(made)
        self.held.append(made)
        return made

    def _known(self, shape: Sequence[Dim]) -> tuple[int, ...]:
        known = {
            id(dim): size
            for each in self.held
            for dim, size in zip(each.shape, each.array.shape, strict=True)
        }
        return tuple(
            self.size if dim is self.symbol else dim if isinstance(dim, int) else known[id(dim)]
            for dim in shape
        )

    def number(self, rank: int = -1, kinds: str = "fiu") -> Operand:
        """Pick numbers, mostly of the last tensors, or make a parameter of them."""
        found = [x for x in self.held if x.kind in kinds and rank in (-1, x.rank) and x.array.size]
        if found and self.picks.below(6):
            return found[-1 - self.picks.below(min(3, len(found)))]
        fits = [each for each in _DTYPES if each[0] in kinds]
        wanted = rank if rank >= 0 else 1 + self.picks.below(3)
        return self.input(self.shape(wanted), self.picks.pick(fits))

    def axed(self, least: int = 1) -> Operand:
        """Pick numbers with at least ``least`` axes."""
        x = self.number()
        return x if x.rank >= least else self.input(self.shape(least), "f32")

    def like(self, x: Operand, *, low: int = -3, high: int = 3) -> Operand:
        """Find or make numbers of the type of ``x`` that broadcast with it."""
        alike = [y for y in self.held if y.array.dtype == x.array.dtype and y.shape == x.shape]
        if low == -3 and alike and self.picks.below(2):
            return self.picks.pick(alike)
        shape: list[Dim] = [1 if self.picks.one_in(4) else dim for dim in x.shape]
        shape = shape[self.picks.below(2) if shape else 0 :]
        return self.input(shape, _name(x), low, high)


def _name(x: Operand) -> str:
    return str(x.tensor.dtype)


def _joined(name: str, meaning: Callable[[Any, Any], Any]) -> Draw:
    """Join two tensors that broadcast, or one with a number on either side."""

    def draw(o: Operands) -> Found:
        x, apply = o.number(), getattr(topi, name)
        if o.picks.one_in(4):
            number = 1 + o.picks.below(3)
            if o.picks.below(2):
                return apply(number, x.tensor), meaning(number, x.wide)
            return apply(x.tensor, number), meaning(x.wide, number)
        y = o.like(x)
        return apply(x.tensor, y.tensor), meaning(x.wide, y.wide)

    return draw


def _truncated(x: Array, y: Array) -> Array:
    return np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y)) if x.dtype.kind != "f" else x / y


def _divided(apply: Callable[[Any, Any], Any], meaning: Callable[[Any, Any], Array]) -> Draw:
    """Divide by a tensor or a number, never by 0."""

    def draw(o: Operands) -> Found:
        x = o.number()
        if o.picks.one_in(3):
            by = 2 + o.picks.below(2)
            return apply(x.tensor, by), meaning(x.wide, np.asarray(by))
        y = o.like(x, low=1)
        return apply(x.tensor, y.tensor), meaning(x.wide, y.wide)

    return draw


def _alone(name: str, meaning: Callable[[Array], Array], kinds: str = "fiu") -> Draw:
    def draw(o: Operands) -> Found:
        x = o.number(kinds=kinds)
        return getattr(topi, name)(x.tensor), meaning(x.wide)

    return draw


def _operators(o: Operands) -> Found:
    """Apply Python's arithmetic operators."""
    x = o.number()
    sign = o.picks.pick((operator.add, operator.sub, operator.mul))
    form = o.picks.below(4)
    if form == 0:
        return -x.tensor, -x.wide
    if form == 1:
        y = o.like(x)
        return sign(x.tensor, y.tensor), sign(x.wide, y.wide)
    number = 1 + o.picks.below(3)
    if form == 2:
        return sign(x.tensor, number), sign(x.wide, number)
    return sign(number, x.tensor), sign(number, x.wide)


def _truth(o: Operands) -> Operand:
    """Find or make bools."""
    found = [each for each in o.held if each.kind == "b"]
    if found and o.picks.below(4):
        return o.picks.pick(found)
    return o.input(o.shape(2), "bool", 0, 1)


def _logical(name: str, meaning: Callable[[Any, Any], Array]) -> Draw:
    def draw(o: Operands) -> Found:
        x = _truth(o)
        y = o.input(x.shape, "bool", 0, 1)
        return getattr(topi, name)(x.tensor, y.tensor), meaning(x.array, y.array)

    return draw


def _logical_not(o: Operands) -> Found:
    x = _truth(o)
    return topi.logical_not(x.tensor), ~x.array


def _where(o: Operands) -> Found:
    x = o.number()
    cond, y = o.input(x.shape, "bool", 0, 1), o.like(x)
    return (
        topi.where(cond.tensor, x.tensor, y.tensor),
        np.where(cond.array, x.wide, y.wide),
    )


def _clip(o: Operands) -> Found:
    """Clamp between two bounds, or to one; bounds are numbers or tensors."""
    x, form = o.number(), o.picks.below(4)
    low = None if form == 1 else o.like(x) if form == 3 else 1
    high = None if form == 2 else 1 + o.picks.below(3)
    below = low.tensor if isinstance(low, Operand) else low
    array = x.wide
    if low is not None:
        array = np.maximum(array, low.wide if isinstance(low, Operand) else low)
    array = array if high is None else np.minimum(array, high)
    return topi.clip(x.tensor, below, high), array


def _cast(o: Operands) -> Found:
    """Cast: floats saturate to the range of integers, integers wrap around."""
    x, dtype = o.number(), o.picks.pick((*_DTYPES, "bool"))
    kind, wide = as_dtype(dtype), x.wide
    if kind.is_integer and x.kind == "f":
        wide = np.clip(wide, kind.low, kind.high)
    return topi.cast(x.tensor, dtype), wide.astype(numpy_dtype(kind))


def _full(o: Operands) -> Found:
    shape, dtype, value = o.shape(1 + o.picks.below(2)), o.picks.pick(_DTYPES), o.picks.below(3)
    array = np.full(o.sizes(shape), value)
    return topi.full(shape, value, dtype), array


def _full_like(o: Operands) -> Found:
    x = o.number()
    return topi.full_like(x.tensor, 2), np.full(x.array.shape, 2)


def _add_all(o: Operands) -> Found:
    x = o.number()
    rest = [o.like(x) for _ in range(o.picks.below(3))]
    return topi.add_all(x.tensor, *(y.tensor for y in rest)), sum((y.wide for y in rest), x.wide)


def _broadcast_to(o: Operands) -> Found:
    x = o.number()
    shape = (2, *(3 if n == 1 else dim for n, dim in zip(x.array.shape, x.shape, strict=True)))
    sizes = (2, *(3 if n == 1 else n for n in x.array.shape))
    return topi.broadcast_to(x.tensor, shape), np.broadcast_to(x.wide, sizes)


def _axes(o: Operands, rank: int) -> Any:
    """Pick axes to reduce over: all, one, or several, counted from either end."""
    form = o.picks.below(3)
    if form == 0:
        return None
    chosen = [at - rank if o.picks.one_in(3) else at for at in o.picks.some(range(rank), rank)]
    return chosen[0] if form == 1 else tuple(chosen)


def _reduced(name: str, meaning: Callable[..., Array]) -> Draw:
    def draw(o: Operands) -> Found:
        x = o.axed()
        axis, keep = _axes(o, x.rank), bool(o.picks.below(2))
        wide = np.sign(x.wide) if name == "prod" else x.wide
        tensor = topi.sign(x.tensor) if name == "prod" and x.kind != "u" else x.tensor
        wide = x.wide if x.kind == "u" else wide
        return getattr(topi, name)(tensor, axis, keep), meaning(wide, axis=axis, keepdims=keep)

    return draw


def _gathered(o: Operands) -> Found:
    """Sum 16-bit floats whose partial sums only a wider type holds."""
    parts = o.rng.integers(1000, 2000, 2)
    numbers = np.array([*parts, *-parts, 3, -1, 2], np.float16)
    rows = np.stack([o.rng.permutation(numbers) for _ in range(1 + o.picks.below(3))])
    x = o.param(rows.shape, rows)
    if o.picks.below(2):
        return topi.sum(x.tensor, 1), x.wide.sum(axis=1)
    w = o.input((rows.shape[1], 2), "f16", 1, 1)
    return topi.matmul(x.tensor, w.tensor), x.wide @ w.wide


def _mean(o: Operands) -> Found:
    """Average integers, rounded towards zero, or floats whose mean is whole."""
    dtype = o.picks.pick(("i32", "f32", "i8", "f16"))
    x = o.input(o.shape(2), dtype, times=60 if dtype[0] == "f" else 1)
    axis = o.picks.below(2)
    total = x.wide.sum(axis=axis)
    return topi.mean(x.tensor, axis), _truncated(total, np.asarray(x.array.shape[axis]))


def _arg(name: str, meaning: Callable[..., Any]) -> Draw:
    def draw(o: Operands) -> Found:
        x = o.axed()
        axis, keep, last = o.picks.below(x.rank), bool(o.picks.below(2)), bool(o.picks.below(2))
        turned = np.flip(x.wide, axis) if last else x.wide
        found = np.asarray(meaning(turned, axis=axis, keepdims=keep)).astype(np.int64)
        found = x.array.shape[axis] - 1 - found if last else found
        apply = getattr(topi, name)
        return apply(x.tensor, axis - x.rank if keep else axis, keep, last=last), found

    return draw


def _leaky(o: Operands) -> Found:
    x = o.number(kinds="f")
    return topi.leaky_relu(x.tensor, 2.0), np.where(x.wide < 0, x.wide * 2, x.wide)


def _plain(array: Array) -> Array:
    return array


_COMPARED = {
    **{"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "greater": np.greater},
    **{"less_equal": np.less_equal, "greater_equal": np.greater_equal},
}
_BOTH = {
    **{"add": np.add, "subtract": np.subtract, "multiply": np.multiply},
    **{"maximum": np.maximum, "minimum": np.minimum},
}
POINTWISE: dict[str, Draw] = {
    "floor_divide": _divided(topi.floor_divide, np.floor_divide),
    "mod": _divided(topi.mod, np.mod),
    "divide": _divided(topi.divide, _truncated),
    "operators": _operators,
    "dividing operators": _divided(lambda x, y: x // y, np.floor_divide),
    "remainder operators": _divided(lambda x, y: x % y, np.mod),
    "clip": _clip,
    "square": _alone("square", np.square),
    "add_all": _add_all,
    "leaky_relu": _leaky,
    "relu": _alone("relu", lambda x: np.maximum(x, 0)),
    "identity": _alone("identity", _plain),
    "negative": _alone("negative", np.negative),
    "abs": _alone("abs", np.abs, "fi"),
    "sign": _alone("sign", np.sign, "fi"),
    **{name: _joined(name, meaning) for name, meaning in (*_BOTH.items(), *_COMPARED.items())},
    **{"where": _where, "cast": _cast, "full": _full, "full_like": _full_like},
    **{"logical_and": _logical("logical_and", np.logical_and), "logical_not": _logical_not},
    **{"logical_or": _logical("logical_or", np.logical_or), "broadcast_to": _broadcast_to},
    **{
        "gathered": _gathered,
        "sum": _reduced("sum", np.sum),
        "prod": _reduced("prod", np.prod),
        "mean": _mean,
    },
    **{"max": _reduced("max", np.max), "min": _reduced("min", np.min)},
    **{"argmax": _arg("argmax", np.argmax), "argmin": _arg("argmin", np.argmin)},
}
"""Operators that work element by element, or along axes."""


def is_small(array: Array) -> bool:
    """Return True if numbers are whole, few, and so small that no type rounds them."""
    if array.size > _MOST_ELEMENTS:
        return False
    if array.dtype.kind != "f":
        return True
    return bool(np.all(array == np.floor(array)) and np.all(np.abs(array) <= _MOST))
