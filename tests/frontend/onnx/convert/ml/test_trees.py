"""Ensembles of trees against a walk that shares no code with them, and trees that are damaged."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

import irkit
from irkit.frontend.onnx import ImportFailed, import_onnx
from irkit.graph import interpret
from tests.draws import few_or_all
from tests.frontend.onnx.convert.ml.tree_models import (
    COMPARE,
    FEATURES,
    Leaf,
    Split,
    Tree,
    attributes,
    ml_model,
    rows,
    totals,
    trees,
)

Attrs = dict[str, Any]
STUMP = Split("BRANCH_LEQ", 0, 0.5, False, Leaf([(0, 1.0)]), Leaf([(0, -2.0)]))


def regressor(forest: list[Tree], targets: int, count: int, **more: Any) -> onnx.ModelProto:
    attrs = attributes(forest, "target") | {"n_targets": targets} | more
    return ml_model("TreeEnsembleRegressor", (count, FEATURES), attrs)


def interpreted(model: onnx.ModelProto, x: NDArray[Any]) -> NDArray[Any]:
    found = interpret(import_onnx(model), [x])
    assert isinstance(found, np.ndarray)
    return found


def _forests(targets: int) -> Any:
    return st.tuples(st.just(targets), st.lists(trees(targets), min_size=1, max_size=3))


@given(
    st.integers(1, 3).flatmap(_forests),
    st.sampled_from(("SUM", "AVERAGE", "MIN", "MAX")),
    st.integers(0, 3),
)
@settings(max_examples=few_or_all(8, 20), deadline=None)
def test_drawn_forests_compute_what_a_walk_does(
    drawn: tuple[int, list[Tree]], how: str, seed: int
) -> None:
    targets, forest = drawn
    x = rows(3, seed=seed)
    model = regressor(forest, targets, len(x), aggregate_function=how)
    np.testing.assert_allclose(
        interpreted(model, x), totals(forest, x, targets, how), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("count", [1, 16, 37])
@pytest.mark.parametrize("modes", [("BRANCH_LEQ",), tuple(COMPARE)], ids=["one mode", "all modes"])
def test_native_code_walks_whole_groups_of_rows_and_the_rest(
    count: int, modes: tuple[str, ...]
) -> None:
    forest = [
        Split(mode, at % FEATURES, 0.5, at % 2 == 0, STUMP, Leaf([(1, 0.5), (1, 0.25)]))
        for at, mode in enumerate(modes * 3)
    ]
    x = rows(count)
    found = irkit.compile(regressor(forest, 2, count)).run({"x0": x})["y0"]
    np.testing.assert_allclose(found, totals(forest, x, 2, "SUM"), rtol=1e-6)


@pytest.mark.parametrize("mode", COMPARE)
@pytest.mark.parametrize("missing", [False, True])
def test_each_test_of_a_node_is_kept_when_all_nodes_have_it(mode: str, missing: bool) -> None:
    forest: list[Tree] = [Split(mode, 0, 0.5, missing, Leaf([(0, 1.0)]), Leaf([(0, 2.0)]))]
    x = np.array([[v, 0, 0] for v in (0.0, 0.5, 1.0, np.nan, np.inf, -np.inf)], dtype=np.float32)
    found = interpreted(regressor(forest, 1, len(x)), x)
    np.testing.assert_array_equal(found, totals(forest, x, 1, "SUM"))


def test_a_double_is_compared_as_a_double() -> None:
    attrs = attributes([STUMP], "target") | {"n_targets": 1}
    x = np.array([[0.5 + 1e-12, 0, 0]])
    model = ml_model("TreeEnsembleRegressor", x.shape, attrs, dtype=onnx.TensorProto.DOUBLE)
    found = interpreted(model, x)
    assert (found.dtype, found.tolist()) == (np.float32, [[-2.0]])


def test_base_values_are_added_after_the_average() -> None:
    model = regressor([STUMP, STUMP], 1, 1, aggregate_function="AVERAGE", base_values=[10.0])
    assert interpreted(model, np.zeros((1, FEATURES), np.float32)).tolist() == [[11.0]]


def classified(forest: list[Tree], labels: list[int], x: NDArray[Any], **more: Any) -> Any:
    attrs = attributes(forest, "class") | {"classlabels_int64s": labels} | more
    model = ml_model("TreeEnsembleClassifier", x.shape, attrs, outputs=2)
    return interpret(import_onnx(model), [x])


X = np.array([[0.0, 0, 0], [1.0, 0, 0]], dtype=np.float32)


@pytest.mark.parametrize(
    ("weights", "post", "scores"),
    [
        ((0.75, 0.25), "NONE", [[0.25, 0.75], [0.75, 0.25]]),
        ((2.0, -1.0), "NONE", [[-2.0, 2.0], [1.0, -1.0]]),
        ((0.0, -1.0), "LOGISTIC", [[0.5, 0.5], [0.7310586, 0.2689414]]),
        ((1.0, 2.0), "LOGISTIC", [[0.2689414, 0.7310586], [0.1192029, 0.8807971]]),
        ((1.0, 0.0), "SOFTMAX", [[0.1192029, 0.8807971], [0.5, 0.5]]),
    ],
)
def test_weights_of_one_class_of_two_give_both_scores(
    weights: tuple[float, float], post: str, scores: list[list[float]]
) -> None:
    first, second = (Leaf([(0, weight)]) for weight in weights)
    forest: list[Tree] = [Split("BRANCH_LEQ", 0, 0.5, False, first, second)]
    labels, found = classified(forest, [7, 3], X, post_transform=post)
    np.testing.assert_allclose(found, scores, rtol=1e-5)
    assert labels.tolist() == [3 if row[1] > row[0] else 7 for row in scores]
    assert (labels.dtype, found.dtype) == (np.int64, np.float32)


def test_the_largest_score_wins_even_where_probabilities_round_to_one() -> None:
    leaf: list[Tree] = [Leaf([(0, 90.0), (1, 95.0), (2, -3.0)])]
    labels, found = classified(leaf, [0, 1, 2], X[:1], post_transform="LOGISTIC")
    assert labels.tolist() == [1]
    np.testing.assert_allclose(found, [[1.0, 1.0, 0.04742587]], rtol=1e-5)


def test_class_labels_that_are_strings_are_refused_with_the_remedy() -> None:
    attrs = attributes([STUMP], "class") | {"classlabels_strings": ["no", "yes"]}
    with pytest.raises(ImportFailed, match="class labels are strings") as caught:
        import_onnx(ml_model("TreeEnsembleClassifier", X.shape, attrs, outputs=2))
    assert "Number the classes" in caught.value.hint


def _set(name: str, at: int, value: Any) -> Callable[[Attrs], None]:
    def change(attrs: Attrs) -> None:
        attrs[name][at] = value

    return change


def _drop(name: str) -> Callable[[Attrs], None]:
    def change(attrs: Attrs) -> None:
        attrs[name].pop()

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("nodes_truenodeids", 0, 0), "the branches of its node 0 lead back to it"),
        (_set("nodes_truenodeids", 0, 9), "branch 9 of tree 0 does not exist"),
        (_set("nodes_falsenodeids", 0, -1), "branch -1 of tree 0 does not exist"),
        (_set("nodes_featureids", 0, 3), "feature 3 does not exist: there are 3"),
        (_set("nodes_featureids", 0, -1), "feature -1 does not exist"),
        (_set("nodes_modes", 0, "BRANCH_XOR"), "nodes_modes has 'BRANCH_XOR'"),
        (_set("nodes_nodeids", 2, 1), "its tree 0 has two nodes 1"),
        (_set("nodes_values", 0, float("nan")), "the threshold of a node is not a number"),
        (_set("target_ids", 0, 1), "target 1 does not exist: there are 1"),
        (_set("target_nodeids", 0, 5), "node 5 of tree 0 does not exist"),
        (_set("target_nodeids", 0, 0), "a node that is not a leaf has a weight"),
        (_drop("nodes_values"), "nodes_nodeids has 3 items, but nodes_values 2"),
        (_drop("nodes_modes"), "nodes_nodeids has 3 items, but nodes_modes 2"),
        (_drop("target_weights"), "target_treeids has 2 items, but target_weights 1"),
        (_drop("nodes_missing_value_tracks_true"), "nodes_missing_value_tracks_true 2"),
    ],
)
def test_damaged_trees_are_refused(change: Callable[[Attrs], None], message: str) -> None:
    attrs = attributes([STUMP], "target")
    change(attrs)
    with pytest.raises(ImportFailed, match=message):
        import_onnx(ml_model("TreeEnsembleRegressor", (1, FEATURES), attrs))


def test_a_long_cycle_and_a_long_chain_take_bounded_time() -> None:
    count = 3_000
    attrs: Attrs = {
        "nodes_treeids": [0] * count,
        "nodes_nodeids": list(range(count)),
        "nodes_featureids": [0] * count,
        "nodes_values": [0.0] * count,
        "nodes_modes": ["BRANCH_LEQ"] * (count - 1) + ["LEAF"],
        "nodes_truenodeids": [*range(1, count), 0],
        "nodes_falsenodeids": [*range(1, count), 0],
        "n_targets": 1,
    }
    module = import_onnx(ml_model("TreeEnsembleRegressor", (1, 1), attrs))
    assert interpret(module, [np.zeros((1, 1), np.float32)]).tolist() == [[0.0]]  # pyright: ignore
    attrs["nodes_falsenodeids"][count - 2] = 0
    with pytest.raises(ImportFailed, match="lead back"):
        import_onnx(ml_model("TreeEnsembleRegressor", (1, 1), attrs))


MEMBERS: Attrs = {
    "nodes_splits": onnx.numpy_helper.from_array(np.array([2.0, 0.0, 0.0], np.float32)),
    "nodes_featureids": [0, 1, 0],
    "nodes_modes": onnx.numpy_helper.from_array(np.array([0, 6, 6], np.uint8)),
    "nodes_truenodeids": [1, 0, 2],
    "nodes_falsenodeids": [2, 1, 3],
    "nodes_trueleafs": [0, 1, 1],
    "nodes_falseleafs": [0, 1, 1],
    "leaf_targetids": [0, 1, 1, 0],
    "leaf_weights": onnx.numpy_helper.from_array(np.array([1, 10, 100, 1000], np.float32)),
    "tree_roots": [0],
    "membership_values": onnx.numpy_helper.from_array(
        np.array([5, 6, np.nan, 7, 8, 9, np.nan], np.float32)
    ),
    "n_targets": 2,
}


def test_a_set_of_values_is_tested_value_by_value() -> None:
    x = np.array([[1, 5], [1, 6], [1, 7], [8, 0], [9, 0], [4, 5], [np.nan, 5]], dtype=np.float32)
    found = interpreted(ml_model("TreeEnsemble", x.shape, MEMBERS, version=5), x)
    wanted = [[1, 0], [1, 0], [0, 10], [0, 100], [0, 100], [1000, 0], [1000, 0]]
    assert found.tolist() == wanted


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("tree_roots", [3], "tree_roots has a node that does not exist"),
        ("nodes_truenodeids", [1, 4, 2], "a node or leaf that does not exist"),
        ("nodes_truenodeids", [0, 0, 2], "lead back"),
        ("leaf_targetids", [0, 1, 2, 0], "target 2 does not exist"),
        ("nodes_featureids", [0, 2, 0], "feature 2 does not exist"),
        ("membership_values", [5, np.nan, 7], "has 1 sets that end with NaN; expected 2"),
        ("nodes_modes", [7, 6, 6], "outside 0 to 6"),
        ("aggregate_function", 4, "does not exist"),
        ("n_targets", 0, "n_targets is 0"),
    ],
)
def test_damaged_trees_that_are_numbered_are_refused(name: str, value: Any, message: str) -> None:
    if isinstance(MEMBERS.get(name), onnx.TensorProto):
        kind = np.uint8 if name == "nodes_modes" else np.float32
        value = onnx.numpy_helper.from_array(np.array(value, kind))
    with pytest.raises(ImportFailed, match=message):
        import_onnx(ml_model("TreeEnsemble", (1, 2), {**MEMBERS, name: value}, version=5))
