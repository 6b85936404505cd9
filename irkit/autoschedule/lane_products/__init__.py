"""Sums of products whose vectors all come from one operand, which is packed for them already.

Reading order: recognise (the axes, by which operand they move), plan (a tile, by closed formulas),
schedule_lanes (a plan as schedule primitives).
"""

from irkit.autoschedule.lane_products.plan import (
    LanePlan as LanePlan,
    lane_plan as lane_plan,
)
from irkit.autoschedule.lane_products.recognise import (
    LaneProduct as LaneProduct,
    lane_product_of as lane_product_of,
)
from irkit.autoschedule.lane_products.schedule_lanes import (
    schedule_lanes as schedule_lanes,
)
