"""Functions of tensors, with PyTorch's names; each is one operator of the graph or a few.

An operator that has no function here is ``irkit.graph.operator(name, ...)``.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from irkit.core import ShapeError, user_span
from irkit.graph import Operand, TensorExpr, operator
from irkit.ir import as_int


def apply(name: str, *args: Operand, **attrs: Any) -> TensorExpr:
    """Apply an operator of the graph, with the line of the user's call as its origin."""
    return operator(name, *args, span=user_span(name, "python"), **attrs)


def relu(x: TensorExpr) -> TensorExpr:
    """Return the larger of each element and 0."""
    return apply("relu", x)


def sigmoid(x: TensorExpr) -> TensorExpr:
    """Return 1 / (1 + exp(-x)) of each element."""
    return apply("sigmoid", x)


def tanh(x: TensorExpr) -> TensorExpr:
    """Return the hyperbolic tangent of each element."""
    return apply("tanh", x)


def exp(x: TensorExpr) -> TensorExpr:
    """Return e to the power of each element."""
    return apply("exp", x)


def log(x: TensorExpr) -> TensorExpr:
    """Return the natural logarithm of each element."""
    return apply("log", x)


def sqrt(x: TensorExpr) -> TensorExpr:
    """Return the square root of each element."""
    return apply("sqrt", x)


def silu(x: TensorExpr) -> TensorExpr:
    """Return x * sigmoid(x) of each element."""
    return apply("multiply", x, sigmoid(x))


def gelu(x: TensorExpr, *, approximate: str = "none") -> TensorExpr:
    """Return x times the normal distribution function of x; "tanh" approximates it.

    Raises: ShapeError for another approximation.
    """
    if approximate == "tanh":
        inner = (x + apply("multiply", x * x, x) * 0.044715) * math.sqrt(2 / math.pi)
        return x * 0.5 * (tanh(inner) + 1.0)
    if approximate != "none":
        raise ShapeError(f'approximate must be "none" or "tanh", found {approximate!r}')
    return x * 0.5 * (apply("erf", x * math.sqrt(0.5)) + 1.0)


def leaky_relu(x: TensorExpr, negative_slope: float = 0.01) -> TensorExpr:
    """Return x where it is positive, and a part of it elsewhere."""
    return apply("where", apply("greater", x, 0.0), x, x * negative_slope)


def softmax(x: TensorExpr, dim: int = -1) -> TensorExpr:
    """Return exp(x) divided by its sum along an axis."""
    return apply("softmax", x, axis=dim)


def log_softmax(x: TensorExpr, dim: int = -1) -> TensorExpr:
    """Return the logarithm of softmax."""
    return apply("log_softmax", x, axis=dim)


def linear(x: TensorExpr, weight: TensorExpr, bias: TensorExpr | None = None) -> TensorExpr:
    """Return x @ weight.T + bias. Shapes: x [..., inputs], weight [outputs, inputs]."""
    found = apply("matmul", x, apply("transpose", weight, axes=(1, 0)))
    return found if bias is None else apply("add", found, bias)


def matmul(a: TensorExpr, b: TensorExpr) -> TensorExpr:
    """Return the product of matrices, with NumPy's rules for batches."""
    return apply("matmul", a, b)


def conv(
    x: TensorExpr,
    weight: TensorExpr,
    bias: TensorExpr | None = None,
    *,
    stride: "int | Sequence[int]" = 1,
    padding: "int | Sequence[int]" = 0,
    dilation: "int | Sequence[int]" = 1,
    groups: int = 1,
) -> TensorExpr:
    """Convolve images of any number of spatial axes with filters, channels first."""
    rank = x.rank - 2
    pads = per_axis("padding", padding, rank)
    args = (x, weight) if bias is None else (x, weight, bias)
    return apply(
        "conv", *args, strides=per_axis("stride", stride, rank), pads=(*pads, *pads),
        dilations=per_axis("dilation", dilation, rank), groups=groups,
    )  # fmt: skip


def per_axis(name: str, given: "int | Sequence[int]", rank: int) -> tuple[int, ...]:
    """Return one number for each spatial axis. Raises: ShapeError for another count."""
    found = (given,) * rank if isinstance(given, int) else tuple(given)
    if len(found) != rank:
        raise ShapeError(f"{name} must be one number or {rank}, found {found}")
    return found


def layer_norm(
    x: TensorExpr,
    axes: int,
    weight: TensorExpr | None = None,
    bias: TensorExpr | None = None,
    *,
    eps: float = 1e-5,
) -> TensorExpr:
    """Normalise over the last ``axes`` axes to mean 0 and variance 1, then scale and shift."""
    over = tuple(range(-axes, 0))
    centred = x - x.mean(*over, keepdims=True)
    variance = apply("multiply", centred, centred).mean(*over, keepdims=True)
    found = centred * apply("rsqrt", variance + eps)
    found = found if weight is None else found * weight
    return found if bias is None else found + bias


def embedding(indices: TensorExpr, weight: TensorExpr) -> TensorExpr:
    """Return the row of ``weight`` for each index."""
    return apply("take", weight, indices, axis=0)


def scaled_dot_product_attention(
    query: TensorExpr,
    key: TensorExpr,
    value: TensorExpr,
    mask: TensorExpr | None = None,
    *,
    scale: float | None = None,
) -> TensorExpr:
    """Return softmax(query @ key.T * scale + mask) @ value.

    ``mask`` is added, or if it holds bools, False leaves a place out.
    Shapes: query [..., n, d], key [..., m, d], value [..., m, e] -> [..., n, e].
    """
    rank = key.rank
    swapped = (*range(rank - 2), rank - 1, rank - 2)
    size = as_int(query.dims[-1])
    if scale is None and size is None:
        raise ShapeError("attention needs scale= where the size of a head is symbolic")
    factor = scale if scale is not None else float(size or 1) ** -0.5
    scores = apply("matmul", query, apply("transpose", key, axes=swapped)) * factor
    if mask is not None and mask.dtype.is_bool:
        scores = apply("where", mask, scores, -math.inf)
    elif mask is not None:
        scores = scores + mask
    return apply("matmul", softmax(scores), value)


def cross_entropy(logits: TensorExpr, labels: TensorExpr) -> TensorExpr:
    """Return the mean of -log softmax(logits) at the labels.

    Shapes: logits [N, classes], labels [N] integers -> [].
    Raises: ShapeError if the number of classes is symbolic.
    """
    classes = as_int(logits.dims[-1])
    if classes is None or logits.rank != 2:
        raise ShapeError("cross_entropy takes logits [N, classes] with a constant last extent")
    chosen = one_hot(labels, classes, logits)
    return -apply("multiply", log_softmax(logits), chosen).sum(1).mean()


def one_hot(labels: TensorExpr, classes: int, like: TensorExpr) -> TensorExpr:
    """Return 1 at the place of each label and 0 elsewhere, in the element type of ``like``."""
    places = np.arange(classes, dtype=f"i{labels.dtype.bits // 8}")
    column = apply("expand_dims", labels, axes=(labels.rank,))
    return apply("cast", apply("equal", column, places), dtype=str(like.dtype))


def mse_loss(x: TensorExpr, target: TensorExpr) -> TensorExpr:
    """Return the mean of the squares of the differences."""
    away = x - target
    return apply("multiply", away, away).mean()
