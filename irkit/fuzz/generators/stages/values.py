"""Random values of an element: trees of operations on elements read at the same index, of every
type, without undefined behaviour.

The theme decides the operations: whole numbers in floats stay whole and small, fractions stay where
functions are smooth, integers and special values can be any. Some operations change only a zero, a
NaN or an infinity, and some join a number with itself.
"""

from collections.abc import Callable
from math import inf, nan

import msgspec

from irkit import te
from irkit.fuzz.generators.expressions import digits, index_sum
from irkit.fuzz.generators.functions import (
    EAGER_BOOL_OPERATIONS,
    INTEGER_OPERATIONS,
    OF_ONE_INTEGER,
    OF_TWO_INTEGERS,
    ROUNDED,
    TESTS,
    WHOLE,
    smooth_part,
)
from irkit.fuzz.generators.stages.stages import Stages, constant, is_float
from irkit.ir import (
    Add,
    Expr,
    FloorDiv,
    FloorMod,
    Max,
    Mul,
    Sub,
    as_dtype,
    binary,
    call,
    cast,
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

_COMPARISONS = (lt, ge, eq, ne, le)
_WITH_INDEX = (Mul, Add, Mul, Sub, Max)
_DIVISORS = (2, 3, 4, -2, 8, 5, -1)
# Added to 1, the last two lie halfway between two 16-bit numbers.
_EDGES = (0.0, -0.0, 1.0, inf, -inf, nan, -1.0, 2.0**-8, 2.0**-11)
_NEUTRAL = (0.0, 1.0, -1.0)
_SUMS_OF_PRODUCTS = ("fma", "muladd")


class Number(msgspec.Struct, frozen=True):
    """An expression, and an upper bound of its magnitude; ``sure`` means that it is known
    exactly."""

    expr: Expr
    bound: int
    sure: bool = True


class Values:
    """Maker of values over the axes of a stage, from elements of some tensors.

    ``keeps_signs`` keeps special values out of min and max, which return either of two zeros.
    """

    def __init__(
        self,
        s: Stages,
        axes: tuple[Expr, ...],
        reads: list[Number],
        *,
        keeps_signs: bool = False,
    ) -> None:
        self.s = s
        self.keeps_signs = keeps_signs
        self.picks = s.picks
        self.axes = axes
        self.reads = reads

    def value(self, dtype: str, depth: int) -> Number:
        """Make a value of a type."""
        if dtype == "bool":
            return Number(self.condition(depth), 1)
        if depth <= 0 or self.picks.one_in(5):
            return self._leaf(dtype)
        if self.picks.one_in(6):
            return self._chosen(dtype, depth - 1)
        if not is_float(dtype):
            return self._integer(dtype, depth - 1)
        make = {"whole": self._whole, "fractions": self._fraction, "special": self._special}
        return make[self.s.theme.numbers](dtype, depth - 1)

    def condition(self, depth: int) -> Expr:
        """Make a bool: a comparison of numbers of one type, or several joined."""
        form = self.picks.below(7) if depth > 0 else 0
        if form == 1:
            return logical_not(self.condition(depth - 1))
        if form in (2, 3):
            join = logical_and if form == 2 else logical_or
            return join(self.condition(depth - 1), self.condition(depth - 1))
        if form == 4:
            cls = self.picks.pick(EAGER_BOOL_OPERATIONS)
            return binary(cls, self.condition(depth - 1), self.condition(depth - 1))
        sure = [read for read in self.reads if read.sure]
        read = self.picks.pick(sure) if sure else self._constant("i32")
        kind = str(read.expr.dtype)
        if form == 5 and kind != "bool" and self.s.theme.numbers != "fractions":
            tested = read if self.picks.below(2) else self.value(kind, min(depth - 1, 1))
            test = self.picks.pick((*TESTS, "")) if is_float(kind) else ""
            return call(test, tested.expr) if test else cast(tested.expr, "bool")
        if kind == "bool" and self.picks.below(2):
            return read.expr
        dtype = "i32" if kind == "bool" or (is_float(kind) and self.picks.one_in(3)) else kind
        if self.s.theme.numbers == "fractions" and is_float(dtype):
            a, b = read, self._constant(dtype)
        else:
            a, b = self.value(dtype, min(depth - 1, 1)), self._leaf(dtype)
        return self.picks.pick(_COMPARISONS)(a.expr, b.expr)

    def _leaf(self, dtype: str) -> Number:
        form = self.picks.below(6)
        if form == 5 and self.axes:
            return Number(cast(self.picks.pick(self.axes), dtype), 65)
        if form == 4:
            return self._constant(dtype)
        # A number with an error must not be truncated: it could be one more or less.
        usable = [read for read in self.reads if read.sure or is_float(dtype)]
        fitting = [read for read in usable if str(read.expr.dtype) == dtype]
        if not usable:
            return self._constant(dtype)
        return self._converted(self.picks.pick(fitting or usable), dtype)

    def _constant(self, dtype: str) -> Number:
        kind = as_dtype(dtype)
        if self.s.theme.numbers == "integers" and self.picks.one_in(3) and not kind.is_float:
            edges = (kind.low, kind.high, kind.low + 1, kind.high - 1, kind.bits, -1)
            return Number(constant(self.picks.pick(edges), dtype), 0)
        if self.s.theme.numbers == "special" and kind.is_float and self.picks.below(2):
            return Number(te.const(self.picks.pick(_EDGES), kind), 1)
        if self.s.theme.numbers in ("fractions", "special") and kind.is_float:
            return Number(te.const(self.picks.pick((0.5, 1.0, -1.5, 0.75, 3.0, 0.1)), kind), 3)
        number = self.picks.between(-4, 8)
        return Number(constant(number, dtype), abs(number) if number >= 0 else self._most(dtype))

    def _most(self, dtype: str) -> int:
        kind = as_dtype(dtype)
        return kind.high if kind.kind == "u" else 8

    def _converted(self, read: Number, dtype: str) -> Number:
        """Cast a number that is small enough, or first made small."""
        held = read.expr.dtype
        if str(held) == dtype:
            return read
        fine = self.s.theme.numbers in ("integers", "special")
        if fine or not as_dtype(dtype).is_float or not self.s.over(dtype, read.bound):
            bound = self.s.held(as_dtype(dtype), read.bound)
            return Number(cast(read.expr, dtype), bound)
        if held.is_float:
            return Number(cast(clamped(read.expr, 4), dtype), 4)
        return Number(cast(read.expr % constant(5, str(held)), dtype), 5)

    def _chosen(self, dtype: str, depth: int) -> Number:
        a, b = self.value(dtype, depth), self.value(dtype, depth)
        make = select if self.picks.below(2) else if_then_else
        return Number(make(self.condition(depth), a.expr, b.expr), max(a.bound, b.bound))

    def _beside(self, a: Number, dtype: str, depth: int) -> tuple[Number, Number]:
        """Make another value to go with one; sometimes the same, or one that changes nothing."""
        form = self.picks.below(8)
        if form == 7:
            return a, a
        if form < 6:
            return a, self.value(dtype, depth)
        if is_float(dtype):
            special = self.s.theme.numbers == "special"
            neutral = te.const(self.picks.pick(_EDGES if special else _NEUTRAL), dtype)
        else:
            neutral = constant(self.picks.pick((0, 1, -1, 2)), dtype)
        b = Number(neutral, 1 if is_float(dtype) else as_dtype(dtype).high)
        return (a, b) if self.picks.below(3) else (b, a)

    def _integer(self, dtype: str, depth: int) -> Number:
        a = self.value(dtype, depth)
        high = as_dtype(dtype).high
        form = self.picks.below(12)
        if form == 11:
            if self.axes and self.picks.below(2):
                index = cast(self.picks.pick(self.axes[::-1]), as_dtype(dtype))
                return Number(binary(self.picks.pick(_WITH_INDEX), a.expr, index), high)
            if self.axes and self.picks.below(3):
                found, factor = index_sum(self.picks, self.axes, as_dtype(dtype))
            else:
                found, factor = a.expr, self.picks.pick(_DIVISORS[:4])
            return Number(digits(self.picks, found, abs(factor)), high)
        if form == 0:
            return Number(-a.expr, self.s.held(as_dtype(dtype), a.bound))
        if form == 1:
            return Number(logical_not(a.expr), high)
        if form == 2:
            return Number(call(self.picks.pick(OF_ONE_INTEGER), a.expr), high)
        if form == 10:
            by = constant(self.picks.pick(_DIVISORS), dtype)
            return Number(binary(self.picks.pick((FloorDiv, FloorMod)), a.expr, by), high)
        a, b = self._beside(a, dtype, depth)
        if form == 3:
            return Number(call(self.picks.pick(OF_TWO_INTEGERS), a.expr, b.expr), high)
        return Number(binary(self.picks.pick(INTEGER_OPERATIONS), a.expr, b.expr), high)

    def _whole(self, dtype: str, depth: int) -> Number:
        """Make a float that stays whole and small."""
        a = self.value(dtype, depth)
        form = self.picks.below(10)
        if form == 0:
            return Number(-a.expr, a.bound)
        if form == 1:
            return Number(call(self.picks.pick(WHOLE), a.expr), a.bound)
        if form == 2:
            by = te.const(self.picks.pick((2, 3, -4, 1)), dtype)
            divided = self.picks.pick((a.expr // by, a.expr % by, call("fmod", a.expr, by)))
            return Number(divided, max(a.bound, 4))
        a, b = self._beside(a, dtype, depth)
        both, product = a.bound + b.bound, a.bound * b.bound
        if form in (3, 4) and not self.s.over(dtype, product):
            if form == 4 and not self.s.over(dtype, product + 8):
                c = self._constant(dtype)
                name = self.picks.pick(_SUMS_OF_PRODUCTS)
                return Number(call(name, a.expr, b.expr, c.expr), product + c.bound)
            return Number(self._arithmetic("mul", a.expr, b.expr), product)
        if form < 8 and not self.s.over(dtype, both):
            return Number(self._arithmetic("add" if form < 7 else "sub", a.expr, b.expr), both)
        make = te.minimum if form == 8 else te.maximum
        return Number(make(a.expr, b.expr), max(a.bound, b.bound))

    def _arithmetic(self, name: str, a: Expr, b: Expr) -> Expr:
        """Add, subtract or multiply, now and then by the function that is never contracted."""
        if self.picks.below(8) == 0:
            return call(f"strict_{name}", a, b)
        return {"add": a + b, "sub": a - b, "mul": a * b}[name]

    def _special(self, dtype: str, depth: int) -> Number:
        """Make a float of any value, each operation with one right result."""
        a = self.value(dtype, depth)
        form = self.picks.below(14)
        if form > 11:
            return Number(self._hardly(a.expr), 0)
        if form == 0:
            return Number(-a.expr, 0)
        if form in (1, 10, 11):
            return Number(call(self.picks.pick((*WHOLE, "sqrt")), a.expr), 0)
        a, b = self._beside(a, dtype, depth)
        if form == 2:
            return Number(call("fmod", a.expr, b.expr), 0)
        makes: tuple[Callable[[Expr, Expr], Expr], ...] = (
            lambda x, y: x + y,
            lambda x, y: x - y,
            lambda x, y: x * y,
            lambda x, y: x / y,
            lambda x, y: x % y,
            te.minimum,
            te.maximum,
        )
        if self.keeps_signs and form > 7:
            form -= 5
        return Number(makes[form - 3](a.expr, b.expr), 0)

    def _hardly(self, x: Expr) -> Expr:
        """Apply an operation that changes no float but a zero, a NaN or an infinity; or two that
        differ in the sign of a zero only, in such a way that the result shows it."""
        if self.picks.below(2):
            one, zeros = te.const(1.0, x.dtype), [te.const(each, x.dtype) for each in (0.0, -0.0)]
            return one / (x * zeros[0]) - one / (x * zeros[1])
        zero, one, most = (te.const(each, x.dtype) for each in (0.0, 1.0, inf))
        forms = (
            *(x + zero, x - zero, x + -zero, x - -zero, zero + x, zero - x, -zero - x),
            *(x * one, x * -one, x / one, x / -one, x - x, x * zero, x / x),
            *(te.minimum(x, most), te.maximum(x, -most)),
        )
        return self.picks.pick(forms[:-2] if self.keeps_signs else forms)

    def _fraction(self, dtype: str, depth: int) -> Number:
        """Make a float by operations that have an error bound."""
        a = self.value(dtype, depth)
        form = self.picks.below(13)
        if form == 0:
            return Number(-a.expr, a.bound)
        if form == 1:
            return Number(call("abs", a.expr), a.bound)
        if form in (2, 3, 11):
            return self._function(a, dtype)
        a, b = self._beside(a, dtype, depth)
        if form == 4:
            positive = call("abs", b.expr) + te.const(1.5, dtype)
            return Number(a.expr / positive, a.bound)
        if form == 5:
            two = self.picks.pick(("atan2", "pow"))
            other = call("abs", b.expr) + te.const(0.5, dtype)
            small = clamped(a.expr, 2)
            if two == "pow":
                return Number(call("pow", clamped(other, 4), small), 16)
            return Number(call("atan2", a.expr, other), 2)
        product, both = a.bound * b.bound, a.bound + b.bound
        if form in (6, 7) and not self.s.over(dtype, product + 8):
            if form == 7:
                name, c = self.picks.pick(_SUMS_OF_PRODUCTS), self._constant(dtype)
                return Number(call(name, a.expr, b.expr, c.expr), product + 3)
            return Number(self._arithmetic("mul", a.expr, b.expr), product)
        if form < 10 and not self.s.over(dtype, both):
            return Number(self._arithmetic("add" if form != 9 else "sub", a.expr, b.expr), both)
        make = te.minimum if form == 10 else te.maximum
        return Number(make(a.expr, b.expr), max(a.bound, b.bound))

    def _function(self, a: Number, dtype: str) -> Number:
        """Apply a function where it is smooth, and its result small."""
        name = self.picks.pick(ROUNDED)
        least, most = smooth_part(name)
        if most is not None:
            return Number(call(name, clamped(a.expr, most)), 16)
        if least is not None:
            positive = call("abs", a.expr) + te.const(least, dtype)
            return Number(call(name, positive), max(a.bound, 4))
        return Number(call(name, a.expr), max(a.bound, 2))


def clamped(expr: Expr, most: float) -> Expr:
    high = te.const(most, expr.dtype)
    return te.maximum(te.minimum(expr, high), te.const(-most, expr.dtype))
