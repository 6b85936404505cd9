"""Decision trees as flat arrays of nodes, checked before anything is computed from them."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.frontend.onnx.onnx_node import OnnxNode

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]

LESS, EQUAL, GREATER, MISSING = 1, 2, 4, 8
"""How a value can compare with a threshold; ``MISSING`` is a value that is not a number."""

TESTS = {
    "BRANCH_LEQ": LESS | EQUAL,
    "BRANCH_LT": LESS,
    "BRANCH_GTE": GREATER | EQUAL,
    "BRANCH_GT": GREATER,
    "BRANCH_EQ": EQUAL,
    "BRANCH_NEQ": LESS | GREATER,
}
"""The comparisons after which a value takes the true branch of a node, by the mode of the node."""


class Forest(msgspec.Struct, frozen=True):
    """Trees, whose nodes are numbered together; both branches of a leaf lead to itself.

    ``tests`` are the comparisons after which a value takes the true branch. The weights of node i
    are those from ``first[i]`` up to ``first[i + 1]``. No walk from a root takes more than
    ``steps`` steps.
    """

    features: Ints
    thresholds: Floats
    tests: Ints
    true: Ints
    false: Ints
    roots: Ints
    steps: Ints
    first: Ints
    targets: Ints
    weights: Floats

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        return self.true == np.arange(len(self.true))


def make_forest(
    node: OnnxNode,
    *,
    features: Ints,
    thresholds: Floats,
    tests: Ints,
    true: Ints,
    false: Ints,
    leaves: NDArray[np.bool_],
    roots: Ints,
    weights: tuple[Ints, Ints, Floats],
    counts: tuple[int, int],
) -> Forest:
    """Check the arrays of a forest; ``counts`` are those of features and of targets.

    Both branches of each of the ``leaves`` lead to itself. ``weights`` are, for each weight, the
    node it belongs to, its target, and itself.
    Raises: ImportFailed for numbers out of range, and for branches that lead back.
    """
    size, inner = len(features), ~leaves
    _check_range(node, "feature", features[inner], counts[0])
    _check_range(node, "branch", true, size)
    _check_range(node, "branch", false, size)
    _check_range(node, "root", roots, size)
    if np.isnan(thresholds[inner]).any():
        raise node.fail("the threshold of a node is not a number")
    holders, targets, values = weights
    _check_range(node, "node with a weight", holders, size)
    _check_range(node, "target", targets, counts[1])
    order = np.argsort(holders, kind="stable")
    first = np.searchsorted(holders[order], np.arange(size + 1))
    branches = list(zip(true.tolist(), false.tolist(), strict=True))
    steps = np.array(_heights(node, branches, leaves.tolist(), roots.tolist()))
    return Forest(
        np.where(inner, features, 0),
        np.where(inner, thresholds, 0).astype(thresholds.dtype),
        tests,
        true,
        false,
        roots,
        steps[roots],
        first,
        targets[order],
        values[order],
    )


def check_counts(node: OnnxNode, named: Mapping[str, Sequence[Any] | NDArray[Any]]) -> None:
    """Raise ImportFailed unless all attributes have as many items as the first."""
    (first, wanted), *rest = named.items()
    for name, found in rest:
        if len(found) != len(wanted):
            raise node.fail(f"{first} has {len(wanted)} items, but {name} {len(found)}")


def _check_range(node: OnnxNode, what: str, found: Ints, count: int) -> None:
    outside = found[(found < 0) | (found >= count)]
    if len(outside):
        raise node.fail(f"{what} {int(outside[0])} does not exist: there are {count}")


def _heights(
    node: OnnxNode, branches: list[tuple[int, int]], leaves: list[bool], roots: list[int]
) -> list[int]:
    """Return the length of the longest walk from each node to a leaf; 0 where no root leads.

    Two branches may lead to one node: exporters write a test for several values like that.
    """
    height = [0 if leaf else -1 for leaf in leaves]
    entered = [False] * len(leaves)
    waiting = list(roots)
    while waiting:
        at = waiting[-1]
        if height[at] >= 0:
            waiting.pop()
        elif entered[at]:
            height[waiting.pop()] = 1 + max(height[child] for child in branches[at])
        else:
            entered[at] = True
            for child in branches[at]:
                if entered[child] and height[child] < 0:
                    raise node.fail(f"the branches of its node {child} lead back to it")
                waiting.append(child)
    return [max(each, 0) for each in height]
