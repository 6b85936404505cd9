"""The graph pipeline, which runs on a model before its kernels reach phase 0."""

from irkit.graph import GRAPH_LEVEL
from irkit.passes.graph import (
    block_channels,
    eliminate_common_nodes,
    eliminate_dead_nodes,
    fold_batch_norm,
    fold_constants,
    fold_scales,
    fold_zero_points,
    fuse_ops,
    inline_functions,
    join_scales,
    lower_to_loops,
    move_transposes,
    multiply_dequantized,
    multiply_few_rows,
    outline_branches,
    pack_weights,
    plan_memory,
    simplify_graph,
    use_winograd,
)
from irkit.transform import Order, Phase, Pipeline

ORDER = (
    Order(
        "multiply-dequantized",
        "fold-zero-points",
        "it makes products of differences from zero points",
    ),
    Order(
        "multiply-dequantized",
        "fold-constants",
        "weights that are scaled by then can no longer be multiplied as integers",
    ),
    Order(
        "pack-weights",
        "fold-scales",
        "weights are packed by their own scales; what scales the result would be among them",
    ),
    Order(
        "multiply-dequantized",
        "move-transposes",
        "it moves them to before the scaling of bytes, not behind it",
    ),
    Order("fold-scales", "fold-constants", "it leaves arithmetic on weights"),
    Order("fold-scales", "join-scales", "what weights can take needs no operator"),
    Order("fold-batch-norm", "join-scales", "what weights can take needs no operator"),
    Order("pack-weights", "fold-constants", "weights that are scaled by then are packed no more"),
    Order("fold-zero-points", "fold-constants", "it leaves arithmetic on weights"),
    Order(
        "fold-batch-norm",
        "fold-constants",
        "folding a batch norm leaves arithmetic on weights, which are constants",
    ),
    Order(
        "fold-constants",
        "eliminate-common-nodes",
        "constants that are computed in two ways are alike only then",
    ),
    Order(
        "fold-constants",
        "multiply-few-rows",
        "weights are transposed by then: only what is transposed at each call is left",
    ),
    Order("fold-constants", "block-channels", "it packs filters that are constants by then"),
    Order("fold-batch-norm", "block-channels", "it scales filters in the plain layout"),
    Order("fold-scales", "block-channels", "it scales filters in the plain layout"),
    Order("block-channels", "use-winograd", "it transforms filters that are packed by then"),
    Order("use-winograd", "eliminate-dead-nodes", "it leaves the filters as they were"),
    Order("block-channels", "eliminate-dead-nodes", "it leaves the filters as they were"),
    Order("multiply-few-rows", "eliminate-dead-nodes", "it leaves transposes without users"),
    Order("inline-functions", "outline-branches", "a kernel takes no functions"),
    Order("outline-branches", "fuse-ops", "only operators of outermost bodies are fused"),
    Order("eliminate-common-nodes", "fuse-ops", "two operators in two groups are computed twice"),
    Order("fold-constants", "eliminate-dead-nodes", "folding leaves operands unused"),
    Order("eliminate-dead-nodes", "fuse-ops", "a value that a dead node reads would not be fused"),
    Order("fuse-ops", "lower-to-loops", "a group becomes one kernel"),
    Order("lower-to-loops", "plan-memory", "values inside a kernel need no memory of their own"),
)

GRAPH = Pipeline(
    GRAPH_LEVEL,
    (
        Phase(
            0,
            "graph",
            (
                simplify_graph,
                multiply_dequantized,
                fold_zero_points,
                pack_weights,
                move_transposes,
                fold_batch_norm,
                fold_scales,
                join_scales,
                fold_constants,
                multiply_few_rows,
                block_channels,
                use_winograd,
                eliminate_common_nodes,
                eliminate_dead_nodes,
            ),
        ),
        Phase(
            1,
            "kernels",
            (
                inline_functions,
                outline_branches,
                fuse_ops,
                lower_to_loops,
                plan_memory,
            ),
        ),
    ),
    ORDER,
)
