"""Matrix products, against NumPy and as loops."""

import numpy as np
import pytest

from irkit import te, topi
from irkit.core import ShapeError
from tests.te.agree import agree

RNG = np.random.default_rng(4)

PRODUCTS = [
    ((2, 3), (3, 4)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((3,), (3,)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (6, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (3,)),
]


@pytest.mark.parametrize(("left", "right"), PRODUCTS)
def test_matrix_products_agree_with_numpy(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = te.placeholder(left, name="a"), te.placeholder(right, name="b")
    x, y = RNG.random(left, np.float32), RNG.random(right, np.float32)
    agree(topi.matmul(a, b), {a: x, b: y}, np.asarray(np.matmul(x, y)))


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_gemm_transposes_and_scales(transpose_a: bool, transpose_b: bool) -> None:
    m, n = te.var("m"), te.var("n")
    a = te.placeholder((3, m) if transpose_a else (m, 3), name="a")
    b = te.placeholder((n, 3) if transpose_b else (3, n), name="b")
    c = te.placeholder((n,), name="c")
    x, y, z = RNG.random((2, 3), np.float32), RNG.random((3, 4), np.float32), np.arange(4.0)
    z = z.astype(np.float32)
    made = topi.gemm(a, b, c, alpha=0.5, beta=2.0, transpose_a=transpose_a, transpose_b=transpose_b)
    inputs = {a: x.T if transpose_a else x, b: y.T if transpose_b else y, c: z}
    contiguous = {tensor: np.ascontiguousarray(array) for tensor, array in inputs.items()}
    agree(made, contiguous, (0.5 * (x @ y) + 2 * z).astype(np.float32))


def test_products_of_small_integers_accumulate_in_the_given_type() -> None:
    a, b = te.placeholder((2, 300), "int8", "a"), te.placeholder((300, 2), "int8", "b")
    x, y = (RNG.integers(-99, 99, shape).astype(np.int8) for shape in ((2, 300), (300, 2)))
    agree(topi.matmul(a, b, out_dtype="int32"), {a: x, b: y}, x.astype(np.int32) @ y)


def test_dense_adds_a_bias() -> None:
    x, w = te.placeholder((2, 3), name="x"), te.placeholder((4, 3), name="w")
    bias = te.placeholder((4,), name="bias")
    values = [RNG.random(shape, np.float32) for shape in ((2, 3), (4, 3), (4,))]
    inputs = dict(zip((x, w, bias), values, strict=True))
    agree(topi.dense(x, w, bias), inputs, values[0] @ values[1].T + values[2])


def test_matrices_that_do_not_fit_are_named() -> None:
    a, b = te.placeholder((2, 3), name="a"), te.placeholder((4, 5), name="b")
    with pytest.raises(ShapeError, match="axis 1 of 'a' and axis 0 of 'b' must agree: 3 != 4"):
        topi.matmul(a, b)
