"""Products of matrices: sums of products over one axis, in any order of indices, with batches.

Reading order: recognise (which loops are a product), plan (the sizes of tiles and panels, by closed
formulas), variants (a few plans for a number of rows that is not constant), packed_operands and
marks (what plans share), panels, deep_panels and dots (a plan as schedule primitives),
schedule_product; panel_width (how to lay out a matrix for a plan).
"""

from irkit.autoschedule.products.panel_width import (
    panel_width as panel_width,
)
from irkit.autoschedule.products.plan import (
    Dots as Dots,
    Panels as Panels,
    cycles_of as cycles_of,
    plan_of as plan_of,
)
from irkit.autoschedule.products.recognise import (
    MatrixProduct as MatrixProduct,
    product_of as product_of,
)
from irkit.autoschedule.products.schedule_product import (
    apply_plan as apply_plan,
    schedule_product as schedule_product,
    tiled_product as tiled_product,
)
from irkit.autoschedule.products.variants import (
    variants_of as variants_of,
)
