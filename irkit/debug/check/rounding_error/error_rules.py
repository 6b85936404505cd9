"""What each expression makes of the errors of its operands, as expressions in f64."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from irkit.core import Node, children, postorder, with_fields
from irkit.debug.check.rounding_error.bounded import (
    INF,
    LARGEST,
    NORMAL,
    TINIEST,
    ULPS,
    UNIT,
    Bounded,
    both,
    bounded_by,
    is_power_of_two,
    is_whole,
    zero_like,
)
from irkit.ir import (
    F64,
    Add,
    And,
    Binary,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Compare,
    Conditional,
    Const,
    Div,
    DType,
    Expr,
    InstructionCall,
    Ldexp,
    Load,
    Max,
    Min,
    Mul,
    Neg,
    Or,
    Reinterpret,
    Select,
    Sub,
    Var,
    call,
    cast,
    const,
    eq,
    ge,
    gt,
    le,
    logical_not,
    lt,
    maximum,
    minimum,
    ne,
    numpy_dtype,
    select,
)

_MOST_FACTORS = 8
_WHOLE = ("floor", "ceil", "trunc", "round", "sign")


class ErrorRules:
    """The expressions of one function with their errors.

    ``buffers`` maps those of floats to their four parts, ``floats`` variables to what is known of
    them.
    """

    def __init__(self, buffers: dict[Buffer, tuple[Buffer, Buffer, Buffer, Buffer]]) -> None:
        self.buffers = buffers
        self.floats: dict[Var, Bounded] = {}
        self.begin()

    def begin(self) -> None:
        """Start a statement: loads have other values."""
        self._bounded: dict[int, tuple[Expr, Bounded]] = {}
        self._plain: dict[int, tuple[Expr, Expr]] = {}
        self._doubt: dict[int, tuple[Expr, Expr | None]] = {}
        self._factors: dict[int, list[Expr]] = {}

    def bounded(self, root: Expr) -> Bounded:
        """Return what is known of an expression of floats."""
        self._visit(root)
        return self._bounded[id(root)][1]

    def plain(self, root: Expr) -> Expr:
        """Return an expression of integers or bools with its floats computed in f64."""
        self._visit(root)
        return self._plain[id(root)][1]

    def doubt(self, root: Expr) -> Expr | None:
        """Return where such an expression may have another value for other roundings, or None."""
        self._visit(root)
        return self._doubt[id(root)][1] if id(root) in self._doubt else None

    def _visit(self, root: Expr) -> None:
        if id(root) in self._bounded or id(root) in self._plain:
            return
        for node in postorder(root):
            if id(node) in self._bounded or id(node) in self._plain:
                continue
            assert isinstance(node, Expr)
            if node.dtype.is_float:
                self._bounded[id(node)] = node, self._float(node)
            else:
                self._plain[id(node)] = node, self._other(node)
                self._doubt[id(node)] = node, self._doubt_of(node)

    def _known(self, node: Node) -> Bounded:
        return self._bounded[id(node)][1]

    def _at(self, node: Node) -> Expr:
        return self._plain[id(node)][1]

    # Floats.

    def _float(self, node: Expr) -> Bounded:
        match node:
            case Const(value):
                with np.errstate(all="ignore"):
                    rounded = np.asarray(value, np.float64).astype(numpy_dtype(node.dtype))
                return Bounded.exactly(const(float(rounded), F64))
            case Var():
                return self.floats[node]
            case Load(buffer, indices, mask):
                at = tuple(self._at(index) for index in indices)
                under = None if mask is None else self._at(mask)
                kind = F64.with_lanes(node.dtype.lanes)
                return Bounded(*(Load(part, at, under, kind) for part in self.buffers[buffer]))
            case Broadcast(value):
                parts = self._known(value)
                return Bounded(*(Broadcast(p, F64.with_lanes(node.dtype.lanes)) for p in parts))
            case Neg(a):
                return self._known(a)._replace(value=-self._known(a).value)
            case Add() | Sub():
                return self._sum(node, self._known(node.a), self._known(node.b))
            case Mul(a, b):
                made = self._product(self._known(a), self._known(b), node.dtype)
                for power, other in ((a, b), (b, a)):
                    if is_power_of_two(power):
                        made = self._scaled(made, self._known(power), self._known(other), node)
                return self._in_any_order(node, made)
            case Div(a, b):
                made = self._quotient(self._known(a), self._known(b), node.dtype)
                return self._in_any_order(node, made)
            case Min(a, b) | Max(a, b):
                return self._extremum(node, self._known(a), self._known(b))
            case Binary(a, b):
                return self._remainder(node, self._known(a), self._known(b))
            case Select(cond, then, otherwise):
                return self._choice(cond, self._known(then), self._known(otherwise))
            case Conditional(cond, then, otherwise):
                return self._lazy_choice(cond, self._known(then), self._known(otherwise))
            case Cast(value):
                return self._cast(value, node.dtype)
            case Ldexp(value, exponent):
                return self._by_power(self._known(value), exponent, node.dtype)
            case InstructionCall() | Reinterpret():
                nothing = const(0.0, F64.with_lanes(node.dtype.lanes))
                return Bounded(nothing, nothing, nothing, nothing + INF)
            case Call(name, args):
                return self._call(name, [self._known(arg) for arg in args], node.dtype)
            case _:
                raise NotImplementedError(type(node).__name__)

    def _sum(self, node: Binary, a: Bounded, b: Bounded) -> Bounded:
        value = a.value + b.value if isinstance(node, Add) else a.value - b.value
        size, unit = a.size + b.size, UNIT[str(node.dtype.element)]
        exact = self._exact(a, b, size, unit)
        rate = select(exact, 0.0, a.rate + b.rate + unit)
        for zero, other in ((a, b), (b, a)):  # To add 0 rounds nothing.
            rate = select(zero.is_zero, other.rate, rate)
        return Bounded(value, size, rate, bounded_by(size, a.error + b.error, node.dtype))

    def _exact(self, a: Bounded, b: Bounded, size: Expr, unit: float) -> Expr:
        """Return where whole numbers give a whole number that fits the mantissa."""
        fits = both(is_whole(a.size), is_whole(b.size), le(size, 1 / unit))
        return both(a.is_exact, b.is_exact, fits)

    def _product(self, a: Bounded, b: Bounded, dtype: DType) -> Bounded:
        size, unit = a.size * b.size, UNIT[str(dtype.element)]
        exact = self._exact(a, b, size, unit) | a.is_zero | b.is_zero
        error = a.error * b.size + b.error * a.size + a.error * b.error
        error = select(exact, 0.0, error + TINIEST[str(dtype.element)])
        rate = select(exact, 0.0, a.rate + b.rate + unit)
        return Bounded(a.value * b.value, size, rate, bounded_by(size, error, dtype))

    def _scaled(self, made: Bounded, power: Bounded, a: Bounded, node: Expr) -> Bounded:
        """Return what is known of a product by a power of two: it is not rounded, in no order,
        unless it may be denormal."""
        error = bounded_by(made.size, a.error * power.size, node.dtype)
        normal = ge(made.size - error, NORMAL[str(node.dtype.element)]) | eq(made.size, 0.0)
        return Bounded(
            made.value,
            made.size,
            select(normal, a.rate, made.rate),
            select(normal, error, made.error),
        )

    def _by_power(self, a: Bounded, exponent: Expr, dtype: DType) -> Bounded:
        """Scale by a power of two: only what becomes denormal is rounded."""
        power = self._at(exponent)
        value, size, error = (Ldexp(x, power, x.dtype) for x in (a.value, a.size, a.error))
        error = bounded_by(size, error + TINIEST[str(dtype.element)], dtype)
        doubt = self._doubt[id(exponent)][1]
        return Bounded(value, size, a.rate, error if doubt is None else select(doubt, INF, error))

    def _in_any_order(self, node: Binary, made: Bounded) -> Bounded:
        """Return what is known of a product: nothing if some of its factors alone may overflow, or
        vanish."""
        first = self._factors.get(id(node.a), [self._known(node.a).size])
        second = self._factors.get(id(node.b), [self._known(node.b).size])
        if isinstance(node, Div):
            second = [1.0 / each for each in second]
        factors = [*first, *second]
        if len(factors) > _MOST_FACTORS:
            return made
        self._factors[id(node)] = factors
        if len(factors) < 3:
            return made
        high, low = (const(1.0, each.dtype) for each in (made.value, made.value))
        for each in factors:
            high, low = high * maximum(each, 1.0), low * minimum(each, 1.0)
        name = str(node.dtype.element)
        fits = le(high, LARGEST[name]) & (ge(low, NORMAL[name]) | made.is_exact)
        return made._replace(error=select(fits, made.error, INF))

    def _quotient(self, a: Bounded, b: Bounded, dtype: DType) -> Bounded:
        """Divide; the quotient may be computed as a product by the reciprocal."""
        unit, tiny = UNIT[str(dtype.element)], TINIEST[str(dtype.element)]
        value, apart = a.value / b.value, b.total
        least = call("abs", b.value) - apart
        size = a.size / least
        error = (a.error + call("abs", value) * apart) / least + tiny * (1.0 + a.size)
        error = error + 2 * unit * size
        error = select(gt(least, 0.0), error, INF)
        zero = a.is_zero & gt(least, NORMAL[str(dtype.element)])
        error = select(zero, 0.0, error)  # 0 by a number is 0, and has its sign.
        error = bounded_by(maximum(size, 1.0 / least), error, dtype)
        return Bounded(value, size, a.rate, error)

    def _extremum(self, node: Binary, a: Bounded, b: Bounded) -> Bounded:
        value = type(node)(a.value, b.value, a.value.dtype)
        sure = both(a.is_exact, b.is_exact)
        sure = sure | gt(call("abs", a.value - b.value), a.total + b.total)
        first = eq(value, a.value)
        parts = [
            select(sure, select(first, x, y), maximum(x, y))
            for x, y in zip(a[1:], b[1:], strict=True)
        ]
        return Bounded(value, *parts)

    def _remainder(self, node: Binary, a: Bounded, b: Bounded) -> Bounded:
        """Return what is known of a function with jumps: nothing, unless its operands are exact."""
        value = type(node)(a.value, b.value, a.value.dtype)
        size, unit = call("abs", value), UNIT[str(node.dtype.element)]
        exact = both(a.is_exact, b.is_exact)
        error = bounded_by(size, select(exact, 2 * unit * size, INF), node.dtype)
        return Bounded(value, size, zero_like(value), error)

    def _choice(self, cond: Expr, a: Bounded, b: Bounded) -> Bounded:
        test, doubt = self._at(cond), self._doubt[id(cond)][1]
        made = Bounded(*(select(test, x, y) for x, y in zip(a, b, strict=True)))
        if doubt is None:
            return made
        either = call("abs", a.value - b.value) + maximum(a.total, b.total)
        return made._replace(error=select(doubt, either, made.error))

    def _lazy_choice(self, cond: Expr, a: Bounded, b: Bounded) -> Bounded:
        test, doubt = self._at(cond), self._doubt[id(cond)][1]
        pairs = zip(a, b, strict=True)
        made = Bounded(*(Conditional(test, x, y, x.dtype) for x, y in pairs))
        return made if doubt is None else made._replace(error=select(doubt, INF, made.error))

    def _cast(self, given: Expr, dtype: DType) -> Bounded:
        unit, wide = UNIT[str(dtype.element)], F64.with_lanes(dtype.lanes)
        if not given.dtype.is_float:
            value = Cast(self._at(given), wide)
            size = call("abs", value)
            error = select(le(size, 1 / unit), 0.0, 1.01 * unit * size)
            error = bounded_by(size, error, dtype)
            doubt = self._doubt[id(given)][1]
            error = error if doubt is None else select(doubt, INF, error)
            return Bounded(value, size, zero_like(value), error)
        a = self._known(given)
        if UNIT[str(given.dtype.element)] <= unit and given.dtype != dtype:
            kept = eq(Cast(Cast(a.value, dtype), wide), a.value) & a.is_exact
            same = kept | ne(a.value, a.value)
            error = a.error + TINIEST[str(dtype.element)] + 1.01 * unit * a.size
            error = bounded_by(a.size, error, dtype)
            return a._replace(error=select(same, a.error, error))
        return a

    def _call(self, name: str, args: Sequence[Bounded], dtype: DType) -> Bounded:
        if name in ("strict_add", "strict_sub"):
            kind = Add if name == "strict_add" else Sub
            exact_sum = kind(args[0].value, args[1].value, args[0].value.dtype)
            return self._sum(exact_sum.replace(dtype=dtype), args[0], args[1])
        if name == "strict_mul":
            return self._product(args[0], args[1], dtype)
        if name in ("fma", "muladd"):
            product_ = self._product(args[0], args[1], dtype)
            exact_sum = Add(product_.value, args[2].value, product_.value.dtype)
            return self._sum(exact_sum.replace(dtype=dtype), product_, args[2])
        if name == "abs":
            return args[0]._replace(value=call("abs", args[0].value))
        value = call(name, *(arg.value for arg in args))
        apart = self._spread(name, args, value)
        unit, tiny = UNIT[str(dtype.element)], TINIEST[str(dtype.element)]
        size = call("abs", value)
        if name in _WHOLE or name == "fmod":
            return Bounded(value, size, zero_like(value), apart)
        error = bounded_by(size, apart + ULPS * (tiny + 2 * unit * size), dtype)
        zero = eq(size, 0.0) & eq(apart, 0.0)
        error = select(zero, 0.0, error)  # A result that is 0 is exact.
        return Bounded(value, size, zero_like(value), error)

    def _spread(self, name: str, args: Sequence[Bounded], value: Expr) -> Expr:
        """Return how far a function moves at the ends of the ranges of its arguments."""
        totals = [arg.total for arg in args]
        exact = both(*(eq(total, 0.0) for total in totals))
        if name in ("sin", "cos"):
            return totals[0]
        if name == "fmod":
            return select(exact, 0.0, zero_like(value) + INF)
        most = zero_like(value)
        for signs in product((-1.0, 1.0), repeat=len(args)):
            ends = [a.value + t * s for a, t, s in zip(args, totals, signs, strict=True)]
            most = maximum(most, call("abs", call(name, *ends) - value))
        return select(exact, 0.0, 1.05 * most)

    # Integers and bools.

    def _other(self, node: Expr) -> Expr:
        if isinstance(node, Reinterpret) and node.value.dtype.is_float:
            return Reinterpret(cast(self._known(node.value).value, node.value.dtype), node.dtype)
        new: dict[int, Node] = {}
        for child in children(node):
            known = self._bounded.get(id(child))
            new[id(child)] = self._at(child) if known is None else known[1].value
        made = with_fields(node, new)
        assert isinstance(made, Expr)
        return made

    def _doubt_of(self, node: Expr) -> Expr | None:
        match node:
            case Const() | Var():
                return None
            case Compare(a, b) if a.dtype.is_float:
                x, y = self._known(a), self._known(b)
                apart = x.total + y.total
                far = gt(call("abs", x.value - y.value), apart)
                return logical_not(eq(apart, 0.0) | far)
            case Cast(value) if value.dtype.is_float:
                a, total = self._known(value), self._known(value).total
                ends = [cast(a.value + side * total, node.dtype.element) for side in (-1.0, 1.0)]
                sure = eq(ends[0], ends[1]) & lt(total, INF)
                return logical_not(eq(total, 0.0) | sure)
            case Reinterpret(value) if value.dtype.is_float:
                return logical_not(eq(self._known(value).total, 0.0))
            case Call(_, args) if args and args[0].dtype.is_float:
                return logical_not(lt(self._known(args[0]).total, INF))
            case And(a, b) | Or(a, b):
                first, second = self._doubt[id(a)][1], self._doubt[id(b)][1]
                if second is None:
                    return first
                test = self._at(a) if isinstance(node, And) else logical_not(self._at(a))
                reached = And(test, second, second.dtype)
                return reached if first is None else Or(first, reached, first.dtype)
            case Conditional(cond, then, otherwise):
                doubts = [self._doubt[id(each)][1] for each in (cond, then, otherwise)]
                return self._lazy_doubt(self._at(cond), doubts)
            case _:
                doubts = [self._doubt[id(child)][1] for child in children(node)]
                found = [each for each in doubts if each is not None]
                return _any_lane_wise(found, node.dtype.lanes)

    def _lazy_doubt(self, test: Expr, doubts: Sequence[Expr | None]) -> Expr | None:
        first, then, otherwise = doubts
        if then is None and otherwise is None:
            return first
        no = const(False, test.dtype)
        found = Conditional(test, then or no, otherwise or no, test.dtype)
        return found if first is None else Or(first, found, first.dtype)


def _any_lane_wise(doubts: Sequence[Expr], lanes: int) -> Expr | None:
    if not doubts:
        return None
    found: Expr | None = None
    for each in doubts:
        wide = each if each.dtype.lanes == lanes else Broadcast(each, each.dtype.with_lanes(lanes))
        found = wide if found is None else found | wide
    return found
