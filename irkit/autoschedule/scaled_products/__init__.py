"""Products whose weights are unpacked in registers, and whose blocks of steps are scaled.

Reading order: recognise (two sums, one of the other), plan (a tile, by closed formulas),
schedule_scaled (a plan as schedule primitives).
"""

from irkit.autoschedule.scaled_products.plan import (
    ScaledPlan as ScaledPlan,
    quantized_width as quantized_width,
    scaled_plan as scaled_plan,
    scaled_sizes as scaled_sizes,
)
from irkit.autoschedule.scaled_products.recognise import (
    ScaledProduct as ScaledProduct,
    scaled_product_of as scaled_product_of,
)
from irkit.autoschedule.scaled_products.schedule_scaled import (
    schedule_scaled_product as schedule_scaled_product,
)
