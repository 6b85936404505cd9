"""Define a stage: call the user's function on fresh axes, and check what it returns."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, Union, cast, overload

from irkit.core import (
    Attrs,
    AttrValue,
    DTypeError,
    IRKitError,
    ShapeError,
    Span,
    any_node,
    user_span,
    walk,
)
from irkit.ir import Expr, ExprLike, plain, run_traced, tracing
from irkit.te.axis import IterVar
from irkit.te.reduction import Reduce
from irkit.te.tensor import ComputeOp, Dims, Tensor, as_shape, axes_over

_R = TypeVar("_R", covariant=True)


class _AnyRank(Protocol[_R]):
    def __call__(self, *indices: IterVar) -> _R: ...


# One case for each rank, so that type checkers infer the parameters of a lambda.
_Function = Union[
    _AnyRank[_R],
    Callable[[], _R],
    Callable[[IterVar], _R],
    Callable[[IterVar, IterVar], _R],
    Callable[[IterVar, IterVar, IterVar], _R],
    Callable[[IterVar, IterVar, IterVar, IterVar], _R],
    Callable[[IterVar, IterVar, IterVar, IterVar, IterVar], _R],
    Callable[[IterVar, IterVar, IterVar, IterVar, IterVar, IterVar], _R],
]


@overload
def compute(
    shape: Dims | ExprLike,
    fcompute: _Function[tuple[ExprLike, ...]],
    name: str = ...,
    *,
    tag: str = ...,
    attrs: Attrs | dict[str, AttrValue] = ...,
) -> tuple[Tensor, ...]: ...
@overload
def compute(
    shape: Dims | ExprLike,
    fcompute: _Function[ExprLike],
    name: str = ...,
    *,
    tag: str = ...,
    attrs: Attrs | dict[str, AttrValue] = ...,
) -> Tensor: ...
def compute(
    shape: Dims | ExprLike,
    fcompute: _Function[ExprLike] | _Function[tuple[ExprLike, ...]],
    name: str = "compute",
    *,
    tag: str = "",
    attrs: Attrs | dict[str, AttrValue] = (),
) -> Tensor | tuple[Tensor, ...]:
    """Define a tensor by the value of its element at each point of ``shape``.

    ``fcompute`` takes one index for each axis (the parameter names become those of the axes), or
    ``*i``. If it returns a tuple, the stage has several outputs of that shape, and the result is a
    tuple of tensors. A reduction must be the whole value that it returns. While it runs,
    comparisons such as ``i % 2 == 0`` make expressions, and ``if``, ``and`` or ``in`` refuse them.

    Raises: ShapeError if ``fcompute`` does not take one index for each axis.
    """
    with tracing(None):
        return _stage(shape, fcompute, name, tag, attrs, run_traced)


def define_stage(
    shape: Dims | ExprLike,
    fcompute: Callable[..., Any],
    name: str,
    *,
    tag: str = "",
    attrs: Attrs | dict[str, AttrValue] = (),
) -> Any:
    """Define a stage as :func:`compute` does, by a function that compares extents: ``==`` is that
    of nodes, by structure."""
    with tracing(None):
        return _stage(shape, fcompute, name, tag, attrs, _called)


def _called(function: Callable[..., Any], *axes: IterVar) -> Any:
    return function(*axes)


def _stage(
    shape: Dims | ExprLike,
    fcompute: Callable[..., Any],
    name: str,
    tag: str,
    attrs: Attrs | dict[str, AttrValue],
    call: Callable[..., Any],
) -> Tensor | tuple[Tensor, ...]:
    span = user_span(name)
    if not callable(fcompute):
        raise IRKitError(
            f"stage {name!r} is defined by a function of its indices, found {fcompute!r}",
            hint="Write te.compute((n,), lambda i: ...).",
            span=span,
        )
    extents = as_shape(shape, name, span)
    axes = axes_over(extents, _axis_names(fcompute, len(extents), name, span))
    given = call(fcompute, *axes)
    several = isinstance(given, (tuple, list))
    values = cast(Sequence[ExprLike], given) if several else (cast(ExprLike, given),)
    body = tuple(_value(value, name, span) for value in values)
    if not body:
        raise IRKitError(f"stage {name!r} has no outputs", span=span)
    reduced = _check_reductions(body, name, span)
    _check_axes(body, axes, reduced, name, span)
    op = ComputeOp(
        name=name,
        shape=extents,
        dtypes=tuple(expr.dtype for expr in body),
        span=span,
        tag=tag,
        attrs=tuple(attrs.items()) if isinstance(attrs, dict) else attrs,
        axis=axes,
        body=body,
        reduce_axis=reduced,
    )
    return op.outputs if several else op.outputs[0]


def _axis_names(
    fcompute: Callable[..., Any], rank: int, name: str, span: Span | None
) -> tuple[str, ...]:
    """Return the names of the axes, taken from the parameters of the user's function."""
    numbered = tuple(f"ax{axis}" for axis in range(rank))
    try:
        parameters = inspect.signature(fcompute).parameters.values()
    except (TypeError, ValueError):  # Some callables written in C have no signature.
        return numbered
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = [each for each in parameters if each.kind in by_place]
    needed = [each for each in named if each.default is inspect.Parameter.empty]
    rest = any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters)
    if len(needed) > rank or (len(named) < rank and not rest):
        raise ShapeError(
            f"stage {name!r} has {rank} axes; its function takes {len(named)} indices", span=span
        )
    return tuple(each.name for each in named[:rank]) + numbered[len(named) :]


def _value(given: ExprLike, name: str, span: Span | None) -> Expr:
    try:
        expr = plain(given)
    except ShapeError:
        raise
    except DTypeError as error:
        raise DTypeError(
            f"the function of stage {name!r} must return an expression: {error.message}",
            hint=error.hint,
            span=span,
        ) from None
    if expr.dtype.lanes != 1:
        raise DTypeError(
            f"the function of stage {name!r} must return a scalar, found {expr.dtype}", span=span
        )
    return expr


def _check_reductions(body: tuple[Expr, ...], name: str, span: Span | None) -> tuple[IterVar, ...]:
    """Check that reductions stand alone, and that several outputs belong to one reduction."""
    first = body[0]
    for expr in body:
        inside = (
            (*expr.sources, *(() if expr.where is None else (expr.where,)))
            if isinstance(expr, Reduce)
            else (expr,)
        )
        if any(any_node(part, Reduce) for part in inside):
            raise IRKitError(
                f"stage {name!r} uses a reduction inside an expression; it must be the whole body",
                hint="Make the reduction a stage of its own and read it here.",
                span=span,
            )
    if not any(isinstance(expr, Reduce) for expr in body):
        return ()
    alike = all(
        isinstance(expr, Reduce)
        and isinstance(first, Reduce)
        and expr.which == which
        and expr.reducer is first.reducer
        and len(expr.reducer.results) == len(body)
        and expr.axes == first.axes
        and expr.sources == first.sources
        and expr.where == first.where
        for which, expr in enumerate(body)
    )
    if not alike:
        raise IRKitError(
            f"stage {name!r} has {len(body)} outputs that are not the values, in order, of one "
            "reduction",
            hint="Make each reduction a stage of its own, or one te.comm_reducer of a tuple.",
            span=span,
        )
    assert isinstance(first, Reduce)
    return first.axes


def _check_axes(
    body: tuple[Expr, ...],
    axes: tuple[IterVar, ...],
    reduced: tuple[IterVar, ...],
    name: str,
    span: Span | None,
) -> None:
    own = {*axes, *reduced}
    for expr in body:
        for used in walk(expr, IterVar):
            if used not in own:
                kind = "reduce axis" if used.is_reduce else "axis"
                raise IRKitError(
                    f"stage {name!r} uses {kind} {used.name!r}, which it does not run over",
                    hint="Name it in the axis of a reduction." if used.is_reduce else "",
                    span=span,
                )
