"""The rule for products: recognise, plan, apply."""

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.products.panels import apply_panels
from irkit.autoschedule.products.plan import panels_of
from irkit.autoschedule.products.recognise import product_of
from irkit.ir import Block
from irkit.schedule import Schedule

_FEWEST = 4
"""Columns that are worth vectors."""


def schedule_product(sch: Schedule, block: Block, machine: Machine) -> None:
    """Schedule a block that multiplies matrices; leave any other as it is."""
    product = product_of(block)
    if product is None or product.sizes[1] < _FEWEST:
        return
    apply_panels(sch, product, panels_of(product, machine))
