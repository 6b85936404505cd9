"""Loop functions that compute with dimensions: counts, and windows that dimensions place.

A loop function learns the dimensions from the shapes of its tensors, so tensors of which no element
is read can be among its arguments.
"""

from collections.abc import Callable, Sequence

from irkit.core import Span
from irkit.frontend.sizes.arithmetic import AxisWindow, Dim
from irkit.graph import TensorType
from irkit.ir import Assert, DType, Expr, PrimFunc, convert, index, seq
from irkit.te import Tensor, create_prim_func, define_stage, placeholder, size_params

Rule = Callable[[Sequence[Tensor]], Callable[..., Expr]]
"""From the tensors of a loop function to the element of its result at indices."""


def size_kernel(
    name: str,
    args: Sequence[TensorType],
    shape: Sequence[Dim],
    dtype: DType,
    rule: Rule,
    span: Span | None = None,
) -> tuple[PrimFunc, TensorType]:
    """Return a loop function of tensors that computes one of a shape, and the type of that."""
    tensors = [
        placeholder(arg.shape, dtype=arg.dtype, name=f"p{at}") for at, arg in enumerate(args)
    ]
    made = define_stage(tuple(shape), rule(tensors), name)
    assert isinstance(made, Tensor)
    numbers = size_params([*tensors, made])
    func = create_prim_func([*numbers, *tensors, made], name=name, span=span)
    return func, TensorType(tuple(index(dim) for dim in shape), dtype)


def counting_kernel(
    start: Dim, count: Dim, step: int, dtype: DType, likes: Sequence[TensorType], span: Span | None
) -> tuple[PrimFunc, TensorType]:
    """Return the loop function of ``start``, ``start + step`` and so on.

    ``likes`` are tensors that have the dimensions.
    """

    def at(*i: Expr) -> Expr:
        return convert(i[0] * step + start, dtype)

    return size_kernel("range", likes, (count,), dtype, lambda _: at, span)


def window_kernel(
    x: TensorType,
    windows: Sequence[AxisWindow],
    likes: Sequence[TensorType] = (),
    span: Span | None = None,
    *,
    checks: Sequence[Assert] = (),
) -> tuple[PrimFunc, TensorType]:
    """Return the loop function that takes a window of each axis of a tensor, its first argument.

    ``likes`` are further tensors, which have dimensions that ``x`` has not. ``checks`` assert that
    the windows lie within ``x`` where that is not known.
    """

    def rule(tensors: Sequence[Tensor]) -> Callable[..., Expr]:
        def at(*i: Expr) -> Expr:
            return tensors[0](*[_place(i_, each) for i_, each in zip(i, windows, strict=True)])

        return at

    counts = [each.count for each in windows]
    func, kind = size_kernel("slice", [x, *likes], counts, x.dtype, rule, span)
    return func.replace(body=seq(*checks, func.body)) if checks else func, kind


def _place(at: Expr, window: AxisWindow) -> Expr:
    scaled = at if window.step == 1 else at * window.step
    return scaled if window.begin == 0 else scaled + window.begin
