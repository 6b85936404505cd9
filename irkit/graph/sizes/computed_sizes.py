"""Integers that a function computes from dimensions: ``Shape`` of a tensor and arithmetic on it."""

from collections.abc import Callable, Mapping, Sequence

from irkit.core import Node, deep_recursion, substitute, walk
from irkit.graph.nodes import Bind, Body, Constant, Invoke, Op, Value
from irkit.graph.ops import attributes
from irkit.graph.sizes.kernel_sizes import kernel_sizes
from irkit.graph.types import TensorType
from irkit.ir import (
    I64,
    Const,
    Expr,
    Load,
    PrimFunc,
    Store,
    Sub,
    Var,
    as_int,
    cast,
    floordiv,
    index,
    maximum,
    minimum,
    simplify,
)

MOST_SIZES = 64
"""Elements of a tensor of sizes that is followed: as a rule, one for each dimension of another."""

_ALIKE = frozenset({"reshape", "squeeze", "expand_dims", "identity"})
_ARITHMETIC: dict[str, Callable[[Expr, Expr], Expr]] = {
    "add": lambda a, b: a + b,
    "maximum": maximum,
    "minimum": minimum,
    "multiply": lambda a, b: a * b,
    "subtract": lambda a, b: a - b,
}


class ComputedSizes:
    """The sizes in a body; ``kernels`` are the loop functions that it calls, by name."""

    def __init__(self, body: Body, kernels: Mapping[str, object]) -> None:
        self._binds = {bind.var: bind for bind in walk(body, Bind)}
        self._kernels = kernels

    @deep_recursion
    def scalar(self, value: Value) -> Expr | None:
        """Return what one integer is; None if it is not known before a run."""
        found = self._of(value)
        return simplify(found[0]) if found is not None and len(found) == 1 else None

    def _of(self, value: Value) -> Sequence[Expr] | None:
        """Return the elements of a tensor with at most one axis."""
        bind, kind = self._binds.get(value), value.type
        if bind is None or not isinstance(kind, TensorType) or not kind.dtype.is_integer:
            return None
        extents = [as_int(extent) for extent in kind.shape]
        if any(extent is None or extent > MOST_SIZES for extent in extents):
            return None
        match bind.step:
            case Constant(data) if len(data.shape) <= 1:
                return [index(int(number)) for number in data.array.reshape(-1)]
            case Op() as op:
                return self._operator(op)
            case Invoke(name, args):
                return self._kernel(name, args, kind)
            case _:
                return None

    def _operator(self, op: Op) -> Sequence[Expr] | None:
        given: list[Sequence[Expr]] = []
        for arg in op.args[:1] if op.name in _ALIKE else op.args:
            found = self._of(arg)
            if found is None:
                return None
            given.append(found)
        if op.name in _ALIKE or (op.name == "cast" and attributes(op).dtype("dtype") == I64):
            return given[0]
        if op.name == "take":
            return _taken(*given)
        if op.name == "divide" and len(given[1]) == 1 and (as_int(given[1][0]) or 0) > 0:
            return [floordiv(each, given[1][0]) for each in given[0]] if _are_sizes(given) else None
        function = _ARITHMETIC.get(op.name)
        if function is None or len({len(each) for each in given} - {1}) > 1:
            return None
        count = max(map(len, given))
        wide = [[*each] * (count if len(each) == 1 else 1) for each in given]
        return [function(a, b) for a, b in zip(*wide, strict=True)]

    def _kernel(self, name: str, args: Sequence[Value], kind: TensorType) -> Sequence[Expr] | None:
        """Return what a kernel stores that reads no element."""
        kernel = self._kernels.get(name)
        if not isinstance(kernel, PrimFunc) or len(kind.shape) > 1 or _has(kernel, Load):
            return None
        stores = list(walk(kernel.body, Store))
        types = [arg.type for arg in args]
        tensors = [each for each in types if isinstance(each, TensorType)]
        if len(stores) != 1 or len(tensors) != len(types):
            return None
        (store,) = stores
        known = kernel_sizes(kernel, [*tensors, kind])
        nowhere: list[dict[Var, Expr]] = [{}]
        places = self._places(store, kind) if kind.shape else nowhere
        found = [substitute(store.value, {**known, **place}) for place in places]
        dims = {var for each in tensors for dim in each.shape for var in walk(dim, Var)}
        is_known = all(set(walk(each, Var)) <= dims for each in found)
        return [cast(each, I64) for each in found] if is_known and found else None

    def _places(self, store: Store, kind: TensorType) -> list[dict[Var, Expr]]:
        (place,), count = store.indices, as_int(kind.shape[0]) or 0
        if not isinstance(place, Var):
            return []
        return [{place: Const(at, I64)} for at in range(count)]


def _taken(values: Sequence[Expr], places: Sequence[Expr]) -> Sequence[Expr] | None:
    numbers = [as_int(place) for place in places]
    if any(n is None or not -len(values) <= n < len(values) for n in numbers):
        return None
    return [values[n] for n in numbers if n is not None]


def _are_sizes(given: Sequence[Sequence[Expr]]) -> bool:
    """Return True if nothing is subtracted: a model rounds towards 0, and sizes round down."""
    return not any((as_int(each) or 0) < 0 or _has(each, Sub) for row in given for each in row)


def _has(node: Node, kind: type[Node]) -> bool:
    return next(walk(node, kind), None) is not None
