"""SVMClassifier and SVMRegressor."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from irkit.frontend.onnx.convert.ml.pairwise import coupled
from irkit.frontend.onnx.convert.ml.scores import (
    chosen,
    class_labels,
    largest,
    pair_of,
    rows_of,
    transformed,
)
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import F32, F64

_SMALLEST = 1e-7
_KERNELS = ("LINEAR", "POLY", "RBF", "SIGMOID")
_Matrix = NDArray[np.float64]


def svm_regressor(node: OnnxNode) -> Value:
    """Add up the kernel of each row with the support vectors, by their coefficients; with
    ``one_class`` the result is 1 above 0, else -1. Without support vectors, the function is linear.

    Source: ai.onnx.ml SVMRegressor-1.
    """
    x, count = rows_of(node), node.integer("n_supports", 0)
    coefficients, rho = _numbers(node, "coefficients"), _numbers(node, "rho")
    if not len(rho):
        raise node.fail("rho is empty; expected one number")
    if count > 0:
        _check_size(node, "coefficients", coefficients, count)
        found = _weighted(node, _kernel(node, x, count), coefficients.reshape(-1, 1), rho[:1])
    else:
        _check_size(node, "coefficients", coefficients, node.shape(x)[1])
        found = _weighted(node, x, coefficients.reshape(-1, 1), rho[:1])
    if node.integer("one_class", 0):
        return node.op("where", node.op("greater", found, 0), node.scalar(1, found), -1)
    return transformed(node, found, node.text("post_transform", "NONE"))


def svm_classifier(node: OnnxNode) -> tuple[Value, Value]:
    """Choose the class that wins most pairs, each by a function of its support vectors; the scores
    are probabilities if ``prob_a`` and ``prob_b`` are given, otherwise the functions themselves.

    The function of two classes is positive for the first; its scores are its negative, and itself.
    Without support vectors each class has a linear function, and the largest wins.
    Source: ai.onnx.ml SVMClassifier-1; Chang and Lin, LIBSVM.
    """
    x, labels = rows_of(node), class_labels(node, "classlabels_ints")
    how, each = node.text("post_transform", "NONE"), node.integers("vectors_per_class", ())
    if not sum(each):
        scores = _linear(node, x, len(labels))
        return chosen(node, largest(node, scores), labels), transformed(node, scores, how)
    if len(each) != len(labels) or min(each) < 0:
        raise node.fail(f"vectors_per_class is {each}; expected a number for each class")
    pairs = list(combinations(range(len(labels)), 2))
    rho = _numbers(node, "rho")
    _check_size(node, "rho", rho, len(pairs))
    sums = _weighted(node, _kernel(node, x, sum(each)), _pair_weights(node, each, pairs), rho)
    winner = largest(node, _votes(node, sums, pairs, len(labels)))
    if node.has("prob_a") and node.numbers("prob_a"):
        scores = coupled(node, _pair_probabilities(node, sums), pairs, len(labels))
    elif len(labels) == 2:
        scores = pair_of(node, sums, probability=False)
    else:
        scores = sums
    return chosen(node, winner, labels), transformed(node, scores, how)


def _numbers(node: OnnxNode, name: str) -> _Matrix:
    return np.array(node.numbers(name, ()), dtype=np.float64)


def _check_size(node: OnnxNode, name: str, found: _Matrix, wanted: int) -> None:
    if len(found) != wanted:
        raise node.fail(f"{name} has {len(found)} items; expected {wanted}")


def _linear(node: OnnxNode, x: Value, count: int) -> Value:
    width, coefficients = node.shape(x)[1], _numbers(node, "coefficients")
    rho = _numbers(node, "rho")
    _check_size(node, "coefficients", coefficients, count * width)
    if not len(rho):
        raise node.fail("rho is empty; expected one number")
    return _weighted(node, x, coefficients.reshape(count, width).T, rho[:1])


def _weighted(node: OnnxNode, x: Value, weights: _Matrix, offset: _Matrix) -> Value:
    """Return weighted sums, which are taken in f64 because their terms cancel, in f32."""
    matrix = node.constant(np.ascontiguousarray(weights))
    total = node.op("matmul", node.cast(x, F64), matrix)
    return node.cast(node.op("add", total, node.constant(offset)), F32)


def _kernel(node: OnnxNode, x: Value, count: int) -> Value:
    """Return the kernel of each row with each of ``count`` support vectors."""
    width, name = node.shape(x)[1], node.text("kernel_type", "LINEAR")
    flat = np.array(node.numbers("support_vectors"))
    if len(flat) != count * width:
        raise node.fail(
            f"{count} support vectors have {len(flat)} numbers; expected {count * width}"
        )
    vectors = flat.reshape(count, width).astype(node.numpy_type(x))
    params = node.numbers("kernel_params", (0.0, 0.0, 0.0))
    if len(params) != 3:
        raise node.fail(f"kernel_params has {len(params)} items; expected 3")
    gamma, start, degree = params
    if name == "RBF":
        node.check_size((node.shape(x)[0], count, width))
        wide = node.op("expand_dims", x, axes=(1,))
        apart = node.op("subtract", wide, node.constant(vectors))
        squares = node.op("sum", node.op("multiply", apart, apart), axes=(2,))
        return node.op("exp", node.op("multiply", squares, -gamma))
    dot = node.op("matmul", x, node.constant(np.ascontiguousarray(vectors.T)))
    if name == "LINEAR":
        return dot
    line = node.op("add", node.op("multiply", dot, gamma), start)
    if name == "POLY":
        return node.op("power", line, degree)
    if name == "SIGMOID":
        return node.op("tanh", line)
    raise node.fail(f"kernel_type is {name!r}; expected {', '.join(_KERNELS)}")


def _pair_weights(node: OnnxNode, each: Sequence[int], pairs: Sequence[tuple[int, int]]) -> _Matrix:
    """Return the coefficients of every support vector in the function of every pair: a vector has
    one for each class but its own."""
    count, flat = sum(each), _numbers(node, "coefficients")
    _check_size(node, "coefficients", flat, (len(each) - 1) * count)
    given, ends = flat.reshape(-1, count), np.cumsum(each)
    of = [slice(end - size, end) for end, size in zip(ends, each, strict=True)]
    weights = np.zeros((count, len(pairs)))
    for at, (i, j) in enumerate(pairs):
        weights[of[i], at] = given[j - 1, of[i]]
        weights[of[j], at] = given[i, of[j]]
    return weights


def _votes(node: OnnxNode, sums: Value, pairs: Sequence[tuple[int, int]], count: int) -> Value:
    """Return how many pairs each class wins: the first of a pair if its function is positive."""
    first, second = np.zeros((2, len(pairs), count), dtype=np.float32)
    for at, (i, j) in enumerate(pairs):
        first[at, i] = second[at, j] = 1
    wins = node.op("greater", sums, 0)
    loses = node.op("logical_not", wins)
    return node.op(
        "add",
        node.op("matmul", node.cast(wins, F32), node.constant(first)),
        node.op("matmul", node.cast(loses, F32), node.constant(second)),
    )


def _pair_probabilities(node: OnnxNode, sums: Value) -> Value:
    """Return the probability of the first class of each pair."""
    slope, start = _numbers(node, "prob_a"), _numbers(node, "prob_b")
    if not len(slope) == len(start) == node.shape(sums)[1]:
        raise node.fail(
            f"prob_a and prob_b have {len(slope)} and {len(start)} items; expected "
            f"{node.shape(sums)[1]}"
        )
    scaled = node.op("multiply", sums, node.constant(slope.astype(np.float32)))
    moved = node.op("add", scaled, node.constant(start.astype(np.float32)))
    chance = node.op("sigmoid", node.op("negative", moved))
    return node.op("minimum", node.op("maximum", chance, _SMALLEST), 1 - _SMALLEST)
