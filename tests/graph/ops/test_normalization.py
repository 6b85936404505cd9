"""Normalization and softmax against the ONNX reference."""

import numpy as np
import pytest

from tests.graph.ops.references import computed, floats, onnx_result


def test_batch_normalisation_is_as_in_onnx() -> None:
    x, (s, b, m), v = floats(2, 3, 4, 5), (floats(3) for _ in range(3)), np.abs(floats(3))
    found = computed("batch_norm", [x, s, b, m, v], epsilon=1e-3)
    expected = onnx_result("BatchNormalization", [x, s, b, m, v], epsilon=1e-3)[0]
    np.testing.assert_allclose(found, expected, 1e-5, 1e-6)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_local_response_normalisation_is_as_in_onnx(size: int) -> None:
    # The reference only covers as many channels as there are images.
    x = floats(6, 6, 3, 2)
    attrs = {"size": size, "alpha": 0.3, "beta": 0.6, "bias": 2.0}
    expected = onnx_result("LRN", [x], **attrs)[0]
    np.testing.assert_allclose(computed("lrn", [x], **attrs), expected, 1e-5)


@pytest.mark.parametrize(("name", "op"), [("softmax", "Softmax"), ("log_softmax", "LogSoftmax")])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_is_as_in_onnx(name: str, op: str, axis: int) -> None:
    x = floats(3, 4, 5) * 8
    expected = onnx_result(op, [x], axis=axis)[0]
    np.testing.assert_allclose(computed(name, [x], axis=axis), expected, 1e-5, 1e-6)
