"""Quotients and remainders of sums by constants.

Addition and multiplication wrap around, so sums can be rearranged freely, but quotients cannot. A
rule that looks inside the numerator therefore first checks that it is exact: that its range,
computed over all integers, lies in its type. The exception is a power of two: it divides 2**bits,
so remainders by it are not affected by wrap-around.
"""

from collections.abc import Iterator
from math import gcd

from irkit.ir.arith.emit import emit
from irkit.ir.arith.sums import MOST_TERMS, ZERO, Atoms, Product, Sum, add_terms, normal
from irkit.ir.dtype import DType
from irkit.ir.expr import FloorDiv, FloorMod


def quotient(atoms: Atoms, num: Sum, den: int, dtype: DType) -> Sum | None:
    """Simplify ``num // den``; None if no rule applies."""
    if den in (0, 1, -1):
        return num.scaled(den)
    low, high = atoms.pair(num, dtype)
    if low // den == high // den:
        return Sum({}, low // den)
    if den < 0 or not atoms.fits(num, dtype):
        return None
    whole, rest = _split(num, den)
    if (whole.terms or whole.constant) and atoms.fits(rest, dtype):
        return whole + _quotient(atoms, rest, den, dtype)
    for step, upper, lower in _layers(num, den):
        if _between(atoms, lower, step) and atoms.fits(upper, dtype):
            return _quotient(atoms, upper, den // step, dtype)
    return _nested_quotient(atoms, num, den, dtype)


def remainder(atoms: Atoms, num: Sum, den: int, dtype: DType) -> Sum | None:
    """Simplify ``num % den``; None if no rule applies."""
    if den in (0, 1, -1):
        return ZERO
    low, high = atoms.pair(num, dtype)
    if low // den == high // den:
        return num + Sum({}, -den * (low // den))
    exact = atoms.fits(num, dtype)
    free = den & (den - 1) == 0  # Wrap-around subtracts a multiple of it.
    if den < 0 or not (exact or free):
        return None
    reduced = _reduced(atoms, num, den, None if free else dtype)
    if reduced.key != num.key and (free or atoms.fits(reduced, dtype)):
        return _remainder(atoms, reduced, den, dtype)
    for step, upper, lower in _layers(num, den):
        if _between(atoms, lower, step) and atoms.fits(upper, dtype):
            return _remainder(atoms, upper, den // step, dtype).scaled(step) + lower
    return _nested_remainder(atoms, num, den, dtype)


def _quotient(atoms: Atoms, num: Sum, den: int, dtype: DType) -> Sum:
    found = quotient(atoms, num, den, dtype)
    return _atom(atoms, FloorDiv, num, den, dtype) if found is None else found


def _remainder(atoms: Atoms, num: Sum, den: int, dtype: DType) -> Sum:
    found = remainder(atoms, num, den, dtype)
    return _atom(atoms, FloorMod, num, den, dtype) if found is None else found


def _atom(atoms: Atoms, cls: type[FloorDiv | FloorMod], num: Sum, den: int, dtype: DType) -> Sum:
    scalar = not any(factor in atoms.wide for product in num.terms for factor in product)
    kind = dtype.element if scalar else dtype
    divisor = emit(atoms, Sum({}, den), kind)
    return atoms.sum_of(cls(emit(atoms, num, kind), divisor, kind))


def _split(num: Sum, den: int) -> tuple[Sum, Sum]:
    """Split off the part that the divisor divides: num = whole * den + rest."""
    whole = {product: c // den for product, c in num.terms.items() if c % den == 0}
    rest = {product: c for product, c in num.terms.items() if c % den}
    return Sum(whole, num.constant // den), Sum(rest, num.constant % den)


def _layers(num: Sum, den: int) -> Iterator[tuple[int, Sum, Sum]]:
    """Split a sum at common factors with the divisor: num = upper * step + lower."""
    for step in sorted({gcd(c, den) for c in num.terms.values()} - {1}, reverse=True)[:8]:
        upper, lower = _split(num, step)
        yield step, upper, lower


def _between(atoms: Atoms, found: Sum, high: int) -> bool:
    """Return True if a sum lies in 0 to ``high`` - 1."""
    low, top = found.exact(atoms.spans)
    return low >= 0 and top < high


def _reduced(atoms: Atoms, num: Sum, den: int, exact_in: DType | None) -> Sum:
    """Drop multiples of the divisor, and exact remainders by multiples of it."""
    terms: dict[Product, int] = {}
    constant = num.constant
    for product, c in num.terms.items():
        c = c % den if c > 0 else -(-c % den)
        inner = _divided(atoms, product, FloorMod)
        if inner is not None and exact_in is not None and not atoms.fits(inner[0], exact_in):
            inner = None
        if c and inner is not None and inner[1] % den == 0:
            add_terms(terms, inner[0].terms, c)
            constant += c * inner[0].constant
        elif c:
            add_terms(terms, {product: c}, 1)
    terms = {product: c % den if c > 0 else -(-c % den) for product, c in terms.items()}
    return Sum({product: c for product, c in terms.items() if c}, constant % den)


def _divided(
    atoms: Atoms, product: Product, cls: type[FloorDiv | FloorMod]
) -> tuple[Sum, int] | None:
    """Return the operands of an atom that is a quotient or remainder by a positive constant."""
    if len(product) != 1:
        return None
    node = atoms.shown[product[0]]
    if not isinstance(node, cls):
        return None
    den = atoms.sum_of(node.b)
    return None if den.terms or den.constant <= 0 else (atoms.sum_of(node.a), den.constant)


def _lone(num: Sum) -> tuple[Product, int] | None:
    """Return the atom and constant of a sum of one atom and a constant."""
    if len(num.terms) != 1:
        return None
    ((product, c),) = num.terms.items()
    return (product, num.constant) if c == 1 else None


def _nested_quotient(atoms: Atoms, num: Sum, den: int, dtype: DType) -> Sum | None:
    """Turn (x // a + c) // b into (x + a * c) // (a * b)."""
    lone = _lone(num)
    inner = _divided(atoms, lone[0], FloorDiv) if lone is not None else None
    if lone is None or inner is None or inner[1] * den > dtype.high:
        return None
    shifted = inner[0] + Sum({}, inner[1] * lone[1])
    if lone[1] and not (atoms.fits(inner[0], dtype) and atoms.fits(shifted, dtype)):
        return None
    return _quotient(atoms, shifted, inner[1] * den, dtype)


def _nested_remainder(atoms: Atoms, num: Sum, den: int, dtype: DType) -> Sum | None:
    """Turn x // a % b into x % (a * b) // a."""
    lone = _lone(num)
    inner = _divided(atoms, lone[0], FloorDiv) if lone is not None else None
    if lone is None or inner is None or lone[1] or inner[1] * den > dtype.high:
        return None
    upper = _remainder(atoms, inner[0], inner[1] * den, dtype)
    return _quotient(atoms, upper, inner[1], dtype)


def recombined(atoms: Atoms, found: Sum, dtype: DType) -> Sum:
    """Combine quotients and remainders of the same division: x // a * a + x % a is x.

    This holds for every x, also after wrap-around, if a is not 0.
    """
    merged: Sum | None = found
    while merged is not None and 1 < len(merged.terms) <= MOST_TERMS:
        found = merged
        merged = next((new for new in _mergers(atoms, found, dtype) if new is not None), None)
        merged = None if merged is None else normal(merged, dtype)
    return found if merged is None else merged


def _mergers(atoms: Atoms, found: Sum, dtype: DType) -> Iterator[Sum | None]:
    for product, c in found.terms.items():
        if len(product) == 1 and atoms.shown[product[0]].__class__ is FloorMod:
            yield _merged(atoms, found, product, c, dtype)


def _merged(atoms: Atoms, found: Sum, product: Product, c: int, dtype: DType) -> Sum | None:
    part = _divided(atoms, product, FloorMod)
    if part is None:
        return None
    num, den = part
    for other, d in found.terms.items():
        partner = _divided(atoms, other, FloorDiv)
        if partner is None or partner[1] != den or d != c * den:
            continue
        whole = partner[0]
        if (
            whole.key == num.key
            or _same_remainder(atoms, whole, num, den)
            or _congruent(atoms, whole, num, den, dtype)
        ):
            terms = {p: k for p, k in found.terms.items() if p not in (product, other)}
            add_terms(terms, whole.terms, c)
            return Sum(terms, found.constant + c * whole.constant)
    return None


def _congruent(atoms: Atoms, a: Sum, b: Sum, den: int, dtype: DType) -> bool:
    """Return True if two exact sums differ by a multiple of the divisor, so that remainders
    agree."""
    gap = a - b
    multiple = all(c % den == 0 for c in (*gap.terms.values(), gap.constant))
    return multiple and atoms.fits(a, dtype) and atoms.fits(b, dtype)


def _same_remainder(atoms: Atoms, whole: Sum, num: Sum, den: int) -> bool:
    """Return True if ``whole`` is num % m with den dividing m, so that whole % den is num % den."""
    lone = _lone(whole)
    inner = _divided(atoms, lone[0], FloorMod) if lone is not None and not lone[1] else None
    return inner is not None and inner[1] % den == 0 and inner[0].key == num.key
