"""The graph pipeline, which runs on a model before its kernels reach phase 0."""

from irkit.graph import GRAPH_LEVEL
from irkit.passes.graph import (
    eliminate_common_nodes,
    eliminate_dead_nodes,
    fold_batch_norm,
    fold_constants,
    fold_scales,
    fold_zero_points,
    fuse_ops,
    inline_functions,
    lower_to_loops,
    move_transposes,
    multiply_dequantized,
    multiply_few_rows,
    outline_branches,
    pack_panels,
    pack_weights,
    plan_memory,
    simplify_graph,
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
    Order("multiply-few-rows", "eliminate-dead-nodes", "it leaves transposes without users"),
    Order("fold-constants", "pack-panels", "a matrix must be constant"),
    Order(
        "pack-panels",
        "multiply-few-rows",
        "a large constant is still transposed by then, and needs no other product",
    ),
    Order("pack-panels", "eliminate-common-nodes", "a matrix of two products is packed twice"),
    Order("pack-panels", "eliminate-dead-nodes", "it leaves the matrix as it was"),
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
                fold_constants,
                # For a machine that is not known here: `for_machine` sets its vectors.
                pack_panels.using(vector_bytes=0),
                multiply_few_rows,
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
