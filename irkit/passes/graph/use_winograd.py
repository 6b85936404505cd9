"""Compute convolutions with filters of 3 x 3 by Winograd's tiles, where fewer multiplications pay.

Before, with ``percent=1000, fewest=1``::

    def main(x: f32[1, 1, 6, 6, 1]):
        w: f32[1, 1, 3, 3, 1, 1] = constant([0.0, 4.0, 0.0, 4.0, -16.0, 4.0, 0.0, 4.0, 0.0])
        y: f32[1, 1, 4, 4, 1] = conv_blocked(x, w)
        return y

After::

    def main(x: f32[1, 1, 6, 6, 1]):
        w: f32[1, 1, 3, 3, 1, 1] = constant([0.0, 4.0, 0.0, 4.0, -16.0, 4.0, 0.0, 4.0, 0.0])
        y_filters: f32[1, 4, 4, 1, 1, 1, 1, 1] = constant([0.0, 2.0, -2.0, 0.0, 2.0, 0.0, 4.0, 2.0, -2.0, 4.0, -8.0, -2.0, 0.0, 2.0, -2.0, 0.0])
        y: f32[1, 1, 4, 4, 1] = conv_winograd(x, y_filters, tile=2, rows=2, pads=(0, 0, 0, 0))
        return y

Tiles of 2 x 2 results, F(2x2, 3x3), are as exact as sums of products are. Tiles of 4 x 4, F(4x4,
3x3), are not: they are used only up to a tolerance that the user states.
"""  # noqa: E501 -- the text of a transformed filter is one line

from math import sqrt
from typing import Any

import numpy as np

from irkit.autoschedule import Machine
from irkit.core import remark
from irkit.graph import (
    Array,
    GraphFunc,
    Match,
    Replacement,
    Value,
    apply_rules,
    attributes,
    dtype_of_value,
    either,
    extents_of,
    graph_rule,
    hole,
    known,
    op,
    winograd_filters,
)
from irkit.ir import F32
from irkit.passes.graph.support.convolution_cycles import (
    ConvolutionSize,
    WinogradPlan,
    direct_cycles,
    winograd_plan,
)
from irkit.transform import define_pass

_ERROR = 1e-6
"""The error of tiles of 4 x 4 for sums of one product, as a part of the largest result: it grows
with the root of the number of products."""


@define_pass(idempotent=True, changes_rounding=True)
def use_winograd(
    func: GraphFunc,
    *,
    vector_bytes: int = 64,
    machine: tuple[tuple[str, Any], ...] = (),
    percent: int = 95,
    fewest: int = 8,
    tolerance: float = 0.0,
) -> GraphFunc:
    """Replace convolutions in blocks of channels with constant filters of 3 x 3, stride 1, by
    Winograd's, where a table of costs gives it at most ``percent`` of the direct form's cycles.

    Fewer channels than ``fewest`` are left as they are: there, sums of products are more exact than
    tiles. ``tolerance`` is the error, as a part of the largest result of a convolution, up to which
    tiles of 4 x 4 may be used. ``vector_bytes`` and ``machine`` are those of ``lower_to_loops``.
    """
    chosen = Machine.with_vectors(vector_bytes).having(machine)

    def tiles(b: Replacement, m: Match) -> Value | None:
        size = _size(m, fewest) if m.facts.uses[m.root.var] else None  # What is dead is left alone.
        return None if size is None else _tiles(b, m, _choice(m, size, chosen, percent, tolerance))

    rule = graph_rule("use-winograd", _CONV, tiles, shared=True)
    return apply_rules(func, "use-winograd", [rule])


def tile_error(products: int) -> float:
    """Return the error that is expected of tiles of 4 x 4 for sums of so many products, as a part
    of the largest result."""
    return _ERROR * sqrt(products)


def _is_3x3(array: Array) -> bool:
    return array.ndim == 6 and array.shape[2:4] == (3, 3)


_WEIGHTS = known("w", _is_3x3)
_CONV = either(
    op("conv_blocked", hole("x"), _WEIGHTS, hole("bias"), name="conv"),
    op("conv_blocked", hole("x"), _WEIGHTS, name="conv"),
)


def _size(m: Match, fewest: int) -> ConvolutionSize | None:
    """Return the sizes of a convolution that tiles can compute; None for another one.

    A number of images that is not known counts as 1.
    """
    options = attributes(m.op("conv"))
    made, given = extents_of(m.root.var), extents_of(m["x"])
    used = np.count_nonzero(m.array("w").any(axis=(0, 2, 3, 5)))
    if used < fewest or {*options.ints("strides"), *options.ints("dilations")} != {1}:
        return None
    if dtype_of_value(m["x"]) != F32 or len(given) != 5:
        return None
    sizes = [extent for extent in (*made[1:], *given[1:]) if extent is not None]
    if len(sizes) != 8:
        return None
    filters, high, wide, lanes, blocks, _, _, inner = sizes
    return ConvolutionSize(made[0] or 1, high, wide, blocks, inner, filters, lanes)


def _choice(
    m: Match, size: ConvolutionSize, machine: Machine, percent: int, tolerance: float
) -> WinogradPlan | None:
    """Return the best plan, if it takes few enough cycles; a remark says how many."""
    direct = direct_cycles(size, machine)
    plans = [winograd_plan(size, 2, machine)]
    if tile_error(9 * size.channels) <= tolerance:
        plans.append(winograd_plan(size, 4, machine))
    best = min(plans, key=lambda plan: plan.cycles)
    text = f"{m.root.var.name}: Winograd F{best.tile}: {best.cycles / direct:.2f} of direct"
    text += f" by the table, weights {(best.tile + 2) ** 2 / 9:.1f} times"
    pays = best.cycles * 100 <= percent * direct
    remark(m.root, text if pays else f"{text}: left as it is")
    return best if pays else None


def _tiles(b: Replacement, m: Match, plan: WinogradPlan | None) -> Value | None:
    if plan is None:
        return None
    filters = winograd_filters(m.array("w"), plan.tile, plan.panels, plan.vectors)
    args = [m["x"], b.constant(filters, name="filters")]
    if "bias" in m:
        args.append(m["bias"])
    pads = attributes(m.op("conv")).ints("pads")
    return b.op("conv_winograd", *args, tile=plan.tile, rows=plan.rows, pads=pads)
