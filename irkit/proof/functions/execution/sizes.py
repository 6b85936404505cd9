"""Sizes to execute a function for, where its signature leaves them open."""

from collections.abc import Iterator

from irkit.core import walk
from irkit.ir import Const, For, Load, PrimFunc, Store, Var, as_int, dimension_vars

SMALLEST = (0, 1, 2, 3)
LARGEST_FACTOR = 64
FACTORS = 3


def open_sizes(func: PrimFunc) -> tuple[Var, ...]:
    """Return the dimensions that a caller chooses."""
    return dimension_vars(func.params)


def scalars(func: PrimFunc) -> tuple[Var, ...]:
    """Return the parameters that are integers."""
    return tuple(p for p in func.params if isinstance(p, Var) and p.dtype.is_integer)


def chosen_sizes(before: PrimFunc, after: PrimFunc) -> tuple[int, ...]:
    """Return sizes below, at and above the factors of the loops and vectors of two versions, with
    those that leave a rest: where the tails of loops begin and end."""
    factors = sorted(_factors(before) | _factors(after))
    found = set(SMALLEST)
    for factor in [*factors[:1], *factors[-FACTORS + 1 :]]:
        found |= {factor - 1, factor, factor + 1, 2 * factor + 1}
    return tuple(sorted(found))


def _factors(func: PrimFunc) -> set[int]:
    """Return the numbers of iterations and lanes, and constants that occur beside them."""
    found: set[int] = set()
    for node in walk(func.body, (For, Const, Load, Store)):
        if isinstance(node, For):
            first, last = as_int(node.begin), as_int(node.end)
            number = last - first if first is not None and last is not None else 0
        elif isinstance(node, Const):
            number = node.value if node.dtype.is_integer else 0
        elif isinstance(node, Load):
            number = node.dtype.lanes
        else:
            number = node.value.dtype.lanes
        if 2 <= number <= LARGEST_FACTOR:
            found.add(int(number))
    return found


def assignments(names: tuple[Var, ...], sizes: tuple[int, ...]) -> Iterator[dict[Var, int]]:
    """Yield sizes for each variable: all the same, and then each a different one."""
    for size in sizes:
        yield dict.fromkeys(names, size)
    for shift in range(1, len(sizes) if len(names) > 1 else 0, 2):
        yield {
            name: sizes[(place * shift + shift) % len(sizes)] for place, name in enumerate(names)
        }
