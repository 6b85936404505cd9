"""Sketches of products of matrices: the plans of the automatic schedule, any of them."""

import math
from typing import Any

import msgspec

from irkit.autoschedule import (
    Dots,
    Estimates,
    Machine,
    MatrixProduct,
    Panels,
    Rule,
    apply_plan,
    cycles_of,
    plan_of,
    product_of,
)
from irkit.core import ScheduleError
from irkit.ir import Block, as_int
from irkit.schedule import BlockRef, LoopRef, Schedule
from irkit.tune.space.sketch import Draws, Knobs, Setting
from irkit.tune.space.strips import STRIPS, strip_loop

_ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28)
_VECTORS = (1, 2, 3, 4, 5, 6, 8, 12)
_FLAGS = ("packed", "stacked", "by_rows", "cut")
_SELDOM = {"cut": 0.5, "strip": 0.5}
"""Chance that such a knob keeps the value that does nothing."""
_DEEP = (256, 512, 1024, 2048)
"""Steps that a block of steps has at most."""


class PanelSketch(msgspec.Struct, frozen=True, eq=False):
    """A tile of rows by vectors of columns, with columns or rows packed or not, all steps at once
    or in blocks of ``deep`` steps."""

    product: MatrixProduct
    machine: Machine
    ways: tuple[MatrixProduct, ...]
    choices: dict[str, tuple[Any, ...]]
    first: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        return "panels"

    @property
    def knobs(self) -> Knobs:
        return self.choices

    @property
    def start(self) -> Setting | None:
        return self.first

    @property
    def draws(self) -> Draws:
        packed = int(not self.product.wide.is_contiguous_along(self.product.columns))
        plain = {"packed": packed, "lanes": max(self.choices["lanes"])}
        return Draws(plain, (("packed", "turned", "deep"),), _SELDOM)

    def plan(self, setting: Setting) -> tuple[MatrixProduct, Panels]:
        """Return the product, perhaps turned, and its plan."""
        flags = {key: bool(setting[key]) for key in _FLAGS}
        lanes = int(setting["lanes"])
        way = self.ways[int(setting["turned"])]
        rows, vectors, deep = (int(setting[key]) for key in ("rows", "vectors", "deep"))
        return way, Panels(rows, vectors, lanes, **flags, deep=deep)

    def allows(self, setting: Setting) -> bool:
        way, plan = self.plan(setting)
        rows, columns, steps = way.sizes
        packs = plan.packed or not way.wide.is_contiguous_along(way.columns)
        shared = way.tall.load.buffer is way.wide.load.buffer
        return (
            plan.rows <= rows
            and (plan.vectors - 1) * plan.lanes < columns
            and plan.rows * plan.vectors + plan.vectors < self.machine.vector_registers
            and plan.packed == packs
            and not (shared and (plan.packed or plan.stacked))
            and not (plan.by_rows and (way.is_turned or rows == 1))
            and not (plan.stacked and way.rows is None)
            and not (plan.cut and columns % plan.columns == 0)
            and steps % int(setting["unroll"]) == 0
            and self._has_strip(way, plan, int(setting["strip"]))
            and (not plan.deep or self._has_blocks(way, plan, setting))
        )

    def _has_blocks(self, way: MatrixProduct, plan: Panels, setting: Setting) -> bool:
        """Return True if the steps of a plan can be cut into blocks."""
        others = plan.by_rows or plan.cut or setting["strip"] != 1 or setting["unroll"] != 1
        return plan.packed and way.rows is not None and not others

    def _has_strip(self, way: MatrixProduct, plan: Panels, tiles: int) -> bool:
        """Return True if a strip divides the outer loop, and nothing is packed inside of it."""
        rows, columns, _ = way.sizes
        whole = -(-rows // plan.rows) if plan.by_rows else -(-columns // plan.columns)
        free = plan.by_rows or not plan.packed
        exact = way.rows is not None and rows % plan.rows == 0 and whole % tiles == 0
        return tiles == 1 or (free and exact)

    def cycles(self, setting: Setting) -> float:
        way, plan = self.plan(setting)
        return batch_of(self.product) * cycles_of(way, self.machine, plan)

    def rule(self, setting: Setting) -> Rule:
        def panels(sch: Schedule, block: Block, machine: Machine, estimates: Estimates) -> None:
            product = product_of(block, estimates)
            way = product.turned() if product is not None and setting["turned"] else product
            if way is None:
                raise ScheduleError(f"block {block.name!r} is not such a product")
            plan = self.plan(setting)[1]
            apply_plan(sch, way, plan)
            if plan.deep:
                return
            ref = BlockRef(block.name)
            step = loop_of(sch, ref, way.steps.var.name)
            loops = [loop.var for loop in sch.get_loops(ref)]
            outer = sch.get_loops(ref)[: loops.index(step.var)]
            strip_loop(sch, outer, len(outer) - 2, int(setting["strip"]))
            if int(setting["unroll"]) > 1:
                _, inner = sch.split(step, [None, int(setting["unroll"])])
                sch.unroll(inner)

        return panels


class DotSketch(msgspec.Struct, frozen=True, eq=False):
    """A tile of dot products, with lanes along the steps."""

    product: MatrixProduct
    machine: Machine
    lanes: int
    first: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        return "dots"

    @property
    def knobs(self) -> Knobs:
        return {
            "rows": (1, 2, 3, 4, 5, 6, 8),
            "columns": (1, 2, 3, 4, 6, 8),
            "unroll": (1, 2, 4, 8),
        }

    @property
    def start(self) -> Setting | None:
        return self.first

    @property
    def draws(self) -> Draws:
        return Draws()

    def plan(self, setting: Setting) -> Dots:
        """Return the plan of a setting."""
        rows, columns, unroll = (int(setting[key]) for key in ("rows", "columns", "unroll"))
        return Dots(rows, columns, unroll, self.lanes)

    def allows(self, setting: Setting) -> bool:
        plan, (rows, columns, steps) = self.plan(setting), self.product.sizes
        sums = plan.rows * plan.columns * plan.unroll
        used = sums + (min(plan.rows, plan.columns) + 1) * plan.unroll
        fits = plan.rows <= rows and plan.columns <= columns and plan.width <= max(steps, 1)
        return fits and sums <= 32 and used < self.machine.vector_registers

    def cycles(self, setting: Setting) -> float:
        return batch_of(self.product) * cycles_of(self.product, self.machine, self.plan(setting))

    def rule(self, setting: Setting) -> Rule:
        def dots(sch: Schedule, block: Block, machine: Machine, estimates: Estimates) -> None:
            product = product_of(block, estimates)
            if product is None:
                raise ScheduleError(f"block {block.name!r} is not such a product")
            apply_plan(sch, product, self.plan(setting))

        return dots


def product_sketches(block: Block, machine: Machine) -> list[PanelSketch | DotSketch]:
    """Return the sketches of a block; none if it is no product of constant size."""
    product = product_of(block, {})
    if product is None or product.is_open:
        return []
    turned = product.turned()
    ways = (product,) if turned is None else (product, turned)
    lanes = max(1, machine.vector_bytes // product.store.buffer.dtype.bytes)
    longest = max(max(way.sizes[1] for way in ways), 1)
    lanes = min(lanes, 1 << (longest - 1).bit_length())
    rows = max(way.sizes[0] for way in ways)
    starts = _starts(product, machine)
    choices: dict[str, tuple[Any, ...]] = {
        "turned": tuple(range(len(ways))),
        "rows": tuple(each for each in _ROWS if each <= rows),
        "vectors": tuple(each for each in _VECTORS if (each - 1) * lanes < longest),
        "lanes": tuple(sorted({lanes, max(1, lanes // 2)})),
        "packed": (0, 1),
        "stacked": (0, 1),
        "by_rows": (0, 1),
        "cut": (0, 1),
        "deep": _depths(product, starts),
        "unroll": (1, 2, 4),
        "strip": STRIPS,
    }
    panels, dots = starts
    found: list[PanelSketch | DotSketch] = [PanelSketch(product, machine, ways, choices, panels)]
    if product.sizes[2] >= lanes > 1:
        found.append(DotSketch(product, machine, lanes, dots))
    return found


def _depths(
    product: MatrixProduct, starts: tuple[dict[str, Any] | None, object]
) -> tuple[int, ...]:
    """List how many steps blocks have, which are about equal: 0 for all, some, and the default."""
    steps = product.sizes[2]
    blocks = [-(-steps // size) for size in _DEEP if size < steps]
    default = starts[0]["deep"] if starts[0] else 0
    return tuple(sorted({0, default, *(-(-steps // count) for count in blocks)}))


def _starts(
    product: MatrixProduct, machine: Machine
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the plan of the automatic schedule as a setting of panels, or of dots."""
    choice = plan_of(product, machine)
    if choice is None:
        return None, None
    way, plan = choice
    if isinstance(plan, Dots):
        return None, {key: getattr(plan, key) for key in ("rows", "columns", "unroll")}
    flags = {key: int(getattr(plan, key)) for key in _FLAGS}
    sizes = {key: getattr(plan, key) for key in ("rows", "vectors", "lanes", "deep")}
    return {"turned": int(way is not product), **sizes, **flags, "unroll": 1, "strip": 1}, None


def batch_of(product: MatrixProduct) -> float:
    """Return how many products of matrices a block computes: its other axes."""
    points = math.prod(as_int(axis.extent) or 1 for axis in product.block.axes)
    return points / math.prod(product.sizes)


def loop_of(sch: Schedule, ref: BlockRef, axis: str) -> LoopRef:
    """Return the loop of an axis. Raises: ScheduleError if it has not one of its own."""
    binding = next(each.binding for each in sch.get(ref).axes if each.var.name == axis)
    loop = next((each for each in sch.get_loops(ref) if each.var is binding), None)
    if loop is None:
        raise ScheduleError(f"axis {axis!r} of block {ref.name!r} is not a loop of its own")
    return loop
