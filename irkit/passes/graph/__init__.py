"""Passes over graph functions, one a file; each file opens with an example of what the pass does.

Reading order, that of the phases: inline_functions, simplify_graph; multiply_dequantized,
fold_zero_points, pack_weights; move_transposes, fold_batch_norm, fold_scales, join_scales,
fold_constants; pack_panels, multiply_few_rows, fuse_attention, block_channels, use_winograd,
eliminate_common_nodes, eliminate_dead_nodes; outline_branches, fuse_ops, lower_to_loops,
plan_memory.
"""

from irkit.passes.graph.block_channels import (
    block_channels as block_channels,
)
from irkit.passes.graph.eliminate_common_nodes import (
    eliminate_common_nodes as eliminate_common_nodes,
)
from irkit.passes.graph.eliminate_dead_nodes import (
    eliminate_dead_nodes as eliminate_dead_nodes,
)
from irkit.passes.graph.fold_batch_norm import (
    fold_batch_norm as fold_batch_norm,
)
from irkit.passes.graph.fold_constants import (
    fold_constants as fold_constants,
)
from irkit.passes.graph.fold_scales import (
    fold_scales as fold_scales,
)
from irkit.passes.graph.fold_zero_points import (
    fold_zero_points as fold_zero_points,
)
from irkit.passes.graph.fuse_attention import (
    fuse_attention as fuse_attention,
)
from irkit.passes.graph.fuse_ops import (
    fuse_ops as fuse_ops,
)
from irkit.passes.graph.inline_functions import (
    inline_functions as inline_functions,
)
from irkit.passes.graph.join_scales import (
    join_scales as join_scales,
)
from irkit.passes.graph.lower_to_loops import (
    lower_to_loops as lower_to_loops,
)
from irkit.passes.graph.move_transposes import (
    move_transposes as move_transposes,
)
from irkit.passes.graph.multiply_dequantized import (
    multiply_dequantized as multiply_dequantized,
)
from irkit.passes.graph.multiply_few_rows import (
    multiply_few_rows as multiply_few_rows,
)
from irkit.passes.graph.outline_branches import (
    outline_branches as outline_branches,
)
from irkit.passes.graph.pack_panels import (
    pack_panels as pack_panels,
)
from irkit.passes.graph.pack_weights import (
    pack_weights as pack_weights,
)
from irkit.passes.graph.plan_memory import (
    plan_memory as plan_memory,
)
from irkit.passes.graph.simplify_graph import (
    simplify_graph as simplify_graph,
)
from irkit.passes.graph.support.operator_groups import (
    OperatorGroup as OperatorGroup,
    grouped as grouped,
)
from irkit.passes.graph.use_winograd import (
    use_winograd as use_winograd,
)
