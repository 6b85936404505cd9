"""Loop functions that compute with dimensions: counts, and windows that dimensions place.

A loop function learns the dimensions from the shapes of its tensors, so tensors of which no element
is read can be among its arguments.
"""

from collections.abc import Callable, Sequence

from irkit.core import Span
from irkit.frontend.sizes.arithmetic import Dim, Window
from irkit.graph import TensorType
from irkit.ir import DType, Expr, PrimFunc, const, convert, if_then_else, index, logical_and, lt
from irkit.te import Tensor, compute, create_prim_func, placeholder, size_params

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
    made = compute(tuple(shape), rule(tensors), name)
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
    windows: Sequence[Window],
    likes: Sequence[TensorType] = (),
    span: Span | None = None,
    *,
    guarded: Sequence[int] = (),
) -> tuple[PrimFunc, TensorType]:
    """Return the loop function that takes a window of each axis of a tensor, its first argument.

    ``likes`` are further tensors, which have dimensions that ``x`` has not. What a window takes
    from outside of one of the axes ``guarded`` is 0.
    """

    def rule(tensors: Sequence[Tensor]) -> Callable[..., Expr]:
        def at(*i: Expr) -> Expr:
            places = [_place(i_, each) for i_, each in zip(i, windows, strict=True)]
            taken = tensors[0](*places)
            if not guarded:
                return taken
            inside = logical_and(*[lt(places[axis], x.shape[axis]) for axis in guarded])
            return if_then_else(inside, taken, const(0, x.dtype))

        return at

    return size_kernel("slice", [x, *likes], [each.count for each in windows], x.dtype, rule, span)


def _place(at: Expr, window: Window) -> Expr:
    scaled = at if window.step == 1 else at * window.step
    return scaled if window.begin == 0 else scaled + window.begin
