"""Schedules for what nobody scheduled: chosen by the structure of loops and a machine's sizes."""

from irkit.autoschedule.attention import (
    AttentionTile as AttentionTile,
    attention_tile as attention_tile,
)
from irkit.autoschedule.auto_schedule import (
    ERRORS as ERRORS,
    INTERNAL as INTERNAL,
    Directions as Directions,
    Rule as Rule,
    auto_schedule as auto_schedule,
    automatic_schedule as automatic_schedule,
    directed_schedule as directed_schedule,
)
from irkit.autoschedule.epilogue import (
    epilogue_of as epilogue_of,
)
from irkit.autoschedule.inline import (
    inline_stages as inline_stages,
)
from irkit.autoschedule.machine import (
    GENERIC as GENERIC,
    Machine as Machine,
)
from irkit.autoschedule.pointwise import (
    CALLED as CALLED,
    COMPARED as COMPARED,
    STEP_CYCLES as STEP_CYCLES,
    row_works as row_works,
    schedule_pointwise as schedule_pointwise,
    stencil_rows as stencil_rows,
)
from irkit.autoschedule.products import (
    Dots as Dots,
    MatrixProduct as MatrixProduct,
    Panels as Panels,
    apply_plan as apply_plan,
    cycles_of as cycles_of,
    panel_width as panel_width,
    plan_of as plan_of,
    product_of as product_of,
    tiled_product as tiled_product,
)
from irkit.autoschedule.reductions import (
    apply_tile as apply_tile,
    merge_axes as merge_axes,
    schedule_reduction as schedule_reduction,
)
from irkit.autoschedule.rows import (
    is_contiguous as is_contiguous,
    reduce_in_lanes as reduce_in_lanes,
    row_axis_of as row_axis_of,
)
from irkit.autoschedule.scaled_products import (
    quantized_width as quantized_width,
)
from irkit.autoschedule.structure import (
    Estimates as Estimates,
    blocks_of as blocks_of,
    move_as_one as move_as_one,
    operations as operations,
    reduce_axes as reduce_axes,
    spatial_axes as spatial_axes,
)
from irkit.autoschedule.threads import (
    mark_parallel_at as mark_parallel_at,
)
from irkit.autoschedule.tiles import (
    Tile as Tile,
    is_merged as is_merged,
    own_loops as own_loops,
    tile_of as tile_of,
)
from irkit.autoschedule.transforms import (
    register_rows as register_rows,
    step_cycles as step_cycles,
)
