"""The rule for products: recognise, plan, apply."""

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.products.deep_panels import apply_deep_panels
from irkit.autoschedule.products.dots import apply_dots
from irkit.autoschedule.products.panels import apply_panels
from irkit.autoschedule.products.plan import Dots, Panels, plan_of
from irkit.autoschedule.products.recognise import MatrixProduct, product_of
from irkit.autoschedule.structure import Estimates
from irkit.core import ScheduleError, walk
from irkit.ir import Block, PrimFunc
from irkit.schedule import Schedule


def schedule_product(sch: Schedule, block: Block, machine: Machine, estimates: Estimates) -> None:
    """Schedule a block that multiplies matrices; leave any other as it is."""
    product = product_of(block, estimates)
    choice = None if product is None else plan_of(product, machine)
    if choice is None:
        return
    product, plan = choice
    if isinstance(plan, Dots) and product.has_open_steps:
        return  # A matrix times a vector, in rows of any length: another rule's.
    apply_plan(sch, product, plan)


def tiled_product(func: PrimFunc, rows: int, vectors: int, machine: Machine) -> PrimFunc:
    """Schedule a function that is one product with a given tile, and nothing packed: for
    measurements.

    Raises: ScheduleError if it is no such function.
    """
    sch = Schedule(func, check="off")
    blocks = [each for each in walk(func, on=Block) if each.init is not None]
    product = product_of(blocks[0], {}) if len(blocks) == 1 else None
    if product is None:
        raise ScheduleError(f"{func.name} is not one product of matrices")
    lanes = max(1, machine.vector_bytes // product.store.buffer.dtype.bytes)
    apply_panels(sch, product, Panels(rows, vectors, lanes, packed=False))
    return sch.func


def apply_plan(sch: Schedule, product: MatrixProduct, plan: Panels | Dots) -> None:
    """Schedule a product by a plan."""
    if isinstance(plan, Dots):
        apply_dots(sch, product, plan)
    elif plan.deep:
        apply_deep_panels(sch, product, plan)
    else:
        apply_panels(sch, product, plan)
