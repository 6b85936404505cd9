"""Reductions: reducers that combine values along reduce axes, and their expressions."""

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol, cast

import msgspec

from irkit.core import Binds, DTypeError, IRKitError, any_node, user_span
from irkit.ir import (
    Add as _Add,
    Binary,
    DType,
    Expr,
    ExprLike,
    Max as _Max,
    Min as _Min,
    Mul as _Mul,
    Var,
    as_dtype,
    as_expr,
    binary,
    const,
    plain,
    run_traced,
    traced,
)
from irkit.ir.analysis import identity_of
from irkit.te.axis import IterVar

_LARGEST = {
    ("f", 16): 65504.0,
    ("bf", 16): 3.3895313892515355e38,
    ("f", 32): 3.4028234663852886e38,
    ("f", 64): 1.7976931348623157e308,
}

# Each side is one expression or a tuple; type checkers check the user's lambdas against this.
Combine = Callable[[Any, Any], ExprLike | tuple[ExprLike, ...]]


class Reducer(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Associative and commutative function that combines values, one or several at a time.

    ``results`` combine the result so far (``left``) with one more value (``right``); ``identity``
    is the result for no values, and neutral in any combination.
    """

    name: str
    left: tuple[Var, ...]
    right: tuple[Var, ...]
    results: tuple[Expr, ...]
    identity: tuple[Expr, ...]


class Reduce(Expr, frozen=True):
    """Result ``which`` of combining ``sources`` over all points of ``axes`` where ``where`` holds.

    It must be the whole body of a stage.
    """

    reducer: Reducer
    sources: tuple[Expr, ...]
    axes: Binds[tuple[IterVar, ...]]
    where: Expr | None
    which: int
    dtype: DType


class Reduction(Protocol):
    """A reduction of scalar expressions; of several values at a time, it takes and returns a
    tuple."""

    def __call__(
        self,
        expr: ExprLike | tuple[ExprLike, ...],
        axis: IterVar | Sequence[IterVar],
        where: ExprLike | None = None,
    ) -> Expr: ...


def min_value(dtype: DType | str) -> Expr:
    """Make the smallest finite value of a type."""
    element = as_dtype(dtype)
    if element.is_float:
        return const(-_LARGEST[element.kind, element.bits], element)
    return const(element.low, element)


def max_value(dtype: DType | str) -> Expr:
    """Make the largest finite value of a type."""
    element = as_dtype(dtype)
    if element.is_float:
        return const(_LARGEST[element.kind, element.bits], element)
    return const(element.high, element)


def infinity(dtype: DType | str) -> Expr:
    """Make plus infinity of a float type."""
    element = as_dtype(dtype)
    if not element.is_float:
        raise DTypeError(f"{element} has no infinity; expected a float type", span=user_span())
    return const(float("inf"), element)


def least(dtype: DType | str) -> Expr:
    """Make the identity of max: minus infinity, or the smallest integer."""
    return identity_of(_Max, as_dtype(dtype))


def greatest(dtype: DType | str) -> Expr:
    """Make the identity of min: plus infinity, or the largest integer."""
    return identity_of(_Min, as_dtype(dtype))


def comm_reducer(
    fcombine: Combine,
    fidentity: Callable[..., ExprLike | tuple[ExprLike, ...]],
    name: str = "reduce",
) -> Callable[..., "Expr | tuple[Expr, ...]"]:
    """Make a reduction from an associative, commutative function and its identity.

    ``fidentity`` takes the types of the values; ``fcombine(x, y)`` takes two values, or two tuples
    for several values at a time. The result is called as ``reduction(expr, axis=k, where=None)``;
    with a tuple of expressions it returns a tuple.
    """

    @cache
    def reducer_for(dtypes: tuple[DType, ...]) -> Reducer:
        return _reducer(fcombine, fidentity, name, dtypes)

    def reduction(
        expr: ExprLike | tuple[ExprLike, ...],
        axis: IterVar | Sequence[IterVar],
        where: ExprLike | None = None,
    ) -> Expr | tuple[Expr, ...]:
        if isinstance(expr, tuple):
            return _reduce(reducer_for, expr, axis, where)
        return _reduce(reducer_for, (expr,), axis, where)[0]

    reduction.__name__ = reduction.__qualname__ = name
    reduction.__doc__ = f"Combine values by {name} along reduce axes, where a condition holds."
    return reduction


def _reducer(
    fcombine: Combine,
    fidentity: Callable[..., ExprLike | tuple[ExprLike, ...]],
    name: str,
    dtypes: tuple[DType, ...],
) -> Reducer:
    left = tuple(Var(f"x{i}", dtype) for i, dtype in enumerate(dtypes))
    right = tuple(Var(f"y{i}", dtype) for i, dtype in enumerate(dtypes))
    sides = (left, right) if len(dtypes) > 1 else (left[0], right[0])
    _check_arity(fidentity, len(dtypes), name)
    results = _typed(run_traced(fcombine, *sides), dtypes, name, "combines to")
    return Reducer(
        name,
        left,
        right,
        results,
        _typed(run_traced(fidentity, *dtypes), dtypes, name, "has as identity"),
    )


def _check_arity(fidentity: Callable[..., Any], count: int, name: str) -> None:
    try:
        inspect.signature(fidentity).bind(*range(count))
    except TypeError:
        raise IRKitError(
            f"the identity of reducer {name!r} does not take the types of {count} values",
            span=user_span(name),
        ) from None
    except ValueError:  # Some callables written in C have no signature.
        return


def _typed(
    given: ExprLike | tuple[ExprLike, ...], dtypes: tuple[DType, ...], name: str, what: str
) -> tuple[Expr, ...]:
    values = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if len(values) != len(dtypes):
        raise IRKitError(
            f"reducer {name!r} {what} {len(values)} values; it is used on {len(dtypes)}",
            span=user_span(name),
        )
    exprs = tuple(plain(value, dtype) for value, dtype in zip(values, dtypes, strict=True))
    for expr, dtype in zip(exprs, dtypes, strict=True):
        if expr.dtype != dtype:
            raise DTypeError(
                f"reducer {name!r} {what} {expr.dtype}; the values are {dtype}",
                span=user_span(name),
            )
    return exprs


def _reduce(
    reducer_for: Callable[[tuple[DType, ...]], Reducer],
    given: tuple[ExprLike, ...],
    axis: IterVar | Sequence[IterVar],
    where: ExprLike | None,
) -> tuple[Expr, ...]:
    sources = tuple(as_expr(expr) for expr in given)
    reducer = reducer_for(tuple(source.dtype for source in sources))
    given_axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(cast(Sequence[IterVar], given_axes))
    span = user_span(reducer.name)
    if not axes or len(set(axes)) != len(axes):
        raise IRKitError(
            f"{reducer.name} needs at least one axis, and each axis only once", span=span
        )
    for each in axes:
        if not getattr(each, "is_reduce", False):
            found = getattr(each, "name", each)
            raise IRKitError(
                f"{reducer.name} can only run over reduce axes, found {found!r}",
                hint="Make one with te.reduce_axis((0, n)).",
                span=span,
            )
    test = None if where is None else as_expr(where)
    if test is not None and not test.dtype.is_bool:
        raise DTypeError(f"{reducer.name}: where must be bool, found {test.dtype}", span=span)
    if any(any_node(expr, Reduce) for expr in (*sources, *(() if test is None else (test,)))):
        raise IRKitError(
            f"{reducer.name} cannot contain another reduction",
            hint="Reduce over several axes at once, or make the inner one a stage of its own.",
            span=span,
        )
    return tuple(
        traced(Reduce(reducer, sources, axes, test, which, source.dtype))
        for which, source in enumerate(sources)
    )


def _single(name: str, operation: type[Binary]) -> Reduction:
    def fcombine(x: Expr, y: Expr) -> Expr:
        return binary(operation, x, y)

    def identity(dtype: DType) -> Expr:
        return identity_of(operation, dtype)

    return cast(Reduction, comm_reducer(fcombine, identity, name))


sum = _single("sum", _Add)
prod = _single("prod", _Mul)
min = _single("min", _Min)
max = _single("max", _Max)
