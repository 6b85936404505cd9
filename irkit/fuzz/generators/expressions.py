"""Random expressions without undefined behaviour, whose results do not depend on rounding.

Floats hold small whole numbers, and an expression multiplies at most twice: sums can be taken in
any order, with or without fused operations, and every correct implementation gives the same bits.
"""

from collections.abc import Sequence

from irkit.fuzz.generators.functions import INTEGER_OPERATIONS, WHOLE
from irkit.fuzz.picks import Picks
from irkit.ir import (
    I64,
    Add,
    Buffer,
    Const,
    DType,
    Expr,
    Max,
    Min,
    Mul,
    Sub,
    Var,
    binary,
    call,
    cast,
    const,
    eq,
    ge,
    if_then_else,
    le,
    logical_and,
    logical_not,
    logical_or,
    lt,
    ne,
    select,
)

_FLOAT_OPS = (Add, Sub, Min, Max)
_MOST_INSIDE = 2
_INNER = 2
_DIGITS = (2, 3, 4, 8, 6, 5)
_COMPARISONS = (eq, ne, lt, le, ge)


class ReadableBuffer:
    """A buffer that can be read: anywhere, or only at one place, such as the element being written,
    and only where a ``guard`` holds."""

    def __init__(
        self,
        buffer: Buffer,
        place: tuple[Expr, ...] | None = None,
        guard: Expr | None = None,
    ) -> None:
        self.buffer = buffer
        self.place = place
        self.guard = guard


class ExprMaker:
    """Maker of expressions over some integer variables and buffers."""

    def __init__(
        self, picks: Picks, integers: Sequence[Expr], buffers: Sequence[ReadableBuffer]
    ) -> None:
        self.picks = picks
        self.integers = list(integers)
        self.buffers = list(buffers)
        self.extents: dict[Var, Expr] = {}
        """The extent of each variable, which runs from 0 up to but not including it."""
        self.products = 2
        self.inside = 0
        """Depth of nesting of the current index."""

    def value(self, dtype: DType, depth: int) -> Expr:
        """Make an expression of a scalar type."""
        if dtype.is_bool:
            return self.condition(depth)
        return self.floating(dtype, depth) if dtype.is_float else self.integer(dtype, depth)

    def integer(self, dtype: DType, depth: int) -> Expr:
        """Make an integer; all operations on integers are defined everywhere."""
        if depth == 0:
            return self._integer_leaf(dtype)
        form = self.picks.below(9)
        if form == 8:
            if self.integers and self.picks.one_in(3):
                index = cast(self.picks.pick(self.integers[-_INNER:]), dtype)
                return binary(Mul, self.integer(dtype, depth - 1), index)
            if not self.integers or self.picks.one_in(3):
                return digits(self.picks, self._integer_leaf(dtype), self.picks.pick(_DIGITS))
            return digits(self.picks, *index_sum(self.picks, self.integers[-_INNER:], dtype))
        if form < 5:
            cls = self.picks.pick(INTEGER_OPERATIONS)
            a = self.integer(dtype, depth - 1)
            return binary(cls, a, a if self.picks.one_in(10) else self.integer(dtype, depth - 1))
        if form == 5:
            return logical_not(self.integer(dtype, depth - 1))
        if form == 6:
            return -self.integer(dtype, depth - 1)
        return self._choice_of(dtype, depth)

    def _integer_leaf(self, dtype: DType) -> Expr:
        form = self.picks.below(3)
        if form == 0 and self.integers:
            # The last ones are variables of loops.
            among = self.integers[-_INNER:] if self.picks.below(2) else self.integers
            return cast(self.picks.pick(among), dtype)
        if form == 1:
            loaded = self.load(dtype)
            if loaded is not None:
                return loaded
        return const(self.picks.between(max(dtype.low, -4), 8), dtype)

    def floating(self, dtype: DType, depth: int) -> Expr:
        """Make a float that holds a whole number."""
        if depth == 0:
            return self._floating_leaf(dtype)
        form = self.picks.below(8)
        if form < 4:
            cls = self.picks.pick(_FLOAT_OPS)
            return binary(cls, self.floating(dtype, depth - 1), self.floating(dtype, depth - 1))
        if form == 4 and self.products:
            self.products -= 1
            return self.floating(dtype, depth - 1) * self.floating(dtype, depth - 1)
        if form == 5:
            return -self.floating(dtype, depth - 1)
        if form == 6:
            name = self.picks.pick(WHOLE)
            return call(name, self.floating(dtype, depth - 1))
        return self._choice_of(dtype, depth)

    def _floating_leaf(self, dtype: DType) -> Expr:
        form = self.picks.below(4)
        if form < 2:
            loaded = self.load(dtype)
            if loaded is not None:
                return loaded
        if form == 2:
            return cast(self.integer(I64, 0) % 5, dtype)
        return const(float(self.picks.between(-4, 4)), dtype)

    def _choice_of(self, dtype: DType, depth: int) -> Expr:
        cond = self.condition(depth - 1)
        then, otherwise = self.value(dtype, depth - 1), self.value(dtype, depth - 1)
        make = select if self.picks.below(2) else if_then_else
        return make(cond, then, otherwise)

    def condition(self, depth: int) -> Expr:
        """Make a bool from integers; floats are not compared."""
        form = self.picks.below(4) if depth > 0 else 0
        if form == 1:
            return logical_not(self.condition(depth - 1))
        if form >= 2:
            join = logical_and if form == 2 else logical_or
            return join(self.condition(depth - 1), self.condition(depth - 1))
        compare = self.picks.pick(_COMPARISONS)
        return compare(self.integer(I64, max(depth, 0)), self.integer(I64, 0))

    def load(self, dtype: DType) -> Expr | None:
        """Read an element of a buffer of this type, if there is one."""
        fitting = [held for held in self.buffers if held.buffer.dtype == dtype]
        if not fitting:
            return None
        held = self.picks.pick(fitting)
        if held.place is not None:
            read = held.buffer[held.place]
            return read if held.guard is None else if_then_else(held.guard, read, const(0, dtype))
        if held.buffer.rank == 1 and self.picks.below(4) == 0:
            return self._guarded(held.buffer)
        return held.buffer[tuple(self.index(dim) for dim in held.buffer.shape)]

    def index(self, extent: Expr) -> Expr:
        """Make an index in bounds: a variable with this extent, or a remainder."""
        variables = [var for var, end in self.extents.items() if end == extent]
        form = self.picks.below(4)
        if variables and form < 3:
            return self.picks.pick(variables)
        if form == 3 or self.inside >= _MOST_INSIDE:
            return Const(0, I64)
        self.inside += 1
        found = self.integer(I64, 1) % extent
        self.inside -= 1
        return found

    def _guarded(self, buffer: Buffer) -> Expr:
        """Read beside the place, where that is in bounds."""
        at = self.integer(I64, 0) + self.picks.between(-1, 1)
        inside = logical_and(ge(at, 0), lt(at, buffer.shape[0]))
        return if_then_else(inside, buffer[at], const(0, buffer.dtype))


def index_sum(picks: Picks, integers: Sequence[Expr], dtype: DType) -> tuple[Expr, int]:
    """Make an index sum, such as that of a split loop, and return its factor too; it may reach a
    little less or more far than the loop did."""
    factor = picks.pick(_DIGITS)
    outer, inner = (cast(picks.pick(integers), dtype) for _ in range(2))
    outer = outer * const(factor, dtype)
    made = outer - inner if picks.one_in(3) else outer + inner
    moved = picks.between(max(dtype.low, -2), 2)
    return made + const(moved, dtype) if moved else made, factor


def digits(picks: Picks, number: Expr, factor: int) -> Expr:
    """Take a number apart by division, as index arithmetic does, and put parts of it together."""
    among = (factor, factor * 2, picks.pick(_DIGITS), factor * 2)
    a, b = (const(picks.pick(among), number.dtype) for _ in range(2))
    if number.dtype.kind == "i" and picks.one_in(4):
        a = const(-picks.pick(among), number.dtype)
    return (
        lambda: number // a * b + number % b,
        lambda: number // a % b,
        lambda: number % a // b,
        lambda: number % (a * b) // a,
        lambda: number // a * a + number % a,
        lambda: -(number // a * a) - number % a,
        lambda: number // a,
        lambda: number % a,
        lambda: (number * a + number % b) // b,
    )[picks.below(9)]()


def bounded(value: Expr) -> Expr:
    """Keep a float between -8 and 8, so that values do not grow from statement to statement.

    Types with 8 bits of precision need smaller numbers, or their sums are rounded.
    """
    if not value.dtype.is_float:
        return value
    most = 2.0 if value.dtype.kind == "bf" else 8.0
    low, high = const(-most, value.dtype), const(most, value.dtype)
    return binary(Max, binary(Min, value, high), low)
