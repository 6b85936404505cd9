"""Attributes of ensembles of trees, in both forms: nodes known by a tree and a number in it, and
nodes numbered together."""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from irkit.frontend.onnx.convert.ml.forest import (
    EQUAL,
    MISSING,
    TESTS,
    Floats,
    Forest,
    check_counts,
    make_forest,
)
from irkit.frontend.onnx.onnx_node import OnnxNode

_NODES = ("nodeids", "treeids", "featureids", "truenodeids", "falsenodeids")
_MEMBER = len(TESTS)


def floats_of(node: OnnxNode, name: str) -> Floats:
    """Return the numbers of an attribute, which from version 3 on can be a tensor."""
    if node.has(f"{name}_as_tensor"):
        return _float_tensor(node, f"{name}_as_tensor")
    return np.array(node.numbers(name, ()), dtype=np.float32)


def _float_tensor(node: OnnxNode, name: str) -> Floats:
    found = node.tensor(name)
    if found.ndim != 1 or found.dtype.kind != "f":
        raise node.fail(f"{name} is {found.dtype} of rank {found.ndim}; expected floats of rank 1")
    return cast(Floats, found)


def base_values(node: OnnxNode) -> Floats:
    """Return what is added to the scores."""
    return floats_of(node, "base_values")


def named_forest(node: OnnxNode, of: str, width: int, count: int) -> Forest:
    """Read the trees of an operator whose nodes are known by a tree and a number in it."""
    keys = {name: node.integers(f"nodes_{name}", ()) for name in _NODES}
    modes, thresholds = node.texts("nodes_modes"), floats_of(node, "nodes_values")
    given = {f"nodes_{name}": items for name, items in keys.items()}
    check_counts(node, {**given, "nodes_modes": modes, "nodes_values": thresholds})
    places: dict[tuple[int, int], int] = {}
    roots: dict[int, int] = {}
    for at, key in enumerate(zip(keys["treeids"], keys["nodeids"], strict=True)):
        if places.setdefault(key, at) != at:
            raise node.fail(f"its tree {key[0]} has two nodes {key[1]}")
        roots.setdefault(key[0], at)

    def place(tree: int, number: int, what: str) -> int:
        found = places.get((tree, number))
        if found is None:
            raise node.fail(f"{what} {number} of tree {tree} does not exist")
        return found

    branches = [
        (at, at) if mode == "LEAF" else (place(tree, true, "branch"), place(tree, false, "branch"))
        for at, (mode, tree, true, false) in enumerate(
            zip(modes, keys["treeids"], keys["truenodeids"], keys["falsenodeids"], strict=True)
        )
    ]
    holders = [node.integers(f"{of}_{name}", ()) for name in ("treeids", "nodeids", "ids")]
    values = floats_of(node, f"{of}_weights")
    named = dict(zip(("treeids", "nodeids", "ids"), holders, strict=True))
    check_counts(node, {f"{of}_{k}": v for k, v in named.items()} | {f"{of}_weights": values})
    at = [place(tree, number, "node") for tree, number in zip(*holders[:2], strict=True)]
    if any(modes[each] != "LEAF" for each in at):
        raise node.fail("a node that is not a leaf has a weight")
    true, false = _integers(branches).reshape(-1, 2).T
    return make_forest(
        node,
        features=_integers(keys["featureids"]),
        thresholds=thresholds,
        tests=_tests(node, modes),
        true=true,
        false=false,
        leaves=np.array([mode == "LEAF" for mode in modes], dtype=bool),
        roots=_integers(list(roots.values())),
        weights=(_integers(at), _integers(holders[2]), values),
        counts=(width, count),
    )


def _integers(items: object) -> "NDArray[np.int64]":
    return np.array(items, dtype=np.int64)


def _tests(node: OnnxNode, modes: tuple[str, ...]) -> "NDArray[np.int64]":
    unknown = next((mode for mode in modes if mode not in TESTS and mode != "LEAF"), None)
    if unknown is not None:
        raise node.fail(f"nodes_modes has {unknown!r}; expected LEAF or {', '.join(TESTS)}")
    tests = _integers([TESTS.get(mode, 0) for mode in modes])
    return tests | _missing(node, len(modes))


def _missing(node: OnnxNode, count: int) -> "NDArray[np.int64]":
    """Return ``MISSING`` for each node whose true branch a row without a value takes."""
    tracks = _integers(node.integers("nodes_missing_value_tracks_true", ()) or (0,) * count)
    check_counts(node, {"nodes_modes": range(count), "nodes_missing_value_tracks_true": tracks})
    return np.where(tracks != 0, MISSING, 0)


def numbered_forest(node: OnnxNode, width: int, count: int) -> Forest:
    """Read the trees of an operator whose nodes, and whose leaves, are numbered together.

    Raises: ImportFailed.
    """
    features, true, false, true_leaf, false_leaf = (
        _integers(node.integers(f"nodes_{name}"))
        for name in ("featureids", "truenodeids", "falsenodeids", "trueleafs", "falseleafs")
    )
    modes, thresholds = (
        _integers(node.tensor("nodes_modes").reshape(-1)),
        _float_tensor(node, "nodes_splits"),
    )
    targets, weights = (
        _integers(node.integers("leaf_targetids")),
        _float_tensor(node, "leaf_weights"),
    )
    nodes = {"featureids": features, "truenodeids": true, "falsenodeids": false, "modes": modes}
    nodes |= {"trueleafs": true_leaf, "falseleafs": false_leaf, "splits": thresholds}
    check_counts(node, {f"nodes_{name}": items for name, items in nodes.items()})
    check_counts(node, {"leaf_targetids": targets, "leaf_weights": weights})
    size, leaves = len(features), len(targets)
    for ids, is_leaf in ((true, true_leaf), (false, false_leaf)):
        if ((ids < 0) | (ids >= np.where(is_leaf != 0, leaves, size))).any():
            raise node.fail("a branch leads to a node or leaf that does not exist")
    members = _members(node, modes)
    copies = np.array([1 if each is None else max(len(each), 1) for each in members], np.int64)
    # A test for several values becomes a chain of nodes: each leads on to the next if it is false.
    start, total = np.cumsum(copies) - copies, int(copies.sum())
    of = np.repeat(np.arange(size), copies)
    true = np.where(true_leaf != 0, total + true, start[np.where(true_leaf != 0, 0, true)])[of]
    false = np.where(false_leaf != 0, total + false, start[np.where(false_leaf != 0, 0, false)])[of]
    inside = np.flatnonzero(np.append(of[1:] == of[:-1], False))
    false[inside] = inside + 1
    values = [
        [old] if each is None else each or [0.0]
        for old, each in zip(thresholds, members, strict=True)
    ]
    ends = total + np.arange(leaves)
    return make_forest(
        node,
        features=np.append(features[of], np.zeros_like(ends)),
        thresholds=np.append(np.concatenate([*values, []]), np.zeros(leaves)).astype(
            thresholds.dtype
        ),
        tests=np.append((_numbered_tests(node, modes, members))[of], np.zeros_like(ends)),
        true=np.append(true, ends),
        false=np.append(false, ends),
        leaves=np.arange(total + leaves) >= total,
        roots=_roots(node, start),
        weights=(ends, targets, weights),
        counts=(width, count),
    )


def _members(node: OnnxNode, modes: "NDArray[np.int64]") -> list[list[float] | None]:
    """Return the values that each node with a set tests for, and None for the others.

    The sets stand in the order of their nodes, each with NaN after it.
    """
    found: list[list[float]] = [[]]
    if node.has("membership_values"):
        for value in node.tensor("membership_values").reshape(-1).tolist():
            if np.isnan(value):
                found.append([])
            else:
                found[-1].append(value)
    wanted = int((modes == _MEMBER).sum())
    if len(found) - 1 != wanted or found[-1]:
        raise node.fail(
            f"membership_values has {len(found) - 1} sets that end with NaN; expected {wanted}"
        )
    sets = iter(found)
    return [next(sets) if mode == _MEMBER else None for mode in modes]


def _numbered_tests(
    node: OnnxNode, modes: "NDArray[np.int64]", members: list[list[float] | None]
) -> "NDArray[np.int64]":
    if ((modes < 0) | (modes > _MEMBER)).any():
        raise node.fail(f"nodes_modes has a number outside 0 to {_MEMBER}")
    codes = np.array([*TESTS.values(), EQUAL])[modes]
    empty = np.array([each == [] for each in members], dtype=bool)
    return np.where(empty, 0, codes) | _missing(node, len(modes))


def _roots(node: OnnxNode, start: "NDArray[np.int64]") -> "NDArray[np.int64]":
    roots = _integers(node.integers("tree_roots"))
    if ((roots < 0) | (roots >= len(start))).any():
        raise node.fail("tree_roots has a node that does not exist")
    return start[roots]
