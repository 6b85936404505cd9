"""An evaluator of tensor expressions with NumPy in f64, with an error bound for each element.

It is written for the generators and shares nothing with lowering, interpreter or code generation;
the meaning of integers comes from the reference of ``te``.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from irkit.core import Node, postorder
from irkit.fuzz.generators.reference.bounded_array import (
    Array,
    BoundedArray,
    called,
    chosen,
    compared,
    error_of,
    exact,
    largest,
    product,
    quotient,
    rounded,
    summed,
    uncertain,
)
from irkit.ir import (
    Add,
    Binary,
    Call,
    Cast,
    Compare,
    Conditional,
    Const,
    Div,
    Expr,
    Max,
    Min,
    Mul,
    Neg,
    Not,
    Select,
    Sub,
    Var,
    numpy_dtype,
)
from irkit.ir.reference import BINARY, call, convert, full_of, invert, negate
from irkit.te import ComputeOp, PlaceholderOp, Reduce, Tensor, TensorRead, operations_of


def evaluate_bounded(
    tensors: Sequence[Tensor], inputs: Mapping[Tensor, Array], dims: Mapping[Var, int]
) -> list[tuple[Array, Array | None]]:
    """Compute tensors, each with the error bound of its elements, None where they are exact."""
    known: dict[Tensor, BoundedArray] = {}
    with np.errstate(all="ignore"):
        for op in operations_of(tensors):
            if isinstance(op, PlaceholderOp):
                tensor = op.output(0)
                known[tensor] = exact(inputs[tensor], tensor.dtype)
            else:
                assert isinstance(op, ComputeOp)
                known.update(zip(op.outputs, _stage(op, known, dims), strict=True))
        return [_final(known[tensor]) for tensor in tensors]


def _final(found: BoundedArray) -> tuple[Array, Array | None]:
    """Round to the type; that counts as an error too."""
    value = found.value.astype(numpy_dtype(found.dtype))
    if found.error is None or not found.dtype.is_float:
        return value, found.error
    rounding = rounded(found.value, found.error, found.dtype)
    return value, rounding.error


def _stage(
    op: ComputeOp, known: Mapping[Tensor, BoundedArray], dims: Mapping[Var, int]
) -> list[BoundedArray]:
    spatial = tuple(_number(axis.extent, dims) for axis in op.axis)
    gathered = tuple(_number(axis.extent, dims) for axis in op.reduce_axis)
    shape = (*spatial, *gathered)
    symbols = _symbols(dims)
    for place, axis in enumerate((*op.axis, *op.reduce_axis)):
        form = [-1 if at == place else 1 for at in range(len(shape))]
        begin = _number(axis.dom.begin, dims)
        steps = np.arange(begin, begin + shape[place], dtype=np.int64).reshape(form)
        symbols[axis] = exact(steps, axis.dtype)
    grid = Grid(known, symbols)
    reduce = op.body[0]
    if not isinstance(reduce, Reduce):
        return [_spread(grid.value(expr), spatial) for expr in op.body]
    sources = [_spread(grid.value(source), shape) for source in reduce.sources]
    mask = None
    if reduce.where is not None:
        mask = np.broadcast_to(grid.value(reduce.where).value, shape)
    return _reduction(reduce, sources, mask, len(spatial))


def _number(expr: Expr, dims: Mapping[Var, int]) -> int:
    return max(0, int(Grid({}, _symbols(dims)).value(expr).value))


def _symbols(dims: Mapping[Var, int]) -> dict[Node, BoundedArray]:
    return {var: exact(np.asarray(size, np.int64), var.dtype) for var, size in dims.items()}


def _spread(found: BoundedArray, shape: tuple[int, ...]) -> BoundedArray:
    error = None if found.error is None else np.broadcast_to(found.error, shape)
    return BoundedArray(np.broadcast_to(found.value, shape), error, found.dtype)


def _reduction(
    reduce: Reduce, sources: list[BoundedArray], mask: Array | None, rank: int
) -> list[BoundedArray]:
    result = reduce.reducer.results[0]
    axes = tuple(range(rank, sources[0].value.ndim))
    if len(sources) == 1 and sources[0].dtype.is_float:
        if isinstance(result, Add):
            return [summed(sources[0], axes, mask)]
        if isinstance(result, (Max, Min)):
            return [largest(sources[0], axes, mask, most=isinstance(result, Max))]
    return _by_hand(reduce, sources, mask, rank)


def _by_hand(
    reduce: Reduce, sources: list[BoundedArray], mask: Array | None, rank: int
) -> list[BoundedArray]:
    """Combine point by point; sums get the bound of this order, which is the widest."""
    reducer, spatial = reduce.reducer, sources[0].value.shape[:rank]
    points = int(np.prod(sources[0].value.shape[rank:], dtype=np.int64))
    state = [_spread(Grid({}, {}).value(each), spatial) for each in reducer.identity]
    for point in range(points):
        values: dict[Node, BoundedArray] = dict(zip(reducer.left, state, strict=True))
        for var, source in zip(reducer.right, sources, strict=True):
            values[var] = _at(source, (*spatial, points), point)
        grid = Grid({}, values)
        new = [grid.value(result) for result in reducer.results]
        if mask is not None:
            cond = exact(mask.reshape(*spatial, points)[..., point], reduce.dtype)
            new = [chosen(cond, a, b) for a, b in zip(new, state, strict=True)]
        state = new
    return [_spread(each, spatial) for each in state]


def _at(source: BoundedArray, form: tuple[int, ...], point: int) -> BoundedArray:
    error = None if source.error is None else source.error.reshape(form)[..., point]
    return BoundedArray(source.value.reshape(form)[..., point], error, source.dtype)


class Grid:
    """Evaluator of expressions over a grid of points; each subexpression is evaluated once."""

    def __init__(
        self, tensors: Mapping[Tensor, BoundedArray], symbols: Mapping[Node, BoundedArray]
    ) -> None:
        self.tensors = tensors
        self.symbols = symbols
        self.done: dict[int, BoundedArray] = {}

    def value(self, root: Expr) -> BoundedArray:
        """Evaluate an expression and its operands."""
        for node in postorder(root):
            if id(node) not in self.done:
                assert isinstance(node, Expr)
                self.done[id(node)] = self._node(node)
        return self.done[id(root)]

    def _of(self, expr: Expr) -> BoundedArray:
        return self.done[id(expr)]

    def _node(self, expr: Expr) -> BoundedArray:
        match expr:
            case Const(value, dtype):
                return exact(full_of(value, dtype), dtype)
            case Var():
                return self.symbols[expr]
            case TensorRead():
                return self._read(expr)
            case Select(cond, then, otherwise) | Conditional(cond, then, otherwise):
                return chosen(self._of(cond), self._of(then), self._of(otherwise))
            case Cast(value):
                return self._cast(self._of(value), expr)
            case Call(name, args) if expr.dtype.is_float:
                return called(name, [self._of(arg) for arg in args], expr.dtype)
            case Neg(a) if expr.dtype.is_float:
                return BoundedArray(-self._of(a).value, self._of(a).error, expr.dtype)
            case Compare(a, b) if a.dtype.is_float:
                x, y = self._of(a), self._of(b)
                found = BINARY[type(expr)](x.value, y.value)
                return compared(x, y, found, expr.dtype)
            case Binary(a, b) if expr.dtype.is_float:
                return self._arithmetic(expr, self._of(a), self._of(b))
            case _:
                return self._exact(expr)

    def _arithmetic(self, expr: Binary, a: BoundedArray, b: BoundedArray) -> BoundedArray:
        match expr:
            case Add() | Sub():
                value = BINARY[type(expr)](a.value, b.value)
                return rounded(value, error_of(a) + error_of(b), expr.dtype)
            case Mul():
                return rounded(*product(a, b), expr.dtype)
            case Div():
                return rounded(*quotient(a, b), expr.dtype)
            case Min() | Max():
                found = BINARY[type(expr)](a.value, b.value)
                if a.error is None and b.error is None:
                    return BoundedArray(found, None, expr.dtype)
                return BoundedArray(
                    found,
                    np.maximum(error_of(a), error_of(b)),
                    expr.dtype,
                )
            case _:
                raise NotImplementedError(f"no bound for {type(expr).__name__} of floats")

    def _exact(self, expr: Expr) -> BoundedArray:
        """Evaluate an expression that is not a float, by the reference."""
        match expr:
            case Binary(a, b):
                args = [self._of(a), self._of(b)]
                value = BINARY[type(expr)](args[0].value, args[1].value)
            case Neg(a):
                args = [self._of(a)]
                value = negate(args[0].value)
            case Not(a):
                args = [self._of(a)]
                value = invert(args[0].value)
            case Call(name, given):
                args = [self._of(arg) for arg in given]
                value = call(name, [arg.value for arg in args], args[0].dtype)
            case _:
                raise NotImplementedError(f"no meaning for {type(expr).__name__}")
        return BoundedArray(value, uncertain(args, np.shape(value)), expr.dtype)

    def _cast(self, given: BoundedArray, expr: Cast) -> BoundedArray:
        value = convert(given.value, expr.dtype)
        if not expr.dtype.is_float:
            if given.dtype.is_float and given.error is not None:
                apart = convert(given.value - given.error, expr.dtype) != convert(
                    given.value + given.error, expr.dtype
                )
                return BoundedArray(value, np.where(apart, np.inf, 0.0), expr.dtype)
            return BoundedArray(value, given.error, expr.dtype)
        if given.error is None:  # One rounding, as in NumPy.
            return BoundedArray(value.astype(np.float64), None, expr.dtype)
        return rounded(given.value.astype(np.float64), given.error, expr.dtype)

    def _read(self, read: TensorRead) -> BoundedArray:
        source = self.tensors[read.tensor]
        given = [self._of(index) for index in read.indices]
        sizes = source.value.shape
        places = np.broadcast_arrays(
            *(
                np.clip(each.value, 0, max(size - 1, 0))
                for each, size in zip(given, sizes, strict=True)
            )
        )
        form = places[0].shape if places else ()
        if 0 in sizes:  # Out of bounds: the value is used nowhere.
            zeros = np.zeros(form, source.value.dtype)
            return BoundedArray(zeros, None, read.dtype)
        at = tuple(places)
        error = None if source.error is None else np.asarray(source.error[at])
        wild = uncertain(given, form)
        if wild is not None:
            error = np.maximum(0.0 if error is None else error, wild)
        return BoundedArray(np.asarray(source.value[at]), error, read.dtype)
