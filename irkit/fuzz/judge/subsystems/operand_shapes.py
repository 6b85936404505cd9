"""Operators of graphs on operands that fit or do not, as NumPy decides."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irkit.core import IRKitError
from irkit.fuzz.generators.sample import Array
from irkit.fuzz.judge.outcome import WrongSample
from irkit.fuzz.picks import Picks
from irkit.graph import Builder, arrays_of, interpret, tensor_type

_DTYPES = ("f32", "i32", "f64", "i64", "u8", "bool")
_NUMPY = {"f32": "f4", "i32": "i4", "f64": "f8", "i64": "i8", "u8": "u1", "bool": "?"}
_SIZES = (2, 3, 1, 4, 0)
Attrs = dict[str, Any]
Rule = Callable[[Sequence[Array], Attrs], Array]
DrawAttrs = Callable[[Picks, Sequence[Array]], Attrs]


def operators_fit(picks: Picks) -> None:
    """An operator is refused where NumPy refuses it, and else has its shape and numbers.

    Raises: WrongSample.
    """
    name = picks.pick(tuple(_RULES))
    count, draw, rule, kinds = _RULES[name]
    arrays = _operands(picks, count or 1 + picks.below(3), kinds)
    attrs = draw(picks, arrays)
    shown = f"{name}({', '.join(f'{each.dtype}{each.shape}' for each in arrays)}, {attrs})"
    try:
        expected = None if _is_mixed(name, arrays) else rule(arrays, attrs)
    except (ValueError, IndexError, TypeError):  # What NumPy says of operands that do not fit.
        expected = None
    builder = Builder("main")
    names = {dtype: name for name, dtype in _NUMPY.items()}
    params = [
        builder.param(f"x{at}", tensor_type(each.shape, names[_code(each)]))
        for at, each in enumerate(arrays)
    ]
    try:
        func = builder.finish(builder.op(name, *params, **attrs))
    except IRKitError as error:
        if expected is None:
            return
        raise WrongSample("failed", f"{shown} is refused: {error}") from None
    if expected is None:
        raise WrongSample("broken", f"{shown} is accepted, and NumPy refuses it")
    with np.errstate(all="ignore"):
        (result,) = (np.asarray(each) for each in arrays_of(interpret(func, list(arrays))))
    if result.shape != expected.shape or not np.array_equal(result, expected, equal_nan=True):
        raise WrongSample("mismatch", f"{shown} is\n{result}, expected\n{expected}")


def _code(array: Array) -> str:
    return "?" if array.dtype.kind == "b" else f"{array.dtype.kind}{array.dtype.itemsize}"


def _is_mixed(name: str, arrays: Sequence[Array]) -> bool:
    """Return True if operands differ in type, which NumPy would convert."""
    given = arrays[1:] if name == "where" else arrays[:1] if name == "take" else arrays
    return len({each.dtype for each in given}) > 1


def _operands(picks: Picks, count: int, kinds: str) -> list[Array]:
    """Draw arrays, mostly of one type, whose shapes are those of a broadcast and now and then not
    quite."""
    shape = [picks.pick(_SIZES) for _ in range(picks.below(4))]
    usable = [each for each in _DTYPES if np.dtype(_NUMPY[each]).kind in kinds]
    dtype = picks.pick(usable)
    rng = np.random.default_rng(picks.below(1 << 16))
    made = list[Array]()
    for _ in range(count):
        own = list(shape)
        if picks.one_in(2) and own:
            own[picks.below(len(own))] = 1
        if picks.one_in(4) and own:
            own[picks.below(len(own))] = picks.pick(_SIZES)
        if picks.one_in(4):
            own = own[picks.below(len(own) + 1) :]
        if picks.one_in(8):
            own = [picks.pick(_SIZES), *own]
        kind = picks.pick(usable) if picks.one_in(10) else dtype
        made.append(rng.integers(0, 3, own).astype(_NUMPY[kind]))
    return made


def _none(picks: Picks, arrays: Sequence[Array]) -> Attrs:
    return {}


def _axis(picks: Picks, arrays: Sequence[Array]) -> Attrs:
    rank = arrays[0].ndim
    return {"axis": picks.between(-rank - 1, rank)}


def _axes(picks: Picks, arrays: Sequence[Array]) -> Attrs:
    rank = arrays[0].ndim
    beyond = int(picks.one_in(8))
    last = max(rank - 1, 0) + beyond
    axes = [picks.between(-rank - beyond, last) for _ in range(1 + picks.below(2))]
    return {"axes": tuple(axes), "keepdims": bool(picks.below(2))}


def _order(picks: Picks, arrays: Sequence[Array]) -> Attrs:
    axes = list(range(arrays[0].ndim))
    made = [axes.pop(picks.below(len(axes))) for _ in range(len(axes))]
    if made and picks.one_in(4):
        made[picks.below(len(made))] = picks.between(-len(made), len(made))
    if picks.one_in(8):
        made = made[1:]
    return {"axes": tuple(made)}


def _shape(picks: Picks, arrays: Sequence[Array]) -> Attrs:
    size = arrays[0].size
    shape = [each for each in (size // 2, 2) if each] if size and size % 2 == 0 else [size]
    if picks.one_in(2):
        shape = [arrays[0].shape[-1] if arrays[0].ndim else 1, size]
    if picks.one_in(3):
        shape = [*shape, 1]
    return {"shape": tuple(shape)}


def _target(picks: Picks, arrays: Sequence[Array]) -> Attrs:
    shape = [
        picks.pick((2, 3)) if each == 1 and picks.below(2) else each for each in arrays[0].shape
    ]
    if picks.one_in(3):
        shape = [picks.pick(_SIZES), *shape]
    if shape and picks.one_in(4):
        shape[picks.below(len(shape))] = picks.pick(_SIZES)
    return {"shape": tuple(shape)}


def _reshaped(arrays: Sequence[Array], attrs: Attrs) -> Array:
    return arrays[0].reshape(attrs["shape"])


def _broadcast(arrays: Sequence[Array], attrs: Attrs) -> Array:
    return np.broadcast_to(arrays[0], attrs["shape"])


def _concat(arrays: Sequence[Array], attrs: Attrs) -> Array:
    return np.concatenate(arrays, attrs["axis"])


def _summed(arrays: Sequence[Array], attrs: Attrs) -> Array:
    result = arrays[0].sum(attrs["axes"], keepdims=attrs["keepdims"], dtype=arrays[0].dtype)
    return np.asarray(result)


def _largest(arrays: Sequence[Array], attrs: Attrs) -> Array:
    dtype = arrays[0].dtype
    lowest = -np.inf if dtype.kind == "f" else np.iinfo(dtype).min  # The maximum of nothing.
    return np.asarray(arrays[0].max(attrs["axes"], keepdims=attrs["keepdims"], initial=lowest))


def _where(arrays: Sequence[Array], attrs: Attrs) -> Array:
    if arrays[0].dtype != np.bool_:
        raise TypeError("the condition is no bool")
    return np.where(*arrays)


def _of(function: Callable[..., Any]) -> Rule:
    return lambda arrays, attrs: np.asarray(function(*arrays))


_RULES: dict[str, tuple[int, DrawAttrs, Rule, str]] = {
    "add": (2, _none, _of(np.add), "fiu"),
    "multiply": (2, _none, _of(np.multiply), "fiu"),
    "maximum": (2, _none, _of(np.maximum), "fiu"),
    "less": (2, _none, _of(np.less), "fiu"),
    "logical_and": (2, _none, _of(np.logical_and), "b"),
    "where": (3, _none, _where, "b"),
    "matmul": (2, _none, _of(np.matmul), "f"),
    "concat": (0, _axis, _concat, "fiub"),
    "transpose": (
        1,
        _order,
        lambda arrays, attrs: arrays[0].transpose(attrs["axes"] or None),
        "fiub",
    ),
    "reshape": (1, _shape, _reshaped, "fiub"),
    "broadcast_to": (1, _target, _broadcast, "fiub"),
    "sum": (1, _axes, _summed, "fi"),
    "max": (1, _axes, _largest, "fi"),
}
"""Operators: how many operands (0 for some), their attributes, what NumPy makes, and kinds."""
