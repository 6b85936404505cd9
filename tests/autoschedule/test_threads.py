"""The default schedule parallelises loops that are independent and large enough."""

import pytest

from irkit import te
from irkit.autoschedule import auto_schedule, threads
from irkit.core import walk
from irkit.ir import For, PrimFunc, as_int, verify
from irkit.phases import DEFAULT
from irkit.runtime import num_threads, set_num_threads
from tests.autoschedule.test_auto_schedule import agree, conv_relu
from tests.draws import sampled


def parallel(func: PrimFunc) -> list[int]:
    """List the extents of the parallel loops."""
    return [as_int(loop.end) or 0 for loop in walk(func, on=For) if loop.kind == "parallel"]


def test_a_large_convolution_is_parallel_over_enough_iterations() -> None:
    scheduled = auto_schedule(conv_relu(64, 56, 16, 3, 1, 1))
    (found,) = parallel(scheduled)
    assert found >= 8
    assert verify(scheduled) == []


def test_an_image_is_parallel_where_there_are_no_channels_to_distribute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last tile of pixels is guarded then, because two that overlap could not run at once."""
    monkeypatch.setattr(threads, "WORTH", 1)
    func = conv_relu(8, 23, 1, 1, 0, 1)
    scheduled = auto_schedule(func)
    assert len(parallel(scheduled)) == 1
    agree(func, scheduled, native=DEFAULT.run(scheduled))


def test_a_small_kernel_stays_on_one_thread() -> None:
    assert parallel(auto_schedule(conv_relu(4, 10, 16, 3, 1, 1))) == []


def test_a_single_reduction_is_not_parallel() -> None:
    x = te.placeholder((1 << 20,), name="x")
    r = te.reduce_axis((0, 1 << 20), name="r")
    total = te.compute((1,), lambda i: te.sum(x[r], axis=r), name="total")
    assert parallel(auto_schedule(te.create_prim_func([x, total]))) == []


@pytest.mark.parametrize(("kernel", "stride"), sampled([(1, 1), (3, 1), (3, 2)], every=2))
def test_a_parallel_convolution_computes_the_same(
    kernel: int, stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "WORTH", 1)
    before = num_threads()
    func = conv_relu(3, 9, 8, kernel, kernel // 2, stride)
    scheduled = auto_schedule(func)
    assert parallel(scheduled)
    for count in (1, 3):
        set_num_threads(count)
        agree(func, scheduled, native=DEFAULT.run(scheduled))
    set_num_threads(before)


def test_an_extent_that_is_a_sum_of_constants_is_constant() -> None:
    x = te.placeholder((1024, 1024), name="x")
    rows, columns = x.shape
    y = te.compute((rows + 1, columns), lambda i, j: te.exp(x[i // 2, j]), name="y")
    scheduled = auto_schedule(te.create_prim_func([x, y]))
    (loop,) = [each for each in walk(scheduled, on=For) if each.kind == "parallel"]
    assert dict(loop.attrs) == {}
