"""The rule for products: recognise, plan, apply."""

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.products.dots import apply_dots
from irkit.autoschedule.products.panels import apply_panels
from irkit.autoschedule.products.plan import Dots, Panels, plan_of
from irkit.autoschedule.products.recognise import MatrixProduct, product_of
from irkit.autoschedule.structure import Estimates
from irkit.ir import Block
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


def apply_plan(sch: Schedule, product: MatrixProduct, plan: Panels | Dots) -> None:
    """Schedule a product by a plan."""
    if isinstance(plan, Dots):
        apply_dots(sch, product, plan)
    else:
        apply_panels(sch, product, plan)
