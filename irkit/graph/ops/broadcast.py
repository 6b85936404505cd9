"""Operators on two or three arguments of one element type, which broadcast as in NumPy."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from irkit.core import DTypeError
from irkit.graph.ops.shapes import broadcast, expect_dtype
from irkit.graph.ops.spec import Array, OpOptions, OpSpec, Tensors
from irkit.graph.types import TensorType, Type
from irkit.ir import BOOL, DType, FloorMod, Shl, Shr, from_numpy
from irkit.ir.reference import BINARY, call

On = Literal["number", "integer", "float", "any", "bits"]


def _function(name: str) -> Callable[[Array, Array], Array]:
    return lambda a, b: call(name, [a, b], from_numpy(a.dtype))


def _divide(a: Array, b: Array) -> Array:
    """Divide; integers truncate, and a zero divisor gives 0."""
    return _function("truncdiv")(a, b) if a.dtype.kind in "iu" else a / b


_ARITHMETIC: dict[str, tuple[On, Callable[[Array, Array], Array]]] = {
    "add": ("number", np.add),
    "subtract": ("number", np.subtract),
    "multiply": ("number", np.multiply),
    "divide": ("number", _divide),
    "power": ("number", _function("pow")),
    "maximum": ("any", np.maximum),
    "minimum": ("any", np.minimum),
    "floor_mod": ("number", BINARY[FloorMod]),
    "fmod": ("float", _function("fmod")),
    "atan2": ("float", _function("atan2")),
    "bitwise_and": ("bits", np.bitwise_and),
    "bitwise_or": ("bits", np.bitwise_or),
    "bitwise_xor": ("bits", np.bitwise_xor),
    "shift_left": ("integer", BINARY[Shl]),
    "shift_right": ("integer", BINARY[Shr]),
}
_COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}
_LOGIC: dict[str, Callable[[Array, Array], Array]] = {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


def _is_on(dtype: DType, on: On) -> bool:
    tests = {
        "number": not dtype.is_bool,
        "integer": dtype.is_integer,
        "float": dtype.is_float,
        "bits": not dtype.is_float,
        "any": True,
    }
    return tests[on]


def _meet(tensors: Tensors) -> TensorType:
    a, b = tensors
    expect_dtype("b", b, a.dtype)
    return TensorType(broadcast("ab", (a.shape, b.shape)), a.dtype)


def _arithmetic(name: str, on: On, run: Callable[[Array, Array], Array]) -> OpSpec:
    def types(tensors: Tensors, options: OpOptions) -> Type:
        if not _is_on(tensors[0].dtype, on):
            wanted = "of integers or bools" if on == "bits" else f"a {on}"
            raise DTypeError(f"argument a must be {wanted}, found {tensors[0].dtype}")
        return _meet(tensors)

    def arrays(given: tuple[Array, ...], options: OpOptions) -> Array:
        a, b = given
        return np.asarray(run(a, b)).astype(np.result_type(a, b), copy=False)

    return OpSpec(name, "broadcast", ("a", "b"), types, arrays)


def _predicate(name: str, on_bools: bool, run: Callable[[Array, Array], Array]) -> OpSpec:
    def types(tensors: Tensors, options: OpOptions) -> Type:
        if on_bools:
            expect_dtype("a", tensors[0], BOOL)
        return TensorType(_meet(tensors).shape, BOOL)

    def arrays(given: tuple[Array, ...], options: OpOptions) -> Array:
        return np.asarray(run(*given))

    return OpSpec(name, "broadcast", ("a", "b"), types, arrays)


def _where_type(tensors: Tensors, options: OpOptions) -> Type:
    cond, a, b = tensors
    expect_dtype("cond", cond, BOOL)
    expect_dtype("b", b, a.dtype)
    shape = broadcast(("cond", "a", "b"), (cond.shape, a.shape, b.shape))
    return TensorType(shape, a.dtype)


def _where(given: tuple[Array, ...], options: OpOptions) -> Array:
    return np.where(*given)


BROADCAST = (
    *(_arithmetic(name, on, run) for name, (on, run) in _ARITHMETIC.items()),
    *(_predicate(name, False, run) for name, run in _COMPARE.items()),
    *(_predicate(name, True, run) for name, run in _LOGIC.items()),
    OpSpec("where", "broadcast", ("cond", "a", "b"), _where_type, _where),
)
