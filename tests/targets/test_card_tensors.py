"""Tensors of PyTorch and CuPy on a CUDA device: kernels take them where they lie."""

from typing import Any

import numpy as np
import pytest

from irkit.core import DTypeError, ShapeError
from irkit.ir import parse
from tests.codegen.device.programs import ELEMENTWISE
from tests.targets.card import needs_card, on_card

pytestmark = needs_card
torch: Any = pytest.importorskip("torch", reason="pip install torch")


def ones(count: int) -> Any:
    return torch.ones(count, device="cuda")


def test_a_tensor_of_pytorch_is_written_in_place() -> None:
    a, b, c = ones(1000) * 2, ones(1000), ones(1003)
    whole, address = c, c.data_ptr()
    on_card(ELEMENTWISE)(1000, a, b, c[2:1002], 3.0)
    assert whole.data_ptr() == address
    assert (whole[2:1002] == 6.5).all()
    assert whole[[0, 1, 1002]].tolist() == [1, 1, 1]


def test_an_array_of_cupy_is_written_in_place() -> None:
    cupy: Any = pytest.importorskip("cupy", reason="pip install cupy")
    a, c = cupy.arange(1, 1001, dtype="f4"), cupy.zeros(1000, "f4")
    on_card(ELEMENTWISE)(1000, a, a, c, 3.0)
    np.testing.assert_array_equal(cupy.asnumpy(c), np.arange(1, 1001) * 3.0 + 1)


def test_a_call_on_a_stream_is_ordered_with_what_is_on_it() -> None:
    kernel, side = on_card(ELEMENTWISE), torch.cuda.Stream()
    size = 1 << 24
    a, c = ones(size), torch.zeros(size, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        for number in range(20):
            a.fill_(number + 1)
            kernel(size, a, a, c, 1.0, stream=side.cuda_stream)
            c.mul_(2)
            a.copy_(c)
    side.synchronize()
    assert (c == 2 * (20 + 1)).all()


def test_a_call_without_a_stream_waits_for_the_stream_of_the_tensors() -> None:
    kernel, side = on_card(ELEMENTWISE), torch.cuda.Stream()
    size = 1 << 26
    a, c = ones(size), torch.zeros(size, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        for _ in range(30):
            a.add_(1)
        kernel(size, a, a, c, 1.0)
    # It waited for the results too: a stream that knows nothing of it can read them.
    with torch.cuda.stream(torch.cuda.Stream()):
        assert float(c.min()) == float(c.max()) == 32


def test_types_of_pytorch_are_those_of_the_program() -> None:
    func = parse(
        "def f(A: bf16[64], B: f16[64], C: i64[64], D: bool[64]):\n"
        '    for t in thread(0, 64, "threadIdx.x"):\n'
        "        C[t] = cast(A[t], i64) + cast(B[t], i64)\n"
        "        D[t] = C[t] > i64(5)\n"
    )
    a = torch.arange(64, device="cuda").to(torch.bfloat16)
    b = torch.arange(64, device="cuda").half()
    c = torch.zeros(64, dtype=torch.int64, device="cuda")
    d = torch.zeros(64, dtype=torch.bool, device="cuda")
    on_card(func)(a, b, c, d)
    assert (c == 2 * torch.arange(64, device="cuda")).all()
    assert (d == (c > 5)).all()


def test_what_a_call_refuses() -> None:
    kernel = on_card(ELEMENTWISE)
    with pytest.raises(DTypeError, match="is in memory of the device, and argument 3"):
        kernel(1000, ones(1000), torch.ones(1000), ones(1000), 1.0)
    with pytest.raises(ShapeError, match="must be contiguous"):
        kernel(1000, ones(1000), ones(2000)[::2], ones(1000), 1.0)
    with pytest.raises(DTypeError, match="must hold float32, found float64"):
        kernel(1000, ones(1000), ones(1000).double(), ones(1000), 1.0)
    with pytest.raises(DTypeError, match="cannot be read through DLPack"):
        kernel(1000, ones(1000).requires_grad_(), ones(1000), ones(1000), 1.0)
    c = ones(1000)
    with pytest.raises(ShapeError, match="is written and overlaps"):
        kernel(1000, c, ones(1000), c, 1.0)
