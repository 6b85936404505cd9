"""Products between two transforms, such as those of Winograd's convolution.

Reading order: recognise (the stages that belong together), register_rows (the tile of a product),
loops (the schedule).
"""

from irkit.autoschedule.transforms.loops import (
    schedule_transformed_product as schedule_transformed_product,
)
from irkit.autoschedule.transforms.recognise import (
    TransformedProduct as TransformedProduct,
    is_read_alike as is_read_alike,
    stages_of_transforms as stages_of_transforms,
    transformed_product_of as transformed_product_of,
)
from irkit.autoschedule.transforms.register_rows import (
    register_rows as register_rows,
    step_cycles as step_cycles,
)
