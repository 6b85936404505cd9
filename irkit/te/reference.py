"""Evaluate tensor expressions with NumPy, on whole index grids at once.

Lowered and compiled code is compared with this, so it shares nothing with the lowering or the
interpreter of loops. Each stage is evaluated on the grid of its axes, and a reduction also on the
grid of its reduce axes, which costs memory: it is meant for small shapes, and large stages are
evaluated piece by piece along their first axis.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRKitError, Node, ShapeError, postorder
from irkit.ir import (
    Add,
    And,
    Binary,
    Call,
    Cast,
    Conditional,
    Const,
    Expr,
    Max,
    Min,
    Mul,
    Neg,
    Not,
    Or,
    Select,
    Var,
    numpy_dtype,
)
from irkit.ir.reference import BINARY, call, convert, full_of, invert, negate
from irkit.te.axis import IterVar
from irkit.te.lower import operations_of
from irkit.te.reduction import Reduce, Reducer
from irkit.te.tensor import ComputeOp, Operation, PlaceholderOp, Tensor, TensorRead

Array = Any
_GRID = 1 << 22  # The largest number of points evaluated at a time.


class _Value(msgspec.Struct, frozen=True):
    """Array over the grid, with a mask of the elements that come from reads out of bounds."""

    array: Array
    out_of_bounds: Array | None = None


def evaluate(
    tensors: Sequence[Tensor],
    inputs: Mapping[Tensor, Array],
    dims: Mapping[Var, int | float] | None = None,
    *,
    wide: bool = False,
) -> list[Array]:
    """Compute the values of tensors from those of the placeholders they need.

    ``dims`` has the values of variables that are no extent of a placeholder. With ``wide``, sums
    and products of floats are accumulated in f64 and rounded once.

    Raises: IRKitError if a placeholder or variable is missing, or an element that matters is read
    out of bounds; ShapeError if an array does not fit its placeholder.
    """
    known: dict[Tensor, Array] = {}
    sizes: dict[Node, Array] = {
        var: np.asarray(value, numpy_dtype(var.dtype)) for var, value in (dims or {}).items()
    }
    for tensor, given in inputs.items():
        known[tensor] = _accept(tensor, np.asarray(given), sizes)
    for tensor in inputs:
        _check_shape(tensor, known[tensor], sizes)
    with np.errstate(all="ignore"):
        for op in operations_of(tensors):
            if isinstance(op, PlaceholderOp):
                if op.output(0) not in known:
                    raise IRKitError(f"no array given for placeholder {op.name!r}", span=op.span)
            else:
                made = _stage(op, known, sizes, wide)
                known.update(zip(op.outputs, made, strict=True))
    return [known[tensor] for tensor in tensors]


def numpy_reference(args: Sequence[Tensor | Var]) -> Callable[[Sequence[Any]], list[Any]]:
    """Return the NumPy equivalent of the loops of ``create_prim_func(args)``: a function that
    returns all arguments with the outputs computed."""
    outputs = [arg for arg in args if isinstance(arg, Tensor) and isinstance(arg.op, ComputeOp)]

    def run(values: Sequence[Any]) -> list[Any]:
        given = list(zip(args, values, strict=True))
        inputs: dict[Tensor, Any] = {
            arg: value
            for arg, value in given
            if isinstance(arg, Tensor) and isinstance(arg.op, PlaceholderOp)
        }
        dims: dict[Var, Any] = {arg: value for arg, value in given if isinstance(arg, Var)}
        made: dict[object, Any] = dict(zip(outputs, evaluate(outputs, inputs, dims), strict=True))
        return [made.get(arg, value) for arg, value in given]

    return run


def _accept(tensor: Tensor, array: Array, sizes: dict[Node, Array]) -> Array:
    """Check the type and rank of an array, and record the values of variables that are extents."""
    wanted = numpy_dtype(tensor.dtype)
    if array.dtype != wanted:
        raise IRKitError(
            f"{tensor.name!r} has type {tensor.dtype}, found an array of {array.dtype}"
        )
    if array.ndim != tensor.ndim:
        raise ShapeError(f"{tensor.name!r} has {tensor.ndim} axes, found an array of {array.ndim}")
    for dim, size in zip(tensor.shape, array.shape, strict=True):
        if isinstance(dim, Var) and dim not in sizes:
            sizes[dim] = np.asarray(size, np.int64)
    return array


def _check_shape(tensor: Tensor, array: Array, sizes: dict[Node, Array]) -> None:
    for axis, (dim, size) in enumerate(zip(tensor.shape, array.shape, strict=True)):
        wanted = _number(dim, sizes)
        if wanted != size:
            raise ShapeError(f"{tensor.name!r} has {wanted} along axis {axis}, found {size}")


def _number(expr: Expr, sizes: Mapping[Node, Array]) -> int:
    return int(_Grid({}, sizes).value(expr).array)


def _stage(
    op: Operation, known: Mapping[Tensor, Array], sizes: Mapping[Node, Array], wide: bool
) -> list[Array]:
    """Evaluate the outputs of one stage, in pieces along the first axis."""
    shape = tuple(max(_number(axis.extent, sizes), 0) for axis in op.axis)
    spans = [
        (_number(axis.dom.begin, sizes), max(_number(axis.extent, sizes), 0))
        for axis in op.reduce_axis
    ]
    results = [np.empty(shape, numpy_dtype(dtype)) for dtype in op.dtypes]
    points = int(np.prod([*shape[1:], *(extent for _, extent in spans)], dtype=np.int64))
    rows = shape[0] if shape else 1
    step = max(1, _GRID // max(points, 1))
    for start in range(0, rows, step):
        count = min(step, rows - start)
        ranges = [(0, extent) for extent in shape]
        if ranges:
            ranges[0] = (start, count)
        piece = _piece(op, ranges, spans, known, sizes, wide)
        for result, values in zip(results, piece, strict=True):
            if ranges:
                result[start : start + count] = values
            else:
                result[()] = values
    return results


def _piece(
    op: Operation,
    ranges: list[tuple[int, int]],
    spans: list[tuple[int, int]],
    known: Mapping[Tensor, Array],
    sizes: Mapping[Node, Array],
    wide: bool,
) -> list[Array]:
    """Evaluate the outputs of one stage over a box of its axes."""
    every = [*ranges, *spans]
    values = dict(sizes)
    for place, (axis, (begin, extent)) in enumerate(
        zip((*op.axis, *op.reduce_axis), every, strict=True)
    ):
        form = [-1 if at == place else 1 for at in range(len(every))]
        values[axis] = np.arange(begin, begin + extent, dtype=np.int64).reshape(form)
    grid = _Grid(known, values)
    spatial = tuple(extent for _, extent in ranges)
    if isinstance(op.body[0], Reduce):
        return _reduction(op, op.body[0], grid, spatial, tuple(e for _, e in spans), wide)
    return [np.broadcast_to(_checked_array(grid.value(expr), op), spatial) for expr in op.body]


def _checked_array(value: _Value, op: Operation) -> Array:
    if value.out_of_bounds is not None and value.out_of_bounds.any():
        raise IRKitError(f"stage {op.name!r} reads out of bounds", span=op.span)
    return value.array


def _reduction(
    op: Operation,
    reduce: Reduce,
    grid: "_Grid",
    spatial: tuple[int, ...],
    gathered: tuple[int, ...],
    wide: bool,
) -> list[Array]:
    full = (*spatial, *gathered)
    where = None if reduce.where is None else _checked_array(grid.value(reduce.where), op)
    sources: list[Array] = []
    for source in reduce.sources:
        value = grid.value(source)
        if where is not None:
            value = _where(value, where)
        sources.append(np.broadcast_to(_checked_array(value, op), full))
    mask = None if where is None else np.broadcast_to(where, full)
    ufunc = _ufunc(reduce.reducer)
    if ufunc is not None:
        return [_by_ufunc(ufunc, reduce, sources[0], mask, len(spatial), wide)]
    return _point_by_point(reduce, sources, mask, spatial)


_UFUNCS: dict[type[Expr], np.ufunc] = {
    Add: np.add,
    Mul: np.multiply,
    Min: np.minimum,
    Max: np.maximum,
}


def _ufunc(reducer: Reducer) -> np.ufunc | None:
    """Return the ufunc for a reducer that is a single operation on its two sides, or None."""
    result = reducer.results[0]
    if len(reducer.results) > 1 or not isinstance(result, Binary):
        return None
    plain = result.a is reducer.left[0] and result.b is reducer.right[0]
    return _UFUNCS.get(type(result)) if plain else None


def _by_ufunc(
    ufunc: np.ufunc, reduce: Reduce, source: Array, mask: Array | None, rank: int, wide: bool
) -> Array:
    identity = _Grid({}, {}).value(reduce.reducer.identity[0]).array
    gathers = reduce.dtype.is_float and ufunc in (np.add, np.multiply)
    kind = np.dtype(np.float64) if wide and gathers else source.dtype
    gathered = ufunc.reduce(
        source.astype(kind),
        axis=tuple(range(rank, source.ndim)),
        dtype=kind,
        initial=identity.astype(kind),
        where=True if mask is None else mask,
    )
    return np.asarray(gathered).astype(source.dtype)


def _point_by_point(
    reduce: Reduce, sources: list[Array], mask: Array | None, spatial: tuple[int, ...]
) -> list[Array]:
    """Combine the points of the reduce grid one by one, as user-defined reducers need."""
    reducer = reduce.reducer
    points = int(np.prod(sources[0].shape[len(spatial) :], dtype=np.int64))
    flat = [source.reshape(*spatial, points) for source in sources]
    state = [np.broadcast_to(_Grid({}, {}).value(each).array, spatial) for each in reducer.identity]
    for point in range(points):
        values: dict[Node, Array] = dict(zip(reducer.left, state, strict=True))
        values.update(
            (var, each[..., point]) for var, each in zip(reducer.right, flat, strict=True)
        )
        grid = _Grid({}, values)
        new = [grid.value(result).array for result in reducer.results]
        if mask is not None:
            chosen = mask.reshape(*spatial, points)[..., point]
            new = [np.where(chosen, a, b) for a, b in zip(new, state, strict=True)]
        state = new
    return [np.broadcast_to(each, spatial) for each in state]


class _Grid:
    """Evaluator of expressions over a grid of points, each subexpression once."""

    def __init__(self, tensors: Mapping[Tensor, Array], symbols: Mapping[Node, Array]) -> None:
        self.tensors = tensors
        self.symbols = symbols
        self.done: dict[int, _Value] = {}

    def value(self, root: Expr) -> _Value:
        for node in postorder(root):
            if id(node) not in self.done:
                assert isinstance(node, Expr)
                self.done[id(node)] = self._node(node)
        return self.done[id(root)]

    def _node(self, expr: Expr) -> _Value:
        match expr:
            case Const(value, dtype):
                return _Value(full_of(value, dtype))
            case Var():
                return self._symbol(expr)
            case And() | Or():
                return self._short_circuit(expr)
            case Binary():
                a, b = self._of(expr.a), self._of(expr.b)
                return _Value(BINARY[type(expr)](a.array, b.array), _either(a, b))
            case Neg(a):
                return _Value(negate(self._of(a).array), self._of(a).out_of_bounds)
            case Not(a):
                return _Value(invert(self._of(a).array), self._of(a).out_of_bounds)
            case Cast(value, dtype):
                return _Value(convert(self._of(value).array, dtype), self._of(value).out_of_bounds)
            case Select() | Conditional():
                return self._choice(expr)
            case Call(name, args) if args:
                given = [self._of(arg) for arg in args]
                arrays = [value.array for value in given]
                return _Value(call(name, arrays, args[0].dtype), _either(*given))
            case TensorRead():
                return self._read(expr)
            case _:
                raise IRKitError(f"a tensor expression cannot contain a {type(expr).__name__}")

    def _of(self, expr: Expr) -> _Value:
        return self.done[id(expr)]

    def _symbol(self, var: Var) -> _Value:
        if var not in self.symbols:
            kind = "axis" if isinstance(var, IterVar) else "variable"
            raise IRKitError(f"no value given for {kind} {var.name!r}")
        return _Value(self.symbols[var])

    def _short_circuit(self, expr: And | Or) -> _Value:
        a, b = self._of(expr.a), self._of(expr.b)
        counts = ~a.array if isinstance(expr, Or) else a.array
        array = BINARY[type(expr)](a.array, b.array)
        return _Value(array, _either(a, _where(b, counts)))

    def _choice(self, expr: Select | Conditional) -> _Value:
        test, then, otherwise = (self._of(e) for e in (expr.cond, expr.then, expr.otherwise))
        if isinstance(expr, Conditional):
            then = _where(then, test.array)
            otherwise = _where(otherwise, ~test.array)
        out_of_bounds = _either(test, then, otherwise)
        return _Value(np.where(test.array, then.array, otherwise.array), out_of_bounds)

    def _read(self, read: TensorRead) -> _Value:
        array = self.tensors[read.tensor]
        given = [self._of(index) for index in read.indices]
        out_of_bounds = _either(*given)
        at: list[Array] = []
        for index, size in zip(given, array.shape, strict=True):
            outside = (index.array < 0) | (index.array >= size)
            if np.any(outside):
                out_of_bounds = outside if out_of_bounds is None else out_of_bounds | outside
            at.append(np.clip(index.array, 0, max(size - 1, 0)))
        if 0 in array.shape:  # Every read of an empty array is out of bounds.
            form = np.broadcast_shapes(*(index.shape for index in at))
            return _Value(np.zeros(form, array.dtype), np.ones(form, np.bool_))
        return _Value(np.asarray(array[tuple(at)]), out_of_bounds)


def _where(value: _Value, counts: Array) -> _Value:
    """Ignore the reads out of bounds where the value does not matter."""
    return (
        value if value.out_of_bounds is None else _Value(value.array, value.out_of_bounds & counts)
    )


def _either(*values: _Value) -> Array | None:
    out_of_bounds: Array | None = None
    for value in values:
        if value.out_of_bounds is not None:
            out_of_bounds = (
                value.out_of_bounds
                if out_of_bounds is None
                else out_of_bounds | value.out_of_bounds
            )
    return out_of_bounds
