"""Linear forms: integer expressions as sums of coefficients times atoms, plus a constant.

Both kinds rest on ``sums``. ``linear`` reads one expression, modulo 2**bits of its type, whatever
the values of variables are. ``IndexSums`` reads the indices of a program as the integers that they
are: through ``let``, block axes and casts, and only where arithmetic is known not to wrap around.
"""

from collections.abc import Iterable, Mapping

import msgspec

from irkit.core import equal, substitute
from irkit.ir.arith.bounds import NOTHING
from irkit.ir.arith.emit import emit
from irkit.ir.arith.interval import Ranges
from irkit.ir.arith.simplify import Simplification, simplify
from irkit.ir.arith.sums import Atoms, Product, Sum, add_terms, is_region, normal
from irkit.ir.dtype import I64, DType
from irkit.ir.expr import Cast, Const, Expr, FloorDiv, FloorMod, Mul, Sub, Var, convert


def equal_sums(a: Expr, b: Expr) -> bool:
    """Return True if two integer expressions are certainly equal, whatever their variables are."""
    if equal(a, b):
        return True
    difference = simplify(Sub(a, b, a.dtype)) if a.dtype == b.dtype else None
    return isinstance(difference, Const) and difference.value == 0


class LinearForm(msgspec.Struct, frozen=True, eq=False):
    """A sum of ``coefficient * atom`` and a constant; atoms are expressions that are not sums.

    Coefficients are unbounded integers; the value is modulo 2**bits of the type. Structurally equal
    atoms are one. A product of atoms is an atom.
    """

    terms: tuple[tuple[Expr, int], ...]
    constant: int
    dtype: DType

    def coefficient(self, atom: Expr) -> int:
        """Return the coefficient of an atom; 0 if it does not occur."""
        atoms = Atoms(NOTHING)
        found = self._sum(atoms)
        wanted = atoms.sum_of(atom).terms
        product = next(iter(wanted), None)
        return 0 if product is None else found.terms.get(product, 0)

    @property
    def is_constant(self) -> bool:
        """True if there are no atoms."""
        return not self.terms

    def expr(self) -> Expr:
        """Return it as an expression in canonical form."""
        atoms = Atoms(NOTHING)
        return emit(atoms, normal(self._sum(atoms), self.dtype), self.dtype)

    def __add__(self, other: "LinearForm | int") -> "LinearForm":
        if isinstance(other, int):
            return LinearForm(self.terms, self.constant + other, self.dtype)
        return _joined(((self, 1), (other, 1)), self.dtype)

    def __sub__(self, other: "LinearForm | int") -> "LinearForm":
        if isinstance(other, int):
            return self + -other
        return _joined(((self, 1), (other, -1)), self.dtype)

    def __neg__(self) -> "LinearForm":
        return self * -1

    def __mul__(self, by: int) -> "LinearForm":
        terms = tuple((atom, c * by) for atom, c in self.terms if by)
        return LinearForm(terms, self.constant * by, self.dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearForm) or other.dtype != self.dtype:
            return False
        difference = self - other
        return not difference.terms and difference.constant == 0

    def __hash__(self) -> int:
        return hash((len(self.terms), self.constant, self.dtype))

    def _sum(self, atoms: Atoms) -> Sum:
        terms: dict[Product, int] = {}
        constant = self.constant
        for atom, c in self.terms:
            found = atoms.sum_of(atom)
            add_terms(terms, found.terms, c)
            constant += c * found.constant
        return Sum(terms, constant)


def linear(expr: Expr) -> LinearForm | None:
    """Return an integer scalar as a linear form; None for floats, bools and vectors.

    Only sums and products are analysed; simplify first to see through the rest.
    """
    if not expr.dtype.is_integer or expr.dtype.lanes > 1:
        return None
    atoms = Atoms(NOTHING)
    return _read(atoms, atoms.sum_of(expr), expr.dtype)


def _joined(parts: Iterable[tuple[LinearForm, int]], dtype: DType) -> LinearForm:
    atoms = Atoms(NOTHING)
    total = Sum({})
    for part, by in parts:
        total = total + part._sum(atoms).scaled(by)  # pyright: ignore[reportPrivateUsage] -- same file
    return _read(atoms, total, dtype)


def _read(atoms: Atoms, found: Sum, dtype: DType) -> LinearForm:
    terms: list[tuple[Expr, int]] = []
    for product, c in found.terms.items():
        terms.append((atoms.atom(product), c))
    return LinearForm(tuple(terms), found.constant, dtype)


MAX_TERMS = 32
MAX_FACTOR = 1 << 47


class IndexSums(Atoms):
    """Table in which the sum of an index is exactly its value.

    64-bit index arithmetic is assumed not to wrap around; narrower arithmetic is a sum only where
    its range proves that, and an atom elsewhere. ``ranges`` are the limits of variables, ``values``
    the expressions that variables bound by ``let`` and axes stand for, outermost first.
    """

    def __init__(self, ranges: Ranges, values: Mapping[Var, Expr] | None = None) -> None:
        super().__init__(ranges)
        self.values = values or {}
        self.runs: dict[tuple[int, ...], tuple[object, list[Sum]]] = {}  # See ConflictTest.
        # Atoms are compared as they are written: a load and a variable that holds what it found
        # earlier can differ, so inside an atom a variable does not stand for its value.
        self._written = Atoms(ranges)
        self._plain = Simplification(ranges)
        for value in self.values.values():  # In this order, a chain of lets causes no recursion.
            self.sum_of(value)

    def expr(self, found: Sum) -> Expr:
        """Return a sum as an expression of 64 bits, term by term."""
        total: Expr | None = None
        for product, c in found.terms.items():
            atom = convert(self.atom(product), I64)
            term = atom if c == 1 else atom * c
            total = term if total is None else total + term
        if total is None:
            return Const(found.constant, I64)
        return total + found.constant if found.constant else total

    def simplest(self, expr: Expr) -> Expr:
        """Return the simplest form of an expression, with their values in place of variables."""
        return self._plain.of(substitute(expr, self.values) if self.values else expr)

    def _sum(self, node: Expr) -> Sum:
        if isinstance(node, Var) and node in self.values:
            return self.sum_of(self.values[node])
        if isinstance(node, (Var, Const)):
            return super()._sum(node)
        dtype = node.dtype
        if dtype.is_integer and dtype.lanes == 1:
            found = self._value(node)
            if found is not None and self._is_value(found, dtype):
                return found
        written = self._written.sum_of(node)
        span = (0, 0) if dtype.is_float else self._written.pair(written, dtype)
        return self.alone[self.number((dtype, written.key), node, span)]

    def _value(self, node: Expr) -> Sum | None:
        if is_region(node):
            return self.collected(node)
        if isinstance(node, Mul):
            return self.multiplied(self.sum_of(node.a), self.sum_of(node.b))
        if isinstance(node, Cast) and node.value.dtype.is_integer:
            return self.sum_of(node.value)
        if isinstance(node, (FloorDiv, FloorMod)):
            # A tiled layout: `(outer * 8 + inner) // 8` is a sum once axes are loops.
            plain = self.simplest(node)
            return None if isinstance(plain, (FloorDiv, FloorMod)) else self.sum_of(plain)
        return None

    def _is_value(self, found: Sum, dtype: DType) -> bool:
        if len(found.terms) > MAX_TERMS or any(abs(c) > MAX_FACTOR for c in found.terms.values()):
            return False
        return (dtype.kind == "i" and dtype.bits == 64) or self.fits(found, dtype)
