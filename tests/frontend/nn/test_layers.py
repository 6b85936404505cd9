"""Each layer against NumPy or the reference of ONNX."""

from typing import Any

import numpy as np
import pytest

from irkit import nn
from irkit.core import ShapeError
from irkit.graph import GraphFunc, interpret
from tests.graph.ops.references import onnx_result

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(7)


def floats(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def run(module: nn.Module, *arrays: Array) -> Array:
    """Run a module in the interpreter, on data of its own that is not its first."""
    names = ("x", "y", "z", "w")[: len(arrays)]
    kinds = {"f": "f32", "i": "i64", "b": "bool"}
    wrapped = nn.Sequential(module) if len(arrays) == 1 else module
    if len(arrays) > 1:
        names = ("query", "key", "value", "mask")[: len(arrays)]
    spec = {
        name: nn.spec.Tensor(array.shape, kinds[array.dtype.kind])
        for name, array in zip(names, arrays, strict=True)
    }
    module.initialize(5)
    for _, each in [*module.named_parameters(), *module.named_buffers()]:
        each.data = np.abs(floats(*each.shape)) + np.float32(0.1)
    mod, _ = wrapped.export(spec, constants=True)
    main = mod["main"]
    assert isinstance(main, GraphFunc)
    found = interpret(main, list(arrays))
    assert isinstance(found, np.ndarray)
    return found


def agree(found: Array, want: Array) -> None:
    assert found.dtype == want.dtype
    np.testing.assert_allclose(found, want, 2e-4, 2e-5)


def test_a_linear_layer_multiplies_by_its_transpose() -> None:
    for bias in (True, False):
        layer, x = nn.Linear(4, 3, bias), floats(2, 5, 4)
        found = run(layer, x)
        agree(found, x @ layer.weight.data.T + (0 if layer.bias is None else layer.bias.data))


def test_an_embedding_takes_rows() -> None:
    layer, x = nn.Embedding(7, 3), np.array([[0, 6], [2, 2]])
    found = run(layer, x)
    agree(found, layer.weight.data[x])


CONVOLUTIONS = [
    (nn.Conv1d(4, 6, 3, groups=2, dilation=2), (2, 4, 9)),
    (nn.Conv2d(3, 4, (3, 2), stride=2, padding=(1, 0)), (2, 3, 7, 6)),
    (nn.Conv3d(2, 2, 2, bias=False), (1, 2, 3, 4, 3)),
]


@pytest.mark.parametrize(("layer", "shape"), CONVOLUTIONS)
def test_convolutions_are_as_in_onnx(layer: nn.Conv2d, shape: tuple[int, ...]) -> None:
    x, rank = floats(*shape), len(shape) - 2
    found = run(layer, x)
    arrays = [x, layer.weight.data, *([] if layer.bias is None else [layer.bias.data])]
    pads = nn.functional.per_axis("padding", layer.padding, rank)
    want = onnx_result(
        "Conv", arrays, group=layer.groups, pads=[*pads, *pads],
        strides=list(nn.functional.per_axis("stride", layer.stride, rank)),
        dilations=list(nn.functional.per_axis("dilation", layer.dilation, rank)),
    )[0]  # fmt: skip
    agree(found, want)


def normalised(x: Array, axes: tuple[int, ...], eps: float) -> Array:
    away = x - x.mean(axes, keepdims=True)
    return away / np.sqrt((away**2).mean(axes, keepdims=True) + eps)


def test_layer_norm_normalises_the_last_axes() -> None:
    x = floats(2, 3, 4)
    layer = nn.LayerNorm((3, 4), eps=1e-2)
    found = run(layer, x)
    assert layer.weight is not None
    assert layer.bias is not None
    agree(found, normalised(x, (1, 2), 1e-2) * layer.weight.data + layer.bias.data)
    agree(run(nn.LayerNorm(4, elementwise_affine=False), x), normalised(x, (2,), 1e-5))
    with pytest.raises(ShapeError, match="LayerNorm over"):
        run(nn.LayerNorm(3), x)


def test_the_other_normalisations_are_as_defined() -> None:
    x = floats(2, 4, 3, 3)
    batch = nn.BatchNorm2d(4)
    found = run(batch, x)
    mean, var, scale, bias = (
        each.data.reshape(-1, 1, 1)
        for each in (batch.running_mean, batch.running_var, batch.weight, batch.bias)
    )
    agree(found, (x - mean) / np.sqrt(var + np.float32(1e-5)) * scale + bias)
    group = nn.GroupNorm(2, 4)
    found = run(group, x)
    parts = normalised(x.reshape(2, 2, -1), (2,), 1e-5).reshape(x.shape)
    agree(found, parts * group.weight.data[:, None, None] + group.bias.data[:, None, None])
    rms, x = nn.RMSNorm(5), floats(3, 5)
    found = run(rms, x)
    agree(found, x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * rms.weight.data)


@pytest.mark.parametrize("with_mask", ["none", "added", "bools"])
def test_attention_mixes_the_values_of_each_head(with_mask: str) -> None:
    layer = nn.MultiHeadAttention(6, 2)
    q, k, v = floats(2, 3, 6), floats(2, 4, 6), floats(2, 4, 6)
    mask = RANDOM.random((3, 4)) > 0.3
    mask[:, 0] = True
    given = {"none": [], "added": [floats(3, 4)], "bools": [mask]}[with_mask]
    found = run(layer, q, k, v, *given)
    w, b = layer.in_proj_weight.data, layer.in_proj_bias
    assert b is not None
    heads = []
    for head in range(2):
        rows = slice(head * 3, head * 3 + 3)
        a, c, e = (x @ w[i * 6 : i * 6 + 6][rows].T + b.data[i * 6 : i * 6 + 6][rows]
                   for i, x in enumerate((q, k, v)))  # fmt: skip
        scores = np.einsum("nik,njk->nij", a, c) / np.sqrt(3)
        if with_mask != "none":
            scores = (
                np.where(given[0], scores, -np.inf) if with_mask == "bools" else scores + given[0]
            )
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        heads.append(np.einsum("nij,njk->nik", powers / powers.sum(-1, keepdims=True), e))
    out = layer.out_proj
    assert out.bias is not None
    agree(found, (np.concatenate(heads, -1) @ out.weight.data.T + out.bias.data).astype("f4"))


def gelu(x: Array) -> Array:
    from math import erf

    return (x * 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2)))).astype(np.float32)


def softmax(x: Array) -> Array:
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


ACTIVATIONS = [
    (nn.ReLU(), lambda x: np.maximum(x, 0)),
    (nn.LeakyReLU(0.1), lambda x: np.where(x > 0, x, np.float32(0.1) * x)),
    (nn.GELU(), gelu),
    (nn.GELU("tanh"), lambda x: x / 2 * (1 + np.tanh(0.79788456 * (x + 0.044715 * x**3)))),
    (nn.SiLU(), lambda x: x / (1 + np.exp(-x))),
    (nn.Sigmoid(), lambda x: 1 / (1 + np.exp(-x))),
    (nn.Tanh(), np.tanh),
    (nn.Softmax(), softmax),
    (nn.LogSoftmax(), lambda x: np.log(softmax(x))),
    (nn.Identity(), lambda x: x),
    (nn.Dropout(), lambda x: x),
    (nn.Flatten(), lambda x: x.reshape(2, -1)),
    (nn.MaxPool2d(2), lambda x: x.reshape(2, 3, 2, 2, 3, 2).max((3, 5))),
    (nn.AvgPool2d(2), lambda x: x.reshape(2, 3, 2, 2, 3, 2).mean((3, 5))),
    (nn.AdaptiveAvgPool2d(1), lambda x: x.mean((2, 3), keepdims=True)),
    (nn.AdaptiveAvgPool2d((2, 3)), lambda x: x.reshape(2, 3, 2, 2, 3, 2).mean((3, 5))),
]


@pytest.mark.parametrize(("layer", "want"), ACTIVATIONS)
def test_layers_without_parameters_are_as_defined(layer: nn.Module, want: Any) -> None:
    x = floats(2, 3, 4, 6)
    agree(run(layer, x), want(x).astype(np.float32))


def test_padding_counts_in_means_as_asked() -> None:
    x = np.ones((1, 1, 2, 2), np.float32)
    counted, left_out = nn.AvgPool2d(2, 2, 1), nn.AvgPool2d(2, 2, 1, count_include_pad=False)
    assert run(counted, x).max() == 0.25
    assert run(left_out, x).min() == 1


def test_a_mean_to_a_size_that_does_not_divide_is_refused() -> None:
    with pytest.raises(ShapeError, match="needs extents that are multiples of it"):
        run(nn.AdaptiveAvgPool2d(3), floats(1, 1, 4, 4))
