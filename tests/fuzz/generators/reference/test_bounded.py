"""The error bound of a sum is not too wide."""

import numpy as np

from irkit import te
from irkit.fuzz.generators.reference.bounded import evaluate_bounded


def test_a_bound_is_not_too_wide() -> None:
    """A sum of 64 numbers can be off by 16 units of the sum of their magnitudes."""
    a = te.placeholder((64,), "f32", name="A")
    k = te.reduce_axis((0, 64), name="k")
    total = te.compute((), lambda: te.sum(a[k], axis=k))
    assert isinstance(total, te.Tensor)
    values = np.linspace(-1.0, 1.0, 64).astype(np.float32)
    [(value, error)] = evaluate_bounded([total], {a: values}, {})
    assert error is not None
    assert abs(float(value)) <= float(error)
    assert 8 < float(error) / (2.0**-24 * float(np.abs(values).sum())) < 20
