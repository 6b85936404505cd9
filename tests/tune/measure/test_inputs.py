import numpy as np
import pytest

from irkit import te
from irkit.ir import PrimFunc
from irkit.tune.measure.inputs import (
    agree,
    draw,
    expected_of,
    largest_whole,
    outputs_of,
    reduction_steps,
)
from tests.tune.programs import blur, convolution, exponential, nearest, product


def chain(n: int) -> PrimFunc:
    """Multiply three matrices: values grow with the square of the size."""
    a, b, c = (te.placeholder((n, n), name=name) for name in "ABC")
    k, m = te.reduce_axis((0, n), name="k"), te.reduce_axis((0, n), name="m")
    d = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="D")
    e = te.compute((n, n), lambda i, j: te.sum(d[i, m] * c[m, j], axis=m), name="E")
    return te.create_prim_func([a, b, c, e])


@pytest.mark.parametrize(
    ("func", "whole"),
    [
        (product(8, 8, 512), 4),
        (product(8, 8, 1 << 22), 2),
        (product(8, 8, 1 << 25), 0),
        (chain(64), 4),
        (chain(4000), 1),
        (nearest(8, 8, 64), 4),
        (convolution(16, 8, 8), 4),
        (blur(16), 4),
        (exponential(8), 0),
    ],
)
def test_whole_inputs_are_as_large_as_sums_are_exact(func: PrimFunc, whole: int) -> None:
    assert largest_whole(func) == whole


def test_sums_of_whole_inputs_are_the_same_in_any_order() -> None:
    a, b, _ = draw(product(16, 16, 4096), "whole", 4, 0)
    forwards = np.cumsum((a[0] * b[:, 0]).astype(np.float32), dtype=np.float32)[-1]
    backwards = np.cumsum((a[0] * b[:, 0])[::-1].astype(np.float32), dtype=np.float32)[-1]
    assert forwards == backwards
    assert forwards == (a[0].astype(np.float64) * b[:, 0]).sum()


def test_fractions_are_not_whole() -> None:
    a, *_ = draw(product(16, 16, 16), "fractions", 4, 0)
    assert (a % 1 != 0).mean() > 0.9
    assert np.abs(a).max() <= 1


def test_one_wrong_element_is_found_whatever_the_inputs() -> None:
    func = product(16, 16, 256)
    assert outputs_of(func) == [2]
    assert reduction_steps(func) == 257
    want = np.full((16, 16), 8.0, np.float32)
    got = want.copy()
    got[3, 5] = np.nextafter(np.float32(8), np.float32(9))
    assert not agree(expected_of(func, [want], exactly=True, steps=257), [got]).ok
    assert agree(expected_of(func, [want], exactly=False, steps=257), [got]).ok
    got[3, 5] = 8.01
    found = agree(expected_of(func, [want], exactly=False, steps=257), [got])
    assert not found.ok
    assert "[3, 5]" in found.message


def test_a_result_that_was_never_written_is_nan() -> None:
    func = product(4, 4, 4)
    want = np.ones((4, 4), np.float32)
    got = want.copy()
    got[0, 0] = np.nan
    assert agree(expected_of(func, [want], exactly=False, steps=4), [got]).nan
