"""Bugs in graph passes, in what graphs mean, and in the memory of a model."""

from irkit.fuzz.bugs.planted import Planted

_GRAPH = "irkit.passes.graph."

GRAPH_PASSES = (
    Planted(
        "batch norm folded without its mean",
        _GRAPH + "fold_batch_norm",
        "((bias - mean) * factor + shift)",
        "(bias * factor + shift)",
        ("fold-batch-norm",),
        "CONVOLUTION",
    ),
    Planted(
        "batch norm scaled along the wrong axis",
        _GRAPH + "fold_batch_norm",
        "factor.reshape(-1, *(1,) * (weight.ndim - 1))",
        "factor.reshape(1, -1, *(1,) * (weight.ndim - 2))",
        ("fold-batch-norm",),
        "CONVOLUTION",
    ),
    Planted(
        "variance in place of standard deviation",
        _GRAPH + "fold_batch_norm",
        "scale / np.sqrt(var + attributes",
        "scale / (var + attributes",
        ("fold-batch-norm",),
        "CONVOLUTION",
    ),
    Planted(
        "a slice that reverses taken for nothing",
        _GRAPH + "simplify_graph",
        'if step.name == "slice" and any(stride < 0',
        'if step.name == "slice" and any(stride == 0',
        ("simplify-graph",),
        "LONG_LIVED",
    ),
    Planted(
        "a transpose of a square taken for nothing",
        _GRAPH + "simplify_graph",
        "return step.args[0] if axes == tuple(range(len(axes))) else None",
        "return step.args[0]",
        ("simplify-graph",),
        "SQUARE",
    ),
    Planted(
        "the wrong item of a tuple",
        _GRAPH + "simplify_graph",
        "source.items[step.index] if",
        "source.items[-1 - step.index] if",
        ("simplify-graph",),
        "LONG_LIVED",
    ),
    Planted(
        "constants folded with their operands exchanged",
        _GRAPH + "fold_constants",
        "[known[arg].array for arg in step.args]",
        "[known[arg].array for arg in reversed(step.args)]",
        ("fold-constants",),
        "CONSTANTS",
    ),
    Planted(
        "operands of bodies inside taken for dead",
        _GRAPH + "eliminate_dead_nodes",
        "            waiting += operands(step)\n",
        "            waiting += operands(step)[:1]\n",
        ("eliminate-dead-nodes",),
        "BRANCHING",
    ),
    Planted(
        "a group applied where its first operator stood",
        _GRAPH + "fuse_ops",
        "            elif bind.var is members[-1]:\n",
        "            elif bind.var is members[0]:\n",
        ("fuse-ops",),
        "DIAMOND",
    ),
    Planted(
        "a group whose parameters are taken in another order",
        _GRAPH + "fuse_ops",
        "Apply(function, tuple(args))",
        "Apply(function, tuple(reversed(args)))",
        ("fuse-ops",),
        "BRANCHING",
    ),
    Planted(
        "a constant inside of a kernel taken for 1",
        _GRAPH + "lower_to_loops",
        "full(step.data.shape, array.reshape(()).item(), from_numpy",
        "full(step.data.shape, 1, from_numpy",
        ("lower-to-loops",),
        "BRANCHING",
    ),
    Planted(
        "a kernel called with its arguments exchanged",
        _GRAPH + "lower_to_loops",
        "tuple(unique))\n",
        "tuple(reversed(unique)))\n",
        ("lower-to-loops",),
        "PRODUCTS",
    ),
    Planted(
        "memory reused while it is still live",
        "irkit.graph.memory",
        "(used[0] <= last) & (used[1] >= first)",
        "(used[0] <= last) & (used[1] > first)",
        ("plan-memory",),
        "LONG_LIVED",
    ),
    Planted(
        "a tuple that does not keep its items alive",
        "irkit.graph.memory",
        "return tuple(life for item in step.items for life in owned[item])",
        "return ()",
        ("plan-memory",),
        "TUPLE_KEEPS",
    ),
    Planted(
        "a slot smaller than its tensor",
        "irkit.graph.memory",
        "count *= number",
        "count = max(count, number)",
        ("plan-memory",),
        "LONG_LIVED",
    ),
)

GRAPH_MEANING = (
    Planted(
        "the other side of a branch",
        "irkit.graph.interp",
        "then if bool(scope[cond]) else otherwise",
        "otherwise if bool(scope[cond]) else then",
        ("interpreter",),
        "",
    ),
    Planted(
        "a nested let named after what it computes from",
        "irkit.graph.flow",
        "renamed[inner.result] = bind.var",
        "renamed[bind.var] = inner.bindings[0].var",
        ("simplify-graph", "fold-batch-norm"),
        "",
    ),
)
"""Bugs that only graphs with branches, functions and nested lets show, which are drawn."""
