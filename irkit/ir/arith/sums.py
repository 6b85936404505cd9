"""Sums of products with integer coefficients, and the table of their atoms.

An atom is any expression that is not a sum: a variable, a quotient, a load. Equal atoms have one
number, so sums can be compared as dictionaries. A vector is a sum over scalars and the atom LANE,
which numbers its elements from 0: ``Ramp(b, s)`` is ``b + s * LANE``.
"""

from collections.abc import Hashable, Mapping
from typing import Any

from irkit.core import CHILDREN, Node
from irkit.ir.arith.interval import Pair, Ranges, fitted, limits, var_pair, wrap
from irkit.ir.arith.transfer import times, transfer
from irkit.ir.buffer import Load, Ramp
from irkit.ir.dtype import I64, DType
from irkit.ir.expr import (
    OPERATIONS,
    Add,
    Broadcast,
    Const,
    Expr,
    Mul,
    Neg,
    Sub,
    Var,
    convert,
)
from irkit.ir.intrinsics import INTRINSICS, Call

Product = tuple[int, ...]  # Sorted numbers of atoms.
MOST_TERMS = 256  # A longer sum inside another is an atom, which keeps the work linear.
MOST_FACTORS = 8
_COMMUTE = frozenset(cls for cls, row in OPERATIONS.items() if row.identity) - {Add}


class Sum:
    """Coefficients of products, and a constant; exact integers that represent a value modulo
    2**bits."""

    __slots__ = ("_key", "_pair", "constant", "terms")

    def __init__(self, terms: Mapping[Product, int], constant: int = 0) -> None:
        self.terms = terms
        self.constant = constant
        self._key: Hashable = None
        self._pair: Pair | None = None

    @property
    def key(self) -> Hashable:
        """Return a key that does not depend on the order of the terms."""
        if self._key is None:
            self._key = (frozenset(self.terms.items()), self.constant)
        return self._key

    def __add__(self, other: "Sum") -> "Sum":
        terms = dict(self.terms)
        add_terms(terms, other.terms, 1)
        return Sum(terms, self.constant + other.constant)

    def __sub__(self, other: "Sum") -> "Sum":
        return self + other.scaled(-1)

    def scaled(self, by: int) -> "Sum":
        """Return the sum multiplied by a number."""
        if by == 0:
            return ZERO
        return Sum({product: c * by for product, c in self.terms.items()}, self.constant * by)

    def exact(self, spans: list[Pair]) -> Pair:
        """Return the range before wrap-around; ``spans`` are the ranges of the atoms."""
        if self._pair is None:
            low = high = self.constant
            for product, c in self.terms.items():
                a, b = spans[product[0]]
                for factor in product[1:]:
                    a, b = times((a, b), spans[factor])
                low += c * (a if c > 0 else b)
                high += c * (b if c > 0 else a)
            self._pair = low, high
        return self._pair

    def forget(self) -> None:
        """Compute the range anew next time, because an atom became narrower."""
        self._pair = None


ZERO = Sum({})


def add_terms(terms: dict[Product, int], more: Mapping[Product, int], by: int) -> None:
    """Add ``by`` times some terms in place, removing those that cancel."""
    for product, c in more.items():
        total = terms.get(product, 0) + c * by
        if total:
            terms[product] = total
        else:
            terms.pop(product, None)


SUMMING = frozenset({Add, Sub, Neg, Mul})
"""The classes of regions."""


def is_region(node: Any) -> bool:
    """Return True if a node only adds and scales, so that it belongs to the sum of its parent."""
    cls = node.__class__
    if cls is Add or cls is Sub or cls is Neg:
        return node.dtype.kind in _INTEGERS
    return cls is Mul and node.dtype.kind in _INTEGERS and number(node.b) is not None


_INTEGERS = frozenset({"i", "u"})


def factor(node: Mul) -> int | None:
    """Return the constant right factor of a product."""
    return number(node.b)


def number(node: Any) -> int | None:
    """Return the value of an integer constant, or of a vector with equal elements."""
    if node.__class__ is Broadcast:
        node = node.value
    if node.__class__ is Const and node.dtype.kind in _INTEGERS:
        return node.value
    return None


class Atoms:
    """Numbers and ranges of the atoms of some expressions, and the sum of each node."""

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges
        self.shown: list[Expr] = []  # The expression of each atom.
        self.spans: list[Pair] = []
        self.alone: list[Sum] = []  # The sum of just this atom.
        self.wide: set[int] = set()  # Atoms that differ from lane to lane.
        self.written: dict[Product, Product] = {}  # Products in the order they were first seen.
        self.sums: dict[int, Sum] = {}
        self.emitted: dict[Hashable, Expr] = {}  # What sums were written as.
        self._numbers: dict[Hashable, int] = {}
        self._kept: list[Node] = []  # Keeps nodes alive, so that no id is reused.

    def sum_of(self, node: Expr) -> Sum:
        """Return the sum of an expression; anything that is not an integer is an atom."""
        found = self.sums.get(id(node))
        if found is not None:
            return found
        cls = node.__class__
        if cls is Var or cls is Const:
            found = self._sum(node)
            self.enter(node, found)
            return found
        stack: list[Expr] = [node]
        while stack:
            top = stack[-1]
            if id(top) in self.sums:
                stack.pop()
                continue
            missing = [c for c in self._operands(top) if id(c) not in self.sums]
            if missing:
                stack.extend(missing)
            else:
                stack.pop()
                self.enter(top, self._sum(top))
        return self.sums[id(node)]

    def enter(self, node: Expr, found: Sum) -> None:
        """Record the sum of a node."""
        self.sums[id(node)] = found
        self._kept.append(node)

    def pair(self, found: Sum, dtype: DType) -> Pair:
        """Return the range of a sum in its type."""
        return fitted(*found.exact(self.spans), limits(dtype))

    def fits(self, found: Sum, dtype: DType) -> bool:
        """Return True if a sum cannot wrap around, so that it is the value itself."""
        low, high = found.exact(self.spans)
        bottom, top = limits(dtype)
        return bottom <= low and high <= top

    def range_of(self, node: Expr) -> Pair:
        """Return the range of an integer or bool expression."""
        return self.pair(self.sum_of(node), node.dtype)

    def narrow(self, atom: int, low: int, high: int) -> None:
        """Intersect the range of an atom with limits known from elsewhere."""
        old = self.spans[atom]
        cut = max(old[0], low), min(old[1], high)
        if cut[0] <= cut[1]:
            self.spans[atom] = cut
            self.alone[atom].forget()

    def number(self, key: Hashable, node: Expr, span: Pair | None = None) -> int:
        """Return the number of an atom by its key."""
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.shown)
            self.shown.append(node)
            if span is None:
                dtype = node.dtype
                span = (0, 0) if dtype.is_float else transfer(node, self.range_of)
            self.spans.append(span)
            self.alone.append(Sum({(found,): 1}))
            if node.dtype.lanes > 1:
                self.wide.add(found)
        return found

    def atom(self, product: Product) -> Expr:
        """Return the expression of an atom, or of a product of several."""
        if len(product) == 1:
            return self.shown[product[0]]
        first, *rest = self.written.get(product, product)
        found = self.shown[first]
        for number in rest:
            other = self.shown[number]
            if other.dtype != found.dtype:  # They met through casts.
                found, other = convert(found, I64), convert(other, I64)
            found = Mul(found, other, found.dtype)
        return found

    def lane(self, dtype: DType) -> int:
        """Return the number of the atom that counts the lanes of a vector type."""
        key = ("lane", dtype)
        found = self._numbers.get(key)
        if found is None:
            unit = Ramp(Const(0, dtype.element), Const(1, dtype.element), dtype)
            found = self.number(key, unit, (0, dtype.lanes - 1))
            self.enter(unit, self.alone[found])
        return found

    def key(self, node: Any) -> Hashable:
        """Return a key for the structure of an expression; the order of terms in sums does not
        count."""
        cls = node.__class__
        below: tuple[Any, ...] = CHILDREN[cls](node)
        operands = tuple([self.sum_of(child).key for child in below])
        if cls in _COMMUTE:
            return cls, node.dtype, frozenset(operands)
        if cls is Call:
            name: str = node.name
            commutes = name in INTRINSICS and INTRINSICS[name].commutes
            return cls, node.dtype, name, frozenset(operands) if commutes else operands
        if cls is Load:
            return cls, node.dtype, id(node.buffer), node.mask is None, operands
        return cls, node.dtype, operands

    def multiplied(self, a: Sum, b: Sum) -> Sum | None:
        """Multiply out if one side is a single product."""
        if not a.terms or not b.terms:
            return b.scaled(a.constant) if not a.terms else a.scaled(b.constant)
        if len(a.terms) != 1 or a.constant:
            if len(b.terms) != 1 or b.constant:
                return None
            a, b = b, a
            flipped = True
        else:
            flipped = False
        ((product, c),) = a.terms.items()
        if len(b.terms) > MOST_TERMS:
            return None
        terms: dict[Product, int] = {}
        seen = self.written.get(product, product)
        for other, d in b.terms.items():
            shown = self.written.get(other, other)
            shown = (*shown, *seen) if flipped else (*seen, *shown)
            if len(shown) > MOST_FACTORS:
                return None
            merged = tuple(sorted(shown))
            self.written.setdefault(merged, shown)
            terms[merged] = c * d
        if b.constant:
            add_terms(terms, {product: 1}, c * b.constant)
        return Sum(terms)

    def _operands(self, node: Expr) -> tuple[Expr, ...]:
        below: tuple[Any, ...] = CHILDREN[node.__class__](node)
        if not is_region(node):
            return below
        found: list[Expr] = []
        seen: set[int] = set()
        stack = list(below[::-1])
        while stack:
            top = stack.pop()
            if id(top) in seen:
                found.append(
                    top
                )  # Shared nodes are entered once, as repeating them would double the work.
                continue
            seen.add(id(top))
            if id(top) in self.sums or not is_region(top):
                found.append(top)
            else:
                stack.extend(CHILDREN[top.__class__](top)[::-1])
        return tuple(found)

    def _sum(self, node: Any) -> Sum:
        cls = node.__class__
        if cls is Var:
            span = (0, 0) if node.dtype.is_float else var_pair(node, self.ranges)
            return self.alone[self.number(node, node, span)]
        dtype: DType = node.dtype
        if cls is Const:
            if dtype.is_integer:
                return Sum({}, node.value)
            flag = int(node.value) if dtype.is_bool else 0
            return self.alone[self.number(node, node, (flag, flag))]
        if dtype.is_integer:
            if is_region(node):
                return self.collected(node)
            if cls is Ramp:
                return self.ramp(node)
            if cls is Broadcast:
                return self.sum_of(node.value)
            if cls is Mul:
                found = self.multiplied(self.sum_of(node.a), self.sum_of(node.b))
                if found is not None:
                    return found
        return self.alone[self.number(self.key(node), node)]

    def ramp(self, node: Ramp) -> Sum:
        """Return a ramp as base + stride * LANE."""
        lane = self.alone[self.lane(node.dtype)]
        stride = self.multiplied(lane, self.sum_of(node.stride))
        if stride is None:
            return self.alone[self.number(self.key(node), node)]
        return self.sum_of(node.base) + stride

    def collected(self, root: Expr, done: Mapping[int, Expr] | None = None) -> Sum:
        """Add up a region of sums; ``done`` maps nodes below, by id, to what has replaced them."""
        terms: dict[Product, int] = {}
        constant = 0
        stack: list[tuple[Any, int]] = [(root, 1)]
        while stack:
            node, c = stack.pop()
            cls = node.__class__
            if cls is Const:
                constant += c * node.value
                continue
            new = self._leaf(node, root) if done is None else done.get(id(node))
            if new is not None:
                found = self.sums.get(id(new)) or self.sum_of(new)
                if len(found.terms) > MOST_TERMS:
                    found = self.short(new, found)
                if found.terms:
                    add_terms(terms, found.terms, c)
                constant += c * found.constant
            elif cls is Add:
                stack += ((node.b, c), (node.a, c))
            elif cls is Sub:
                stack += ((node.b, -c), (node.a, c))
            elif cls is Neg:
                stack.append((node.a, -c))
            else:
                stack.append((node.a, self._scale(node, c)))
        return normal(Sum(terms, constant), root.dtype)

    def _leaf(self, node: Expr, root: Expr) -> Expr | None:
        """Return the expression at which a region ends, or None inside it."""
        inner = node is root or (id(node) not in self.sums and is_region(node))
        return None if inner else node

    def _scale(self, node: Mul, c: int) -> int:
        by = factor(node)
        assert by is not None
        c *= by
        return c if -(1 << 128) < c < (1 << 128) else wrap(c, node.dtype)

    def short(self, node: Expr, found: Sum) -> Sum:
        """Turn a sum of very many terms into one atom."""
        return self.alone[self.number(("sum", found.key), node, self.pair(found, node.dtype))]


def normal(found: Sum, dtype: DType) -> Sum:
    """Reduce coefficients to the type, modulo 2**bits.

    A sum without terms is its value.
    """
    high = dtype.high
    constant = found.constant
    if not found.terms:
        return found if wrap(constant, dtype) == constant else Sum({}, wrap(constant, dtype))
    factors = found.terms.values()
    if -high <= constant <= high and -high <= min(factors) and max(factors) <= high:
        return found
    terms = {product: _centred(c, dtype) for product, c in found.terms.items()}
    terms = {product: c for product, c in terms.items() if c}
    if not terms:
        return Sum({}, wrap(constant, dtype))
    return Sum(terms, _centred(constant, dtype))


def _centred(c: int, dtype: DType) -> int:
    if -dtype.high <= c <= dtype.high:
        return c
    c &= (1 << dtype.bits) - 1
    return c - (1 << dtype.bits) if c >> (dtype.bits - 1) and dtype.kind == "i" else c
