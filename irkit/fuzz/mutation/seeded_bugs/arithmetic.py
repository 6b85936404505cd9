"""Bugs in integer analysis, known from other compilers."""

from irkit.fuzz.mutation.seeded_bugs.seeded_bug import SeededBug

# Anything that uses ranges may be misled.
_USERS = (
    "simplify",
    "narrow-indices",
    "plan-allocations",
    "compact-buffers",
    "vectorize-loops",
    "rewrite-unsafe-selects",
    "hoist-first-iterations",
    "transform-layout",
    "overcompute",
)

ARITHMETIC = (
    SeededBug(
        "truncated for floored division of ranges",
        "irkit.ir.arith.transfer:floordiv",
        "_hull([(n // d, n // d) for n in num for d in part])",
        "_hull([(int(n / d), int(n / d)) for n in num for d in part])",
        _USERS,
        "FLOORED",
    ),
    SeededBug(
        "a remainder with too small a range",
        "irkit.ir.arith.transfer:_floormod_one_sign",
        "return 0, min(high, den[1] - 1) if low >= 0 else den[1] - 1",
        "return 0, min(high, den[1] - 2) if low >= 0 else den[1] - 2",
        _USERS,
        "REMAINDERS",
    ),
    SeededBug(
        "a remainder of a negative number below 0",
        "irkit.ir.arith.transfer:_floormod_one_sign",
        "        if low >= 0 and high < den[0]:\n            return num\n",
        "        if high < den[0]:\n            return num\n",
        _USERS,
        "REMAINDERS",
    ),
    SeededBug(
        "truncated for floored division of sums",
        "irkit.ir.arith.division:_split",
        "whole = {product: c // den for product, c in num.terms.items() if c % den == 0}\n"
        "    rest = {product: c for product, c in num.terms.items() if c % den}\n"
        "    return Sum(whole, num.constant // den), Sum(rest, num.constant % den)",
        "whole = {product: c // den for product, c in num.terms.items() if c % den == 0}\n"
        "    rest = {product: c for product, c in num.terms.items() if c % den}\n"
        "    return Sum(whole, int(num.constant / den)), Sum(rest, abs(num.constant) % den)",
        _USERS,
        "FLOORED",
    ),
    SeededBug(
        "a rest that may be as large as the divisor",
        "irkit.ir.arith.division:_between",
        "return low >= 0 and top < high",
        "return low >= 0 and top <= high",
        _USERS,
        "REMAINDERS",
    ),
    SeededBug(
        "a rest that may be negative",
        "irkit.ir.arith.division:_between",
        "return low >= 0 and top < high",
        "return top < high",
        _USERS,
        "REMAINDERS",
    ),
    SeededBug(
        "the quotient of a layer by the wrong divisor",
        "irkit.ir.arith.division:quotient",
        "return _quotient(atoms, upper, den // step, dtype)",
        "return _quotient(atoms, upper, den, dtype)",
        _USERS,
        "REMAINDERS",
    ),
    SeededBug(
        "quotient and remainder of different divisors put together",
        "irkit.ir.arith.division:_merged",
        "partner[1] != den or d != c * den",
        "d != c * den",
        _USERS,
        "REMAINDERS",
    ),
    SeededBug(
        "a divisor below 0 taken for one above it",
        "irkit.ir.arith.division:quotient",
        "    if den < 0 or not atoms.fits(num, dtype):\n",
        "    if not atoms.fits(num, dtype):\n",
        _USERS,
        "FLOORED",
    ),
    SeededBug(
        "a remainder taken away put together as one that is added",
        "irkit.ir.arith.division:_merged",
        "            add_terms(terms, whole.terms, c)\n",
        "            add_terms(terms, whole.terms, abs(c))\n",
        _USERS,
        "FLOORED",
    ),
    SeededBug(
        "a sum of ranges without its upper end",
        "irkit.ir.arith.bounds:_exact",
        "found = a[0] + b[0], a[1] + b[1]",
        "found = a[0] + b[0], max(a[1], b[1])",
        _USERS,
        "TILE_A_MATMUL",
    ),
    SeededBug(
        "less taken for less or equal",
        "irkit.ir.arith.knowledge:_not_negative",
        "return (b - a - one,)",
        "return (b - a - one - one,)",
        _USERS,
        "GUARDED",
    ),
    SeededBug(
        "the opposite of less is greater",
        "irkit.ir.arith.knowledge:_NEGATED",
        "{LT: GE, GE: LT,",
        "{LT: GT, GE: LT,",
        _USERS,
        "KNOWN_ELSE",
    ),
    SeededBug(
        "equal sides taken for less",
        "irkit.ir.arith.comparison:compare",
        "return truth(cls in (EQ, LE, GE), node.dtype)",
        "return truth(cls not in (EQ, LE, GE), node.dtype)",
        _USERS,
        "DECIDED",
    ),
    SeededBug(
        "a zero of the wrong sign added",
        "irkit.ir.arith.simplify:_NEUTRAL",
        '{Add: "-0.0", Sub: "0.0"',
        '{Add: "0.0", Sub: "0.0"',
        _USERS,
        "SIGNED_ZERO",
    ),
)
