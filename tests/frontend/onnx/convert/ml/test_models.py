"""Linear models, support vector machines, features and categories, against NumPy."""

import math
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

import irkit
from irkit.frontend.onnx import ImportFailed, import_onnx
from irkit.graph import interpret
from tests.frontend.onnx.convert.ml.tree_models import ml_model
from tests.frontend.onnx.models import floats

I64 = np.dtype(np.int64)
TYPES = {
    np.dtype(np.float32): onnx.TensorProto.FLOAT,
    np.dtype(np.float64): onnx.TensorProto.DOUBLE,
    np.dtype(np.int64): onnx.TensorProto.INT64,
}


def run(name: str, x: NDArray[Any], *, version: int = 1, outputs: int = 1, **attrs: Any) -> Any:
    model = ml_model(name, x.shape, attrs, version=version, outputs=outputs, dtype=TYPES[x.dtype])
    return interpret(import_onnx(model), [x])


def test_a_linear_regressor_has_a_row_of_coefficients_for_each_target() -> None:
    x, w = floats(4, 3), floats(2, 3, seed=1)
    found = run(
        "LinearRegressor", x, coefficients=w.reshape(-1).tolist(), intercepts=[1.0, 2.0], targets=2
    )
    np.testing.assert_allclose(found, x @ w.T + [1, 2], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC"])
def test_a_linear_classifier_of_one_score_gives_both(post: str) -> None:
    x, w = floats(5, 3), floats(3, seed=1)
    attrs = {"coefficients": w.tolist(), "intercepts": [0.1], "classlabels_ints": [4, 2]}
    labels, scores = run("LinearClassifier", x, outputs=2, post_transform=post, **attrs)
    score = x @ w + np.float32(0.1)
    chance = 1 / (1 + np.exp(-score)) if post == "LOGISTIC" else score
    np.testing.assert_allclose(scores, np.stack([1 - chance, chance], 1), rtol=1e-4, atol=1e-6)
    assert labels.tolist() == [2 if each > 0 else 4 for each in score]


def test_a_linear_classifier_of_three_classes_takes_the_largest() -> None:
    x, w = floats(5, 3), floats(3, 3, seed=1)
    attrs = {"coefficients": w.reshape(-1).tolist(), "classlabels_ints": [7, 8, 9]}
    labels, scores = run("LinearClassifier", x, outputs=2, post_transform="SOFTMAX", **attrs)
    grown = np.exp(x @ w.T)
    np.testing.assert_allclose(scores, grown / grown.sum(1, keepdims=True), rtol=1e-5)
    assert labels.tolist() == (7 + np.argmax(grown, 1)).tolist()


def test_softmax_zero_leaves_zeros_out_and_probit_is_the_quantile() -> None:
    x = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]], dtype=np.float32)
    one = {"coefficients": np.eye(3).reshape(-1).tolist(), "targets": 3}
    found = run("LinearRegressor", x, post_transform="SOFTMAX_ZERO", **one)
    share = 1 / (1 + math.e)
    np.testing.assert_allclose(found, [[0, share, 1 - share], [0, 0, 0]], rtol=1e-5)
    x = np.array([[0.025, 0.5, 0.9]], dtype=np.float32)
    found = run("LinearRegressor", x, post_transform="PROBIT", **one)
    np.testing.assert_allclose(found, [[-1.959964, 0.0, 1.281552]], atol=5e-3)


KERNELS = {
    "LINEAR": lambda a, b: a @ b,
    "POLY": lambda a, b: (0.5 * (a @ b) + 1) ** 3,
    "RBF": lambda a, b: math.exp(-0.5 * ((a - b) ** 2).sum()),
    "SIGMOID": lambda a, b: math.tanh(0.5 * (a @ b) + 1),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_support_vector_regressor_has_every_kernel(kernel: str) -> None:
    x, vectors, weights = floats(4, 3), floats(5, 3, seed=1), floats(5, seed=2)
    found = run(
        "SVMRegressor",
        x,
        kernel_type=kernel,
        kernel_params=[0.5, 1.0, 3.0],
        support_vectors=vectors.reshape(-1).tolist(),
        coefficients=weights.tolist(),
        n_supports=5,
        rho=[0.25],
    )
    wanted = [
        [sum(w * KERNELS[kernel](a, b) for w, b in zip(weights, vectors, strict=True)) + 0.25]
        for a in x
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_pairs_of_classes_vote_and_their_chances_are_coupled() -> None:
    each, count = [2, 1, 2], 5
    x, vectors, weights = floats(6, 3), floats(count, 3, seed=1), floats(2, count, seed=2)
    attrs = {
        "support_vectors": vectors.reshape(-1).tolist(),
        "coefficients": weights.reshape(-1).tolist(),
        "vectors_per_class": each,
        "rho": [0.1, -0.2, 0.3],
        "classlabels_ints": [3, 5, 4],
        "kernel_type": "RBF",
        "kernel_params": [0.5, 0.0, 3.0],
    }
    labels, scores = run("SVMClassifier", x, outputs=2, **attrs)
    of = np.repeat(range(3), each)
    votes, wanted = np.zeros((6, 3)), np.zeros((6, 3))
    for row, a in enumerate(x):
        for at, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
            total = attrs["rho"][at]
            for s in range(count):
                if of[s] in (i, j):
                    total += weights[j - 1 if of[s] == i else i, s] * KERNELS["RBF"](a, vectors[s])
            wanted[row, at] = total
            votes[row, i if total > 0 else j] += 1
    np.testing.assert_allclose(scores, wanted, rtol=1e-5, atol=1e-5)
    assert labels.tolist() == np.array([3, 5, 4])[np.argmax(votes, 1)].tolist()
    chances = {"prob_a": [-1.0, -2.0, -1.5], "prob_b": [0.1, 0.0, -0.1]}
    _, coupled = run("SVMClassifier", x, outputs=2, **attrs, **chances)
    np.testing.assert_allclose(coupled, [_coupled(row, chances) for row in wanted], atol=3e-3)


def _coupled(sums: NDArray[Any], chances: dict[str, list[float]]) -> NDArray[np.float64]:
    """Solve what the iteration approaches: the least p' Q p with the sum of p at 1."""
    r = np.zeros((3, 3))
    for at, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        chance = 1 / (1 + math.exp(sums[at] * chances["prob_a"][at] + chances["prob_b"][at]))
        r[i, j], r[j, i] = chance, 1 - chance
    q = -r.T * r + np.diag((r**2).sum(0))
    system = np.block([[q, np.ones((3, 1))], [np.ones((1, 3)), np.zeros((1, 1))]])
    return np.linalg.solve(system, [0, 0, 0, 1])[:3]


def test_a_scaler_and_a_binarizer() -> None:
    x = np.array([[1, 2], [3, 4]], dtype=np.int64)
    found = run("Scaler", x, offset=[1.0, 0.0], scale=[2.0])
    assert (found.dtype, found.tolist()) == (np.float32, [[0, 2 * 2], [4, 8]])
    found = run("Binarizer", x, threshold=2.5)
    assert (found.dtype, found.tolist()) == (np.int64, [[0, 0], [1, 1]])


@pytest.mark.parametrize(
    ("norm", "wanted"),
    [
        ("MAX", [[-1.0, 1.0], [0.0, 0.0]]),
        ("L1", [[-0.5, 0.5], [0.0, 0.0]]),
        ("L2", [[-(0.5**0.5), 0.5**0.5], [0.0, 0.0]]),
    ],
)
def test_a_normalizer_leaves_rows_without_size(norm: str, wanted: list[list[float]]) -> None:
    x = np.array([[-3, 3], [0, 0]], dtype=np.float32)
    np.testing.assert_allclose(run("Normalizer", x, norm=norm), wanted, rtol=1e-6)


def test_an_imputer_replaces_nan_or_a_value() -> None:
    x = np.array([[np.nan, 1.0], [2.0, np.nan]], dtype=np.float32)
    found = run("Imputer", x, imputed_value_floats=[7.0, 8.0], replaced_value_float=math.nan)
    assert found.tolist() == [[7, 1], [2, 8]]
    whole = np.array([[0, 1]], dtype=np.int64)
    found = run("Imputer", whole, imputed_value_int64s=[9], replaced_value_int64=0)
    assert found.tolist() == [[9, 1]]


def test_a_label_encoder_takes_nan_for_a_key() -> None:
    x = np.array([1.0, np.nan, 5.0], dtype=np.float32)
    attrs = {"keys_floats": [math.nan, 1.0], "values_int64s": [10, 20], "default_int64": -7}
    assert run("LabelEncoder", x, version=2, **attrs).tolist() == [20, 10, -7]
    with pytest.raises(ImportFailed, match="keys_strings holds strings"):
        run("LabelEncoder", x, version=2, keys_strings=["a"], values_int64s=[1])


def test_tables_of_about_one_size_share_a_kernel() -> None:
    def encoder(of: str, to: str, size: int) -> onnx.NodeProto:
        keys, values = [*range(size)], [*range(7, 7 + size)]
        attrs = {"keys_int64s": keys, "values_int64s": values}
        return onnx.helper.make_node("LabelEncoder", [of], [to], domain="ai.onnx.ml", **attrs)

    model = ml_model("LabelEncoder", (4,), {"keys_int64s": [0]}, version=2, dtype=TYPES[I64])
    del model.graph.node[:]
    output = model.graph.output[0].name
    model.graph.node.extend([encoder("x0", "a", 9), encoder("a", output, 16)])
    x = np.array([0, 8, 9, -3])
    compiled = irkit.compile(model)
    (got,) = compiled.run({"x0": x}).values()
    np.testing.assert_array_equal(got, [14, 22, -1, -1])
    searches = [call.kernel for call in compiled.plan.calls if "argmax" in call.kernel]
    assert (len(searches), len(set(searches))) == (2, 1)


def test_a_one_hot_encoder_gives_zeros_for_unknown_categories() -> None:
    x = np.array([[3, 9]], dtype=np.int64)
    found = run("OneHotEncoder", x, cats_int64s=[9, 4, 3], zeros=1)
    assert found.tolist() == [[[0, 0, 1], [1, 0, 0]]]


def test_features_are_joined_to_the_widths_asked_for() -> None:
    attrs = {"inputdimensions": [1, 3]}
    model = ml_model("FeatureVectorizer", (2, 2), attrs, version=1, inputs=2)
    a, b = np.array([[1, 2], [3, 4]], np.float32), np.array([[5, 6], [7, 8]], np.float32)
    found: Any = interpret(import_onnx(model), [a, b])
    assert found.tolist() == [[1, 5, 6, 0], [3, 7, 8, 0]]


def test_a_zip_map_passes_probabilities_on() -> None:
    x = floats(2, 3)
    assert run("ZipMap", x, classlabels_int64s=[1, 2, 3]).tolist() == x.tolist()


@pytest.mark.parametrize(
    ("name", "attrs", "message"),
    [
        ("LinearRegressor", {"coefficients": [1.0] * 5, "targets": 2}, "5 coefficients"),
        ("LinearRegressor", {"coefficients": [1.0] * 3, "post_transform": "X"}, "is 'X'"),
        ("Scaler", {"offset": [1.0, 2.0]}, "2 offsets"),
        ("Imputer", {"imputed_value_floats": [1.0, 2.0]}, "2 imputed values"),
        ("Normalizer", {"norm": "L3"}, "norm is 'L3'"),
        ("SVMRegressor", {"coefficients": [1.0], "rho": [0.0], "n_supports": 2}, "expected 2"),
        ("SVMRegressor", {"coefficients": [1.0] * 3}, "rho is empty"),
    ],
)
def test_attributes_that_do_not_fit_are_refused(
    name: str, attrs: dict[str, Any], message: str
) -> None:
    with pytest.raises(ImportFailed, match=message):
        run(name, floats(2, 3), **attrs)
