"""Linear forms: integer expressions as sums of coefficients times atoms, plus a constant."""

from collections.abc import Iterable

import msgspec

from irkit.ir.arith.bounds import NOTHING
from irkit.ir.arith.emit import emit
from irkit.ir.arith.sums import Atoms, Product, Sum, add_terms, normal
from irkit.ir.dtype import DType
from irkit.ir.expr import Expr, Mul


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
        first, *rest = atoms.written.get(product, product)
        atom = atoms.shown[first]
        for factor in rest:
            atom = Mul(atom, atoms.shown[factor], dtype)
        terms.append((atom, c))
    return LinearForm(tuple(terms), found.constant, dtype)
