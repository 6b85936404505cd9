"""Choose a few plans for a product whose number of rows is not constant, and when to use which.

The cycles of a plan are its cycles for one row of tiles, times the rows of tiles that cover the
result, and some more. So which of a few plans is best is compared when the function runs, and any
of them is correct for any number of rows.
"""

import math

import msgspec

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.products.plan import Dots, Panels, cycles_of, plan_of
from irkit.autoschedule.products.recognise import MatrixProduct, product_of
from irkit.autoschedule.structure import Estimates, spatial_axes
from irkit.ir import Block, Expr, Var, const, le, logical_and

_PLANNED = (1, 2, 4, 8, 14, 512)
"""Numbers of rows that plans are made for."""
_TRIED = (*[1] * 8, *range(1, 33), *(round(33 * 1.13**n) for n in range(24)))
"""Numbers of rows that plans are compared at; one row is the most common."""
_MOST = 4
_WORTH = 1.02
"""How much faster on average another plan has to make the numbers of rows."""
_PRECISION = 1 << 10


class Variant(msgspec.Struct, frozen=True):
    """A plan: what sizes it is made for, and its ``cycles`` for one row of tiles of so many
    ``rows``, beside the cycles ``once``."""

    estimates: Estimates
    rows: int
    once: float
    cycles: float

    def at(self, rows: int) -> float:
        return self.once + self.cycles * -(-rows // self.rows)

    def cost(self, rows: Var, unit: float) -> Expr:
        tiles = rows if self.rows == 1 else (rows + (self.rows - 1)) // self.rows
        total = tiles * const(max(1, round(self.cycles / unit)), rows.dtype)
        once = round(self.once / unit)
        return total + once if once else total


def variants_of(
    block: Block, machine: Machine, estimates: Estimates
) -> tuple[list[Estimates], list[Expr]]:
    """Return the sizes to plan a product for, and the conditions for all of them but the last; a
    single one if the number of rows is constant."""
    product = product_of(block, estimates)
    rows = None if product is None or product.rows is None else product.rows.extent
    if product is None or not isinstance(rows, Var):
        return [estimates], []
    kept = {axis.extent for axis in (product.columns, product.steps)}
    others = [
        axis.extent
        for axis in spatial_axes(block)
        if isinstance(axis.extent, Var) and axis.extent not in kept
    ]
    found: dict[tuple[bool, Panels | Dots], Variant] = {}
    for count in _PLANNED:
        # No other axis may look longer, or the plan would be for rows along that one.
        sizes = {**estimates, **dict.fromkeys(others, count), rows: count}
        choice = plan_of(msgspec.structs.replace(product, estimates=sizes), machine)
        if choice is not None:
            plan = msgspec.structs.replace(choice[1], cycles=0.0)
            found.setdefault((choice[0].is_turned, plan), _variant(choice[0], machine, plan, rows))
    if not found:
        return [estimates], []
    chosen = _few(list(found.values()))
    return [each.estimates for each in chosen], _conditions(chosen, rows)


def _variant(product: MatrixProduct, machine: Machine, plan: Panels | Dots, rows: Var) -> Variant:
    """Take the cycles of a plan at two and at three rows of tiles."""
    is_turned = isinstance(plan, Panels) and product.is_turned
    tile = plan.columns if is_turned else plan.rows

    def at(tiles: int) -> float:
        sizes = {**product.estimates, rows: tiles * tile}
        return cycles_of(msgspec.structs.replace(product, estimates=sizes), machine, plan)

    cycles = at(3) - at(2)
    return Variant(product.estimates, tile, max(0.0, at(2) - 2 * cycles), cycles)


def _few(found: list[Variant]) -> list[Variant]:
    """Choose the variants that together are the fastest, while one more is worth its code."""
    best = [min(each.at(rows) for each in found) for rows in _TRIED]

    def slowness(chosen: list[Variant]) -> float:
        """Return how many times slower than with all variants, on geometric average."""
        ratios = [
            min(each.at(rows) for each in chosen) / least
            for rows, least in zip(_TRIED, best, strict=True)
        ]
        return math.exp(sum(map(math.log, ratios)) / len(ratios))

    chosen: list[Variant] = []
    now = math.inf
    while len(chosen) < min(_MOST, len(found)):
        rest = [each for each in found if each not in chosen]
        added = min(rest, key=lambda each: slowness([*chosen, each]))
        then = slowness([*chosen, added])
        if then * _WORTH > now:
            break
        chosen.append(added)
        now = then
    return sorted(chosen, key=lambda each: each.rows)


def _conditions(chosen: list[Variant], rows: Var) -> list[Expr]:
    """Return, for all variants but the last, that none of the later ones takes fewer cycles."""
    if len(chosen) < 2:
        return []
    unit = max(each.cycles for each in chosen) / _PRECISION
    costs = [each.cost(rows, unit) for each in chosen]
    return [
        logical_and(*(le(cost, other) for other in costs[at + 1 :]))
        for at, cost in enumerate(costs[:-1])
    ]
