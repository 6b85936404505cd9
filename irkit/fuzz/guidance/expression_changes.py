"""Changes to one expression: other operators, constants and types around what stands there."""

from collections.abc import Callable, Sequence

from irkit.core import rewrite, walk
from irkit.fuzz.guidance.constants import draw_constant
from irkit.fuzz.picks import Picks
from irkit.ir import (
    INTRINSICS,
    OPERATORS,
    Binary,
    Call,
    Compare,
    Const,
    DType,
    Expr,
    Neg,
    Not,
    as_dtype,
    binary,
    call,
    cast,
    const,
    select,
)

_EXACT = 0.5  # A function with a larger error may differ in native code.
_TYPES = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f16", "bf16", "f64", "bool")


def _classes(of: type[Binary]) -> list[type[Binary]]:
    below = of.__subclasses__()
    return [
        cls for each in below for cls in ([each] if not each.__subclasses__() else _classes(each))
    ]


_BINARY = _classes(Binary)


def changed_expression(
    value: Expr, places: Sequence[Expr], near: Sequence[int | float], picks: Picks
) -> Expr:
    """Return an expression that is changed at one of some places in it; constants are like those
    ``near``.

    Raises: IRKitError if that makes no expression.
    """
    place = picks.pick(places)
    new = _changed(place, value, near, picks)

    def replaced(each: Expr) -> Expr | None:
        return new if each is place else None

    return rewrite(value, replaced, on=type(place))


def _changed(place: Expr, value: Expr, near: Sequence[int | float], picks: Picks) -> Expr:
    form = picks.below(8)
    if form == 0 and isinstance(place, Const):
        return _constant(place.dtype, near, picks)
    if form == 1 and isinstance(place, Binary):
        return _other_operator(place, picks)
    if form == 2:
        donors = [each for each in walk(value, on=Expr) if each.dtype == place.dtype]
        return picks.pick(donors)
    around = _around(place, value, near, picks)
    return _around(around, value, near, picks) if picks.one_in(3) else around


def _around(place: Expr, value: Expr, near: Sequence[int | float], picks: Picks) -> Expr:
    """Put something around a part of an expression, of the same type as a whole."""
    dtype = place.dtype
    forms: tuple[Callable[[], Expr], ...] = (
        lambda: _with_operand(place, _constant(dtype, near, picks), picks),
        lambda: _with_operand(place, _constant(dtype, near, picks), picks),
        lambda: _through_type(place, picks),
        lambda: _with_operand(place, _donor(place, value, picks), picks),
        lambda: _chosen(place, value, near, picks),
        lambda: _called(place, _constant(dtype, near, picks), picks),
        lambda: Not(place, dtype) if dtype.is_bool else Neg(place, dtype),
    )
    return picks.pick(forms)()


def _constant(dtype: DType, near: Sequence[int | float], picks: Picks) -> Expr:
    return const(draw_constant(dtype.element, near, picks), dtype)


def _donor(place: Expr, value: Expr, picks: Picks) -> Expr:
    found = [each for each in walk(value, on=Expr) if each.dtype == place.dtype]
    return picks.pick(found)


def _accepting(dtype: DType, *, compares: bool) -> list[type[Binary]]:
    return [
        cls
        for cls in _BINARY
        if issubclass(cls, Compare) == compares and dtype.kind in OPERATORS[cls.sign].kinds
    ]


def _with_operand(place: Expr, other: Expr, picks: Picks) -> Expr:
    """Combine with another operand, on either side."""
    cls = picks.pick(_accepting(place.dtype, compares=place.dtype.is_bool and picks.one_in(4)))
    return binary(cls, other, place) if picks.one_in(3) else binary(cls, place, other)


def _other_operator(place: Binary, picks: Picks) -> Expr:
    found = _accepting(place.a.dtype, compares=isinstance(place, Compare))
    return binary(picks.pick(found), place.a, place.b)


def _through_type(place: Expr, picks: Picks) -> Expr:
    """Convert to another type and back."""
    other = as_dtype(picks.pick(_TYPES)).with_lanes(place.dtype.lanes)
    return cast(cast(place, other), place.dtype)


def _chosen(place: Expr, value: Expr, near: Sequence[int | float], picks: Picks) -> Expr:
    """Choose between it and something else."""
    cls = picks.pick(_accepting(place.dtype, compares=True))
    cond = binary(cls, _donor(place, value, picks), _constant(place.dtype, near, picks))
    other = _constant(place.dtype, near, picks) if picks.below(2) else _donor(place, value, picks)
    return select(cond, place, other)


def _called(place: Expr, other: Expr, picks: Picks) -> Expr:
    """Call a function that has one right result, and convert that back."""
    dtype = place.dtype
    names = [
        row.name
        for row in INTRINSICS.values()
        if row.gives != "none" and row.accepts(dtype) and row.ulps_in(dtype) <= _EXACT
    ]
    if not names:
        return _with_operand(place, other, picks)
    row = INTRINSICS[picks.pick(names)]
    args = (place, other, place)[: row.arity]
    return cast(call(row.name, *args), dtype)


def is_exact(each: Call) -> bool:
    """Return True if native code computes the same bits as the interpreter."""
    return not each.args or INTRINSICS[each.name].ulps_in(each.args[0].dtype) <= _EXACT
