"""Values of a random graph so far, and where operands of operators come from."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRKitError
from irkit.fuzz.picks import Picks
from irkit.graph import Builder, TensorType, Value, tensor_type
from irkit.ir import DType, Expr, Var, as_dtype, as_int, numpy_dtype

_MOST = {"f16": 1 << 11, "bf16": 1 << 8}
_LIMIT = 1 << 22
_SIZES = (3, 2, 4, 1, 5, 8, 7)
_FLOATS = ("f32", "f32", "f32", "f64", "f16", "bf16")
_INTEGERS = ("i32", "i64", "i8", "u8", "bool", "i16", "u32", "u64", "u16")
_MOST_ELEMENTS = 600
SYMBOLIC_SIZES = (4, 1, 3, 7)


class GraphTensor(msgspec.Struct, frozen=True, eq=False):
    """A tensor of the graph: an upper bound of its magnitudes, and whether they are known
    exactly."""

    value: Value
    bound: int
    sure: bool = True

    @property
    def type(self) -> TensorType:
        found = self.value.type
        assert isinstance(found, TensorType)
        return found

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def shape(self) -> tuple[Expr, ...]:
        return self.type.shape

    @property
    def rank(self) -> int:
        return len(self.type.shape)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The extents, symbolic ones at their maximum."""
        most = max(SYMBOLIC_SIZES)
        return tuple(most if size is None else size for size in self.known_sizes)

    @property
    def known_sizes(self) -> tuple[int | None, ...]:
        """The extents, None for symbolic ones."""
        return tuple(as_int(dim) for dim in self.shape)


class GraphValues:
    """Bindings of a graph under construction.

    ``whole`` keeps all numbers whole and small. ``names`` are the operators to draw from,
    ``symbols`` the symbolic extents.
    """

    def __init__(
        self,
        picks: Picks,
        *,
        whole: bool,
        names: Sequence[str] = (),
        symbols: Sequence[Var] = (),
    ) -> None:
        self.picks = picks
        self.whole = whole
        self.names = names
        self.symbols = symbols
        self.only = False
        """Operands are held values, wherever one fits; parameters are made only beside them."""
        self.depth = 0
        self.tuples: list[Value] = []
        self.tuple_items: dict[Value, list[tuple[int, bool]]] = {}
        self.builder: Builder = Builder("main")
        self.held: list[GraphTensor] = []
        self.params: list[GraphTensor] = []
        self.ops: dict[str, None] = {}
        self.rng = np.random.default_rng(picks.below(1 << 16))

    def fresh(self, shape: Sequence[int | Expr], dtype: str) -> GraphTensor:
        """Make a parameter, or a constant where the shape is known."""
        bound = 3 if as_dtype(dtype).bits <= 16 else 8
        known = [size for size in shape if isinstance(size, int)]
        fixed = len(known) == len(shape)
        if self.depth and not fixed:
            raise IRKitError("a body inside has no parameters, and the shape is not known")
        if any(dim not in self.symbols for dim in shape if isinstance(dim, Var)):
            raise IRKitError("a parameter cannot have the dimension of a prefix")
        if fixed and (self.depth or (self.params and self.picks.below(2))):
            return self.constant(self.numbers(known, dtype), bound)
        name = "xyzuvwpqrst"[len(self.params) % 11]
        param = GraphTensor(self.builder.param(name, tensor_type(shape, dtype)), bound)
        self.params.append(param)
        self.held.append(param)
        return param

    def numbers(self, shape: Sequence[int], dtype: str) -> Any:
        """Draw numbers for a constant."""
        kind = as_dtype(dtype)
        if kind.is_float and not self.whole:
            return self.rng.uniform(-2, 2, shape).astype(numpy_dtype(kind))
        if kind.is_bool:
            return self.rng.integers(0, 2, shape).astype(np.bool_)
        low = 0 if kind.kind == "u" else -3
        return self.rng.integers(low, 4, shape).astype(numpy_dtype(kind))

    def constant(self, array: Any, bound: int) -> GraphTensor:
        return GraphTensor(self.builder.constant(array), bound)

    def scalar(self, number: float, dtype: DType) -> GraphTensor:
        """Make a constant of one number that broadcasts with any shape."""
        array = np.asarray([number]).astype(numpy_dtype(dtype))
        return self.constant(array, int(abs(number)) + 1)

    def scalar_of(self, number: int) -> GraphTensor:
        """Make an i64 that is no array."""
        return self.constant(np.array(number, np.int64), abs(number) + 1)

    def dtype(self) -> str:
        """Pick a type, mostly a float type."""
        return self.picks.pick((*_FLOATS, *_FLOATS[:2], *_INTEGERS))

    def shape(self, rank: int) -> list[int | Expr]:
        """Pick small extents."""
        most = 5 if rank > 2 else 8
        sizes = [size for size in _SIZES if size <= most]
        if not self.symbols:
            return [self.picks.pick(sizes) for _ in range(rank)]
        return [
            self.picks.pick(self.symbols) if self.picks.one_in(3) else self.picks.pick(sizes)
            for _ in range(rank)
        ]

    @contextmanager
    def inside(self) -> Generator[Builder]:
        """Open a body: values made there are visible only there."""
        outer, held, tuples = self.builder, list(self.held), list(self.tuples)
        self.builder = inner = outer.inner()
        self.depth += 1
        try:
            yield inner
        finally:
            self.builder, self.held, self.tuples = outer, held, tuples
            self.depth -= 1

    @contextmanager
    def among(self, values: Sequence[GraphTensor]) -> Generator[None]:
        """Take operands from some values; what is made meanwhile is held afterwards, too."""
        held, only = self.held, self.only
        self.held, self.only = list(dict.fromkeys(values)), True
        try:
            yield
        finally:
            self.held, self.only = [*held, *(e for e in self.held if e not in held)], only

    def any(
        self, fits: Callable[[GraphTensor], bool] = lambda each: True, rank: int = -1
    ) -> GraphTensor:
        """Pick a value that fits, mostly a recent one; or make one, of floats."""
        found = [each for each in self.held if fits(each) and rank in (-1, each.rank)]
        if self.only and not found:
            raise IRKitError("no value fits")
        if found and (self.only or self.picks.below(8)):
            return found[-1 - self.picks.below(min(4, len(found)))]
        wanted = rank if rank >= 0 else 1 + self.picks.below(3)
        made = self.fresh(self.shape(wanted), self.picks.pick(_FLOATS))
        return made if fits(made) else self.fresh(self.shape(wanted), "i32")

    def floats(self, rank: int = -1) -> GraphTensor:
        """Pick a value of floats."""
        found = self.any(lambda each: each.dtype.is_float, rank)
        return found if found.dtype.is_float else self.fresh(self.shape(max(rank, 1)), "f32")

    def like(self, other: GraphTensor) -> GraphTensor:
        """Pick a value of the type of another that its shape broadcasts with."""

        def fits(each: GraphTensor) -> bool:
            same = all(
                a == b or as_int(a) == 1 or as_int(b) == 1
                for a, b in zip(each.shape[::-1], other.shape[::-1], strict=False)
            )
            return each.dtype == other.dtype and same

        found = [each for each in self.held if fits(each) and each is not other]
        if found and (self.only or self.picks.below(3)):
            return self.picks.pick(found[-4:])
        shape = [1 if self.picks.one_in(4) else size for size in other.shape]
        shape = shape[self.picks.below(2) if len(shape) > 1 else 0 :]
        known = [size if isinstance(size, int) else _known(size) for size in shape]
        return self.fresh(known, str(other.dtype))

    def op(
        self, name: str, *args: GraphTensor, bound: int, sure: bool = True, **attrs: Any
    ) -> GraphTensor:
        """Apply an operator and keep the result. Raises: IRKitError if it does not fit."""
        value = self.builder.op(name, *(arg.value for arg in args), **attrs)
        self.ops[name] = None
        exact = sure and all(arg.sure for arg in args)
        made = GraphTensor(value, self.within(value, bound), exact or self.whole)
        self.held.append(made)
        return made

    def within(self, value: Value, bound: int) -> int:
        """Limit a bound to what the type holds: integers wrap around."""
        kind = value.type
        if not isinstance(kind, TensorType) or kind.dtype.is_float:
            return bound
        if kind.dtype.is_bool:
            return 1
        return kind.dtype.high if kind.dtype.kind == "u" else min(bound, kind.dtype.high + 1)

    def over(self, dtype: DType, bound: int) -> bool:
        """Return True if numbers would become too large to go on with."""
        return dtype.is_float and bound >= _MOST.get(str(dtype), _LIMIT) // 4

    def clamped(self, x: GraphTensor, most: float) -> GraphTensor:
        """Clamp numbers to a range around 0, so that any function can follow."""
        high, low = self.scalar(most, x.dtype), self.scalar(-most, x.dtype)
        top = self.op("minimum", x, high, bound=x.bound)
        return self.op("maximum", top, low, bound=int(most) + 1)

    def fits(self, *sizes: int) -> bool:
        """Return True if a tensor of some extents is small."""
        return int(np.prod(sizes, dtype=np.int64)) <= _MOST_ELEMENTS


def _known(size: Expr) -> "int | Expr":
    number = as_int(size)
    return size if number is None else number
