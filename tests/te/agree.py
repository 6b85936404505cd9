"""Check that lowered tensor expressions, interpreted, agree with the reference."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from irkit import te
from irkit.core import same
from irkit.ir import interpret, parse, verify


def agree(
    outputs: te.Tensor | Sequence[te.Tensor],
    inputs: Mapping[te.Tensor, Any],
    *expected: Any,
    rtol: float = 1e-5,
    atol: float = 1e-6,
) -> None:
    """Compare the reference with the expected values, and the interpreted loops with the reference.

    Numbers may differ by the order of sums; types, shapes and special values may not.
    """
    wanted = [outputs] if isinstance(outputs, te.Tensor) else list(outputs)
    reference = te.evaluate(wanted, inputs)
    assert len(expected) in (0, len(wanted))
    for made, right in zip(reference, expected, strict=False):
        _close(made, np.asarray(right), rtol, atol)
    func = te.create_prim_func([*inputs, *wanted])
    assert verify(func) == []
    assert same(parse(func.script()), func)
    results = [np.empty_like(array) for array in reference]
    interpret(func, *inputs.values(), *results)
    for made, right in zip(results, reference, strict=True):
        _close(made, right, rtol, atol)


def _close(made: Any, right: Any, rtol: float, atol: float) -> None:
    assert made.dtype == right.dtype
    assert made.shape == right.shape
    if made.dtype.kind in "iub":
        np.testing.assert_array_equal(made, right)
    else:
        np.testing.assert_allclose(
            made.astype(np.float64), right.astype(np.float64), rtol=rtol, atol=atol
        )
