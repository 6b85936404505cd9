"""Arrays that are known on import: constants, and what operators compute from them."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from irkit.core import Attrs
from irkit.frontend.onnx.known.sizes import KnownSizes
from irkit.frontend.onnx.limits import MAX_FOLDED
from irkit.frontend.onnx.narrow_types import KEEPING, NarrowType
from irkit.graph import TensorType, Value, op_spec
from irkit.ir import Expr, Interval, PrimFunc, Var, as_int, bounds, interpret, numpy_dtype


class KnownArrays(dict[Value, NDArray[np.generic]]):
    """The array of each value that is known on import.

    It decides shapes only: the operators stay in the graph, whose passes fold them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.made_bytes = 0
        """Bytes in the constants that nodes filled from a shape."""
        self.narrow: dict[Value, NarrowType] = {}
        """The type in the model of each value that has a wider one here."""
        self.sequences: dict[Value, tuple[Value, ...]] = {}
        """The values in each sequence."""
        self.sizes = KnownSizes()
        """Integers that are computed from dimensions."""
        self._origins: dict[Value, Value] = {}
        self._overflows: dict[Value, Value] = {}

    def follow(self, made: Value, operator: str, args: Sequence[Value], attrs: Attrs) -> None:
        """Compute the result of an operator whose arguments are all known, unless it is large."""
        kept = args[1:] if operator == "where" else args[:1] if operator in KEEPING else ()
        kinds = {self.narrow.get(arg) for arg in kept}
        for kind in kinds if len(kinds) == 1 else ():
            _ = None if kind is None else self.narrow.setdefault(made, kind)
        self.sizes.note(made)
        unknown = next((arg for arg in args if arg not in self), None)
        if unknown is not None:
            self._origins[made] = self.origin(unknown)
            known = [self.sizes[arg] if arg in self.sizes else self.get(arg) for arg in args]
            if all(each is not None for each in known) and _is_small(made):
                self.sizes.follow(made, operator, [e for e in known if e is not None], attrs)
        elif all(_is_small(value) for value in (made, *args)):
            arrays = [self[arg] for arg in args]
            found = op_spec(operator).evaluate(arrays, attrs)
            if not isinstance(found, tuple):
                self[made] = np.asarray(found)
                early = next((each for each in map(self.overflow, args) if each), None)
                if early is not None or _overflows(operator, arrays, attrs, self[made]):
                    self._overflows[made] = early or made

    def follow_loops(self, func: PrimFunc, args: Sequence[Value], made: Sequence[Value]) -> None:
        """Compute the results of a loop function whose arguments are all known, unless they are
        large."""
        for value in made:
            self.sizes.note(value)
        unknown = next((arg for arg in args if arg not in self), None)
        if unknown is not None:
            self._origins |= dict.fromkeys(made, self.origin(unknown))
        elif all(_is_small(value) for value in (*made, *args)):
            results = [_zeros(value) for value in made]
            interpret(func, *[np.ascontiguousarray(self[arg]) for arg in args], *results)
            self.update(zip(made, results, strict=True))

    def follow_prefix(self, made: Value, count: Value, extent: Var, most: Expr) -> None:
        """Note a dimension that is only known during a run, and is at most ``most``."""
        self._origins[made] = self.origin(count)
        self.sizes.note(made)
        self.sizes.most[extent] = most
        self.sizes.ranges[extent] = Interval(0, bounds(most, self.sizes.ranges).high)

    def overflow(self, value: Value) -> Value | None:
        """Return the first value in the computation of this one that its type could not hold."""
        return self._overflows.get(value)

    def origin(self, value: Value) -> Value:
        """Return the first value known only when the model runs from which this one is computed."""
        return self._origins.get(value, value)


def _is_small(value: Value) -> bool:
    if not isinstance(value.type, TensorType):
        return False
    extents = [as_int(dim) for dim in value.type.shape]
    known = [extent for extent in extents if extent is not None]
    return len(known) == len(extents) and math.prod(known) <= MAX_FOLDED


def _zeros(value: Value) -> NDArray[np.generic]:
    assert isinstance(value.type, TensorType)
    shape = [as_int(dim) or 0 for dim in value.type.shape]
    return np.zeros(shape, numpy_dtype(value.type.dtype))


def _overflows(
    operator: str,
    arrays: Sequence[NDArray[np.generic]],
    attrs: Attrs,
    found: NDArray[np.generic],
) -> bool:
    """Return True if integer arithmetic wrapped around: in f64 its results differ."""
    if operator not in _ARITHMETIC or found.dtype.kind not in "iu":
        return False
    wide = [array.astype(np.float64) for array in arrays]
    exact = np.asarray(op_spec(operator).evaluate(wide, attrs))
    # What wrapped around is wrong by a multiple of the range, what f64 rounds by next to nothing.
    wrong = np.abs(exact - found.astype(np.float64))
    return bool(np.any(wrong >= 2.0 ** (8 * found.dtype.itemsize - 1)))


_ARITHMETIC = frozenset({"add", "subtract", "multiply", "sum", "prod"})
