"""An evaluator of tensor expressions with NumPy in f64, with an error bound for each element.

It is written for the generators and shares nothing with lowering, interpreter or code generation;
the meaning of integers comes from the reference of ``te``.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from irkit.core import Node, postorder
from irkit.fuzz.generators.reference import near
from irkit.fuzz.generators.reference.near import Array, Near
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
)
from irkit.te import ComputeOp, PlaceholderOp, Reduce, Tensor, TensorRead, operations_of
from irkit.te.numpy_semantics import BINARY, array_type, call, convert, full_of, invert, negate


def evaluate_bounded(
    tensors: Sequence[Tensor], inputs: Mapping[Tensor, Array], dims: Mapping[Var, int]
) -> list[tuple[Array, Array | None]]:
    """Compute tensors, each with the error bound of its elements, None where they are exact."""
    known: dict[Tensor, Near] = {}
    with np.errstate(all="ignore"):
        for op in operations_of(tensors):
            if isinstance(op, PlaceholderOp):
                tensor = op.output(0)
                known[tensor] = near.exactly(inputs[tensor], tensor.dtype)
            else:
                assert isinstance(op, ComputeOp)
                known.update(zip(op.outputs, _stage(op, known, dims), strict=True))
        return [_final(known[tensor]) for tensor in tensors]


def _final(found: Near) -> tuple[Array, Array | None]:
    """Round to the type; that counts as an error too."""
    value = found.value.astype(array_type(found.dtype))
    if found.error is None or not found.dtype.is_float:
        return value, found.error
    rounding = near.rounded(found.value, found.error, found.dtype)
    return value, rounding.error


def _stage(op: ComputeOp, known: Mapping[Tensor, Near], dims: Mapping[Var, int]) -> list[Near]:
    spatial = tuple(_number(axis.extent, dims) for axis in op.axis)
    gathered = tuple(_number(axis.extent, dims) for axis in op.reduce_axis)
    shape = (*spatial, *gathered)
    symbols: dict[Node, Near] = {
        var: near.exactly(np.asarray(size, np.int64), var.dtype) for var, size in dims.items()
    }
    for place, axis in enumerate((*op.axis, *op.reduce_axis)):
        form = [-1 if at == place else 1 for at in range(len(shape))]
        begin = _number(axis.dom.begin, dims)
        steps = np.arange(begin, begin + shape[place], dtype=np.int64).reshape(form)
        symbols[axis] = near.exactly(steps, axis.dtype)
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
    symbols: dict[Node, Near] = {
        var: near.exactly(np.asarray(size, np.int64), var.dtype) for var, size in dims.items()
    }
    return max(0, int(Grid({}, symbols).value(expr).value))


def _spread(found: Near, shape: tuple[int, ...]) -> Near:
    error = None if found.error is None else np.broadcast_to(found.error, shape)
    return Near(np.broadcast_to(found.value, shape), error, found.dtype)


def _reduction(reduce: Reduce, sources: list[Near], mask: Array | None, rank: int) -> list[Near]:
    result = reduce.reducer.results[0]
    axes = tuple(range(rank, sources[0].value.ndim))
    if len(sources) == 1 and sources[0].dtype.is_float:
        if isinstance(result, Add):
            return [near.summed(sources[0], axes, mask)]
        if isinstance(result, (Max, Min)):
            return [near.largest(sources[0], axes, mask, most=isinstance(result, Max))]
    return _by_hand(reduce, sources, mask, rank)


def _by_hand(reduce: Reduce, sources: list[Near], mask: Array | None, rank: int) -> list[Near]:
    """Combine point by point; sums get the bound of this order, which is the widest."""
    reducer, spatial = reduce.reducer, sources[0].value.shape[:rank]
    points = int(np.prod(sources[0].value.shape[rank:], dtype=np.int64))
    state = [_spread(Grid({}, {}).value(each), spatial) for each in reducer.identity]
    for point in range(points):
        values: dict[Node, Near] = dict(zip(reducer.left, state, strict=True))
        for var, source in zip(reducer.right, sources, strict=True):
            values[var] = _at(source, (*spatial, points), point)
        grid = Grid({}, values)
        new = [grid.value(result) for result in reducer.results]
        if mask is not None:
            cond = near.exactly(mask.reshape(*spatial, points)[..., point], reduce.dtype)
            new = [near.chosen(cond, a, b) for a, b in zip(new, state, strict=True)]
        state = new
    return [_spread(each, spatial) for each in state]


def _at(source: Near, form: tuple[int, ...], point: int) -> Near:
    error = None if source.error is None else source.error.reshape(form)[..., point]
    return Near(source.value.reshape(form)[..., point], error, source.dtype)


class Grid:
    """Evaluator of expressions over a grid of points; each subexpression is evaluated once."""

    def __init__(self, tensors: Mapping[Tensor, Near], symbols: Mapping[Node, Near]) -> None:
        self.tensors = tensors
        self.symbols = symbols
        self.done: dict[int, Near] = {}

    def value(self, root: Expr) -> Near:
        """Evaluate an expression and its operands."""
        for node in postorder(root):
            if id(node) not in self.done:
                assert isinstance(node, Expr)
                self.done[id(node)] = self._node(node)
        return self.done[id(root)]

    def _of(self, expr: Expr) -> Near:
        return self.done[id(expr)]

    def _node(self, expr: Expr) -> Near:
        match expr:
            case Const(value, dtype):
                return near.exactly(full_of(value, dtype), dtype)
            case Var():
                return self.symbols[expr]
            case TensorRead():
                return self._read(expr)
            case Select(cond, then, otherwise) | Conditional(cond, then, otherwise):
                return near.chosen(self._of(cond), self._of(then), self._of(otherwise))
            case Cast(value):
                return self._cast(self._of(value), expr)
            case Call(name, args) if expr.dtype.is_float:
                return near.called(name, [self._of(arg) for arg in args], expr.dtype)
            case Neg(a) if expr.dtype.is_float:
                return Near(-self._of(a).value, self._of(a).error, expr.dtype)
            case Compare(a, b) if a.dtype.is_float:
                x, y = self._of(a), self._of(b)
                found = BINARY[type(expr)](x.value, y.value)
                return near.compared(x, y, found, expr.dtype)
            case Binary(a, b) if expr.dtype.is_float:
                return self._arithmetic(expr, self._of(a), self._of(b))
            case _:
                return self._exact(expr)

    def _arithmetic(self, expr: Binary, a: Near, b: Near) -> Near:
        match expr:
            case Add():
                return near.rounded(a.value + b.value, near.off(a) + near.off(b), expr.dtype)
            case Sub():
                return near.rounded(a.value - b.value, near.off(a) + near.off(b), expr.dtype)
            case Mul():
                return near.rounded(*near.product(a, b), expr.dtype)
            case Div():
                return near.rounded(*near.quotient(a, b), expr.dtype)
            case Min() | Max():
                found = BINARY[type(expr)](a.value, b.value)
                if a.error is None and b.error is None:
                    return Near(found, None, expr.dtype)
                return Near(found, np.maximum(near.off(a), near.off(b)), expr.dtype)
            case _:
                raise NotImplementedError(f"no bound for {type(expr).__name__} of floats")

    def _exact(self, expr: Expr) -> Near:
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
        return Near(value, near.unsure(args, np.shape(value)), expr.dtype)

    def _cast(self, given: Near, expr: Cast) -> Near:
        value = convert(given.value, expr.dtype)
        if not expr.dtype.is_float:
            if given.dtype.is_float and given.error is not None:
                apart = convert(given.value - given.error, expr.dtype) != convert(
                    given.value + given.error, expr.dtype
                )
                return Near(value, np.where(apart, np.inf, 0.0), expr.dtype)
            return Near(value, given.error, expr.dtype)
        if given.error is None:  # One rounding, as in NumPy.
            return Near(value.astype(np.float64), None, expr.dtype)
        return near.rounded(given.value.astype(np.float64), given.error, expr.dtype)

    def _read(self, read: TensorRead) -> Near:
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
            return Near(zeros, None, read.dtype)
        at = tuple(places)
        error = None if source.error is None else np.asarray(source.error[at])
        wild = near.unsure(given, form)
        if wild is not None:
            error = np.maximum(0.0 if error is None else error, wild)
        return Near(np.asarray(source.value[at]), error, read.dtype)
