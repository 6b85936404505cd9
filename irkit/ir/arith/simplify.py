"""Simplify expressions; those that are equal as sums get the same form.

Principles:

- Addition, subtraction and multiplication wrap around, which is arithmetic in a ring: sums are
  always normalized, whatever the ranges.
- ``//``, ``%``, comparisons, minimum and maximum depend on the value itself. A rule that looks into
  a sum below one of them applies only if the ranges prove that the sum does not overflow.
- A zero divisor gives 0, and the rules respect that.
- Floats change only if every value keeps its bits, NaN, -0.0 and infinities too.
"""

from collections.abc import Callable, Iterable
from typing import Any, cast

from irkit.core import CHILDREN, Node, with_fields
from irkit.ir.arith import comparison
from irkit.ir.arith.bitwise import bits_by, bits_of_equal
from irkit.ir.arith.bounds import NOTHING
from irkit.ir.arith.claims import claim_of, current_claims
from irkit.ir.arith.division import quotient, recombined, remainder
from irkit.ir.arith.emit import alike, emit
from irkit.ir.arith.fold import fold
from irkit.ir.arith.interval import Ranges, fitted, limits, wrap
from irkit.ir.arith.knowledge import Knowledge
from irkit.ir.arith.sums import Sum, is_region, normal
from irkit.ir.arith.transfer import times
from irkit.ir.arith.unsimplified import unsimplified
from irkit.ir.buffer import Load, Ramp
from irkit.ir.conditional import Conditional, Select
from irkit.ir.dtype import DType
from irkit.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Broadcast,
    Cast,
    Const,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mul,
    Neg,
    Not,
    Or,
    Shl,
    Shr,
    Sub,
    Var,
)
from irkit.ir.intrinsics import Call, InstructionCall, Ldexp, Reinterpret


def simplify(expr: Expr, ranges: Ranges = NOTHING, facts: Iterable[Expr] = ()) -> Expr:
    """Simplify an expression, given the ranges of its variables and conditions known to hold.

    If nothing changes, the same object is returned. The type is preserved, and so is the value, for
    all values of the variables within their ranges that satisfy the facts.
    """
    return Simplification(ranges, facts).of(expr)


def prove(cond: Expr, ranges: Ranges = NOTHING, facts: Iterable[Expr] = ()) -> bool:
    """Return True if a condition is proved to hold wherever the ranges and the facts do.

    False means only that no proof was found.
    """
    return comparison.as_bool(simplify(cond, ranges, facts)) is True


class Simplification:
    """Simplifies the expressions of one place of a program, all under the same ranges and facts.

    The facts are taken in once, and what the expressions share is visited once. Where a part of
    one expression is written anew, it is the same object in the others.
    """

    def __init__(self, ranges: Ranges = NOTHING, facts: Iterable[Expr] = ()) -> None:
        self.ranges = ranges
        self.facts = tuple(facts)
        self._simplifier: Simplifier | None = None
        self._alive: list[Expr] = []  # Nodes are known by id.

    def of(self, expr: Expr) -> Expr:
        """Return the simplest form of an expression, or the same object if nothing changes."""
        if isinstance(expr, (Var, Const)):
            return expr
        if self._simplifier is None:
            self._simplifier = Simplifier(self._known())
        self._alive.append(expr)
        made = self._simplifier.run(expr)
        claims = current_claims()
        if claims is not None and made is not expr:
            claims.append(claim_of(expr, made, self.ranges, self.facts))
        return made

    def _known(self) -> Knowledge:
        known = Knowledge(self.ranges)
        if self.facts:
            plain = [Simplifier(Knowledge(self.ranges)).run(fact) for fact in self.facts]
            claims = current_claims()
            if claims is not None:
                pairs = zip(self.facts, plain, strict=True)
                claims += [claim_of(a, b, self.ranges) for a, b in pairs if a is not b]
            known.assume(plain)
        return known


class Simplifier:
    """Bottom-up simplifier of expressions that share a table of atoms."""

    def __init__(self, known: Knowledge) -> None:
        self.known = known
        self.done: dict[int, Expr] = {}

    def run(self, root: Expr) -> Expr:
        """Simplify one expression."""
        done = self.done
        order, inside = unsimplified(root, done)
        for node in order:
            if id(node) not in inside:
                rule = RULES.get(node.__class__)
                done[id(node)] = _folded(self.rebuilt(node) if rule is None else rule(self, node))
        return done[id(root)]

    def rebuilt(self, node: Expr) -> Expr:
        """Rebuild a node with its simplified operands."""
        done = self.done
        changed: dict[int, Node] = {
            id(child): done[id(child)]
            for child in CHILDREN[node.__class__](node)
            if done[id(child)] is not child
        }
        return cast(Expr, with_fields(node, changed)) if changed else node

    def settle(self, node: Expr, found: Sum) -> Expr:
        """Write a sum, or return the node if it already has that form."""
        known = self.known
        if len(found.terms) > 1:
            found = recombined(known, found, node.dtype)
        new = emit(known, found, node.dtype)
        if alike(known, node, new):
            known.enter(node, known.sums[id(new)])
            return node
        return new


def _folded(node: Expr) -> Expr:
    """Compute a node with constant operands only."""
    for child in CHILDREN[node.__class__](node):
        if child.__class__ is not Const:
            return node
    found = fold(node)
    return node if found is None else found


def _add(self: Simplifier, node: Binary) -> Expr:
    if node.dtype.is_float:
        return _float(self, node)
    return self.settle(node, self.known.collected(node, self.done))


def _neg(self: Simplifier, node: Neg) -> Expr:
    if node.dtype.is_float:
        a = self.done[id(node.a)]
        return a.a if isinstance(a, Neg) else node.replace(a=a)
    return self.settle(node, self.known.collected(node, self.done))


def _mul(self: Simplifier, node: Mul) -> Expr:
    if node.dtype.is_float:
        return _float(self, node)
    if is_region(node):
        return self.settle(node, self.known.collected(node, self.done))
    a, b = self.done[id(node.a)], self.done[id(node.b)]
    found = self.known.multiplied(self.known.sum_of(a), self.known.sum_of(b))
    if found is None:
        return node.replace(a=a, b=b)
    return self.settle(node, normal(found, node.dtype))


# Right operands that change no float, bit by bit: -0.0 + -0.0 is -0.0, and x - 0.0 is x.
_NEUTRAL: dict[type[Expr], str] = {Add: "-0.0", Sub: "0.0", Mul: "1.0", Div: "1.0"}


def _float(self: Simplifier, node: Binary) -> Expr:
    """Drop float operations that change no value, and turn equal lanes into one element."""
    a, b = self.done[id(node.a)], self.done[id(node.b)]
    neutral = _NEUTRAL.get(node.__class__)
    for side, other in ((b, a), (a, b)):
        plain = side.value if isinstance(side, Broadcast) else side
        if isinstance(plain, Const) and repr(plain.value) == neutral:
            return other
        if not isinstance(node, (Add, Mul)):
            break
    return _lanewise(node.replace(a=a, b=b))


def _lanewise(node: Expr) -> Expr:
    """Turn an operation on broadcasts into the broadcast of one operation."""
    if node.dtype.lanes > 1 and isinstance(node, Binary):
        a, b = node.a, node.b
        if isinstance(a, Broadcast) and isinstance(b, Broadcast):
            one = node.__class__(a.value, b.value, node.dtype.element)
            return Broadcast(_folded(one), node.dtype)
    return node


def _division(self: Simplifier, node: FloorDiv | FloorMod) -> Expr:
    return _divided(self, node, self.done[id(node.a)], self.done[id(node.b)])


def _divided(self: Simplifier, node: FloorDiv | FloorMod, a: Expr, b: Expr) -> Expr:
    if node.dtype.is_float:
        return _lanewise(node.replace(a=a, b=b))
    known = self.known
    num, den = known.sum_of(a), known.sum_of(b)
    found = None
    if not den.terms:
        rule = quotient if isinstance(node, FloorDiv) else remainder
        found = rule(known, num, den.constant, node.dtype)
    elif not num.terms and num.constant == 0:
        found = num
    elif num.key == den.key and not _has_zero(known.range_of(b)):
        found = Sum({}, int(isinstance(node, FloorDiv)))
    elif _whole_below(known, num, den, node.dtype):
        found = Sum({}) if isinstance(node, FloorDiv) else num
    return _lanewise(node.replace(a=a, b=b)) if found is None else self.settle(node, found)


def _has_zero(pair: tuple[int, int]) -> bool:
    """Return True if 0 is in a range."""
    return pair[0] <= 0 <= pair[1]


def _whole_below(known: Knowledge, num: Sum, den: Sum, dtype: DType) -> bool:
    """Return True if 0 <= num < den."""
    if not (known.fits(num, dtype) and known.fits(den, dtype)):
        return False
    return known.span(num)[0] >= 0 and known.span(den - num)[0] > 0


def _ramp(self: Simplifier, node: Ramp) -> Expr:
    base, stride = self.done[id(node.base)], self.done[id(node.stride)]
    made = node.replace(base=base, stride=stride)
    return self.settle(node, self.known.ramp(made))


def _broadcast(self: Simplifier, node: Broadcast) -> Expr:
    return node.replace(value=self.done[id(node.value)])


def _compare(self: Simplifier, node: Any) -> Expr:
    made = comparison.compare(self.known, node, self.done[id(node.a)], self.done[id(node.b)])
    return _lanewise(made)


def _extremum(self: Simplifier, node: Min | Max) -> Expr:
    made = comparison.extremum(self.known, node, self.done[id(node.a)], self.done[id(node.b)])
    return _lanewise(made)


def _select(self: Simplifier, node: Select | Conditional) -> Expr:
    done = self.done
    parts = (done[id(node.cond)], done[id(node.then)], done[id(node.otherwise)])
    return comparison.select(self.known, node, parts)


def _not(self: Simplifier, node: Not) -> Expr:
    a = self.done[id(node.a)]
    return comparison.invert(self.known, node, a)


def _junction(self: Simplifier, node: And | Or | BitAnd | BitOr) -> Expr:
    a, b = self.done[id(node.a)], self.done[id(node.b)]
    if not node.dtype.is_bool:
        return _bits(self, node)
    return _lanewise(comparison.junction(self.known, node, a, b))


def _bits(self: Simplifier, node: Binary) -> Expr:
    """Fold bitwise operations and shifts of constants, and drop neutral operands."""
    a, b = self.done[id(node.a)], self.done[id(node.b)]
    made = node.replace(a=a, b=b)
    if node.dtype.is_bool:
        return made
    known = self.known
    x, y = known.sum_of(a), known.sum_of(b)
    found = bits_of_equal(node, x) if x.key == y.key else None
    if not y.terms and not x.terms:
        one = node.dtype.element
        plain = node.__class__(Const(x.constant, one), Const(y.constant, one), one)
        found = known.sum_of(_folded(plain))
    elif not y.terms:
        found = bits_by(node, x, y.constant)
    elif not x.terms and isinstance(node, (BitAnd, BitOr, BitXor)):
        found = bits_by(node, y, x.constant)
    return _lanewise(made) if found is None else self.settle(node, normal(found, node.dtype))


def _cast(self: Simplifier, node: Cast) -> Expr:
    value, dtype = self.done[id(node.value)], node.dtype
    if value.dtype == dtype:
        return value
    if isinstance(value, Broadcast):
        inner = _cast_of(self, Cast(value.value, dtype.element), value.value)
        return Broadcast(_folded(inner), dtype)
    return _cast_of(self, node, value)


def _cast_of(self: Simplifier, node: Cast, value: Expr) -> Expr:
    dtype = node.dtype
    if value.dtype.is_float or dtype.is_float:
        return node.replace(value=value)
    low, high = self.known.range_of(value)
    if low == high:
        folded = wrap(low, dtype)
        one = Const(bool(folded) if dtype.is_bool else folded, dtype.element)
        return one if dtype.lanes == 1 else Broadcast(one, dtype)
    if isinstance(value, Cast) and not value.value.dtype.is_float and not dtype.is_bool:
        source = value.value
        kept = self.known.range_of(source)
        narrows = value.dtype.is_integer and dtype.bits <= value.dtype.bits
        if (fitted(*kept, limits(value.dtype)) == kept and not value.dtype.is_bool) or narrows:
            return source if source.dtype == dtype else node.replace(value=source)
    return node.replace(value=value)


def _load(self: Simplifier, node: Load) -> Expr:
    made = cast(Load, self.rebuilt(node))
    mask = None if made.mask is None else comparison.as_bool(made.mask)
    return made.replace(mask=None) if mask is True else made


def _call(self: Simplifier, node: Call) -> Expr:
    made = cast(Call, self.rebuilt(node))
    if not made.dtype.is_integer or not made.args:
        return made
    low, high = self.known.range_of(made)
    if low == high:
        return self.settle(node, Sum({}, low))
    spans = [self.known.range_of(arg) for arg in made.args]
    if made.name == "abs" and spans[0][0] >= 0:
        return made.args[0]
    if made.name == "mul_sat":
        low, high = times(spans[0], spans[1])
        if fitted(low, high, limits(made.dtype)) == (low, high):
            self.done.update({id(arg): arg for arg in made.args})
            return _mul(self, Mul(made.args[0], made.args[1], made.dtype))
    if made.name in ("truncdiv", "truncmod") and spans[0][0] >= 0 and spans[1][0] > 0:
        cls = FloorDiv if made.name == "truncdiv" else FloorMod
        return _divided(self, cls(made.args[0], made.args[1], made.dtype), *made.args)
    return made


RULES: dict[type[Expr], Callable[[Simplifier, Any], Expr]] = {
    Add: _add,
    Sub: _add,
    Mul: _mul,
    Neg: _neg,
    Div: _float,
    FloorDiv: _division,
    FloorMod: _division,
    Min: _extremum,
    Max: _extremum,
    **dict.fromkeys((EQ, NE, LT, LE, GT, GE), _compare),
    Select: _select,
    Conditional: _select,
    Not: _not,
    **dict.fromkeys((And, Or, BitAnd, BitOr), _junction),
    **dict.fromkeys((BitXor, Shl, Shr), _bits),
    Cast: _cast,
    Reinterpret: Simplifier.rebuilt,
    Ldexp: Simplifier.rebuilt,
    Ramp: _ramp,
    Broadcast: _broadcast,
    Load: _load,
    Call: _call,
    InstructionCall: Simplifier.rebuilt,
}
