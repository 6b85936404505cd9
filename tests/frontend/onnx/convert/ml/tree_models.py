"""Trees drawn at random, as nodes of ai.onnx.ml, and what they compute, row by row."""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import onnx
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import helper

COMPARE: dict[str, Callable[[float, float], bool]] = {
    "BRANCH_LEQ": operator.le,
    "BRANCH_LT": operator.lt,
    "BRANCH_GTE": operator.ge,
    "BRANCH_GT": operator.gt,
    "BRANCH_EQ": operator.eq,
    "BRANCH_NEQ": operator.ne,
}
FEATURES = 3
VALUES = (-1.0, 0.0, 0.5, 2.0)


class Leaf(msgspec.Struct):
    """Weights, each of a target."""

    weights: list[tuple[int, float]]


class Split(msgspec.Struct):
    """A test of a feature; rows without a value go ``missing``."""

    mode: str
    feature: int
    threshold: float
    missing: bool
    true: "Tree"
    false: "Tree"


Tree = Leaf | Split


def trees(targets: int, *, deepest: int = 3, modes: Sequence[str] = tuple(COMPARE)) -> Any:
    """Draw a tree; thresholds are among the values of the rows, so that equal ones meet."""
    weight = st.tuples(st.integers(0, targets - 1), st.sampled_from((-2.0, -0.25, 0.5, 1.0)))
    drawn: Any = st.builds(Leaf, st.lists(weight, min_size=0, max_size=3))
    for _ in range(deepest):
        drawn = st.one_of(
            drawn,
            st.builds(
                Split,
                st.sampled_from(modes),
                st.integers(0, FEATURES - 1),
                st.sampled_from(VALUES),
                st.booleans(),
                drawn,
                drawn,
            ),
        )
    return drawn


def leaf_of(tree: Tree, row: Sequence[float]) -> Leaf:
    while isinstance(tree, Split):
        value = row[tree.feature]
        goes = tree.missing if math.isnan(value) else COMPARE[tree.mode](value, tree.threshold)
        tree = tree.true if goes else tree.false
    return tree


def totals(forest: Sequence[Tree], x: NDArray[Any], targets: int, how: str) -> NDArray[np.float64]:
    """Combine the weights of the leaves that each row reaches; 0 where a target has none."""
    found = np.zeros((len(x), targets))
    for at, row in enumerate(x.tolist()):
        given: list[list[float]] = [[] for _ in range(targets)]
        for tree in forest:
            for target, weight in leaf_of(tree, row).weights:
                given[target].append(weight)
        for target, weights in enumerate(given):
            if how == "MIN":
                found[at, target] = min(weights, default=0.0)
            elif how == "MAX":
                found[at, target] = max(weights, default=0.0)
            else:
                found[at, target] = sum(weights) / (len(forest) if how == "AVERAGE" else 1)
    return found


def attributes(forest: Sequence[Tree], of: str) -> dict[str, Any]:
    """Return the attributes of the forest, in the form of versions 1 and 3."""
    found: dict[str, list[Any]] = {
        f"nodes_{name}": []
        for name in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids")
    }
    found |= {"nodes_falsenodeids": [], "nodes_missing_value_tracks_true": []}
    found |= {f"{of}_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
    for number, root in enumerate(forest):
        order: list[Tree] = [root]
        for node, tree in enumerate(order):  # It grows, so children come after their parents.
            split = tree if isinstance(tree, Split) else None
            order += [split.true, split.false] if split else []
            row = (
                number,
                node,
                split.feature if split else 0,
                split.mode if split else "LEAF",
                split.threshold if split else 0.0,
                len(order) - 2 if split else 0,
                len(order) - 1 if split else 0,
                int(split.missing) if split else 0,
            )
            for name, item in zip(found, row, strict=False):
                found[name].append(item)
            for target, weight in tree.weights if isinstance(tree, Leaf) else ():
                for name, item in zip(
                    ("treeids", "nodeids", "ids", "weights"),
                    (number, node, target, weight),
                    strict=True,
                ):
                    found[f"{of}_{name}"].append(item)
    return {name: items for name, items in found.items() if items}


def ml_model(
    operator_name: str,
    shape: Sequence[int],
    attrs: dict[str, Any],
    *,
    version: int = 3,
    outputs: int = 1,
    dtype: int = onnx.TensorProto.FLOAT,
    inputs: int = 1,
) -> onnx.ModelProto:
    """Return a model of one node of ai.onnx.ml."""
    names = [f"y{at}" for at in range(outputs)]
    given = [f"x{at}" for at in range(inputs)]
    node = helper.make_node(operator_name, given, names, domain="ai.onnx.ml", name="node", **attrs)
    graph = helper.make_graph(
        [node],
        "graph",
        [helper.make_tensor_value_info(name, dtype, shape) for name in given],
        [helper.make_empty_tensor_value_info(name) for name in names],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def rows(count: int, *, seed: int = 0) -> NDArray[np.float32]:
    """Return rows of values that thresholds take too, or that lie between, or are not numbers."""
    choices = np.array([*VALUES, np.nan, -9.0, 1.0], dtype=np.float32)
    return np.random.default_rng(seed).choice(choices, (count, FEATURES))
