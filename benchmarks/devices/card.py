"""Kernels on a CUDA device next to PyTorch's: products by tensor cores, softmax, sums of rows.

    python -m benchmarks.devices.card

Times are medians of captured graphs of ten launches, so that the host's side does not count; each
ratio is PyTorch's time by irkit's. The host's side of a call is timed apart.
"""

import statistics
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import irkit
from irkit.ir import PrimFunc
from irkit.phases import DEFAULT
from irkit.runtime.device.cuda import CUDA
from tests.codegen.device.programs import ELEMENTWISE, product
from tests.codegen.device.row_programs import row_sums, softmax_rows
from tests.codegen.device.warp_programs import warp_product
from tests.targets.card import by_nvrtc

torch: Any = import_module("torch")
TILES = (
    (128, 128, (2, 2), 1),
    (128, 128, (2, 2), 2),
    (128, 256, (2, 4), 1),
    (128, 256, (2, 4), 2),
    (256, 128, (4, 2), 1),
    (256, 128, (4, 2), 2),
)
"""Rows, columns, warps and panels of 32 steps of a block's tile."""


def seconds(run: Callable[[], Any], launches: int = 10, rounds: int = 15) -> float:
    """Return the median time of a launch on the device."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        for _ in range(launches):
            run()
    found = list[float]()
    for _ in range(rounds):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        found.append(begin.elapsed_time(end) / 1000 / launches)
    return statistics.median(found[2:])


def explicit(func: PrimFunc) -> Any:
    """Build a function that has all barriers that it needs."""
    return irkit.build(func, target="h100", pipeline=DEFAULT.without("thread-sync"))


def on_stream(kernel: Any, *args: Any) -> Callable[[], None]:
    return lambda: kernel(*args, stream=torch.cuda.current_stream().cuda_stream)


def row(name: str, ours: float, theirs: float, rate: str) -> None:
    print(
        f"{name:44} {ours * 1e6:9.1f} {theirs * 1e6:9.1f} {theirs / ours:6.2f}  {rate}", flush=True
    )


def products(size: int) -> None:
    a, b = (torch.randn(size, size, device="cuda").half() for _ in range(2))
    theirs = seconds(lambda: torch.matmul(a, b.T))
    wide = a.double() @ b.double().T
    bound = size * 2.0**-24 * (a.double().abs() @ b.double().abs().T)
    work = 2 * size**3
    c = torch.empty((size, size), device="cuda")
    for rows, columns, warps, parts in TILES:
        c.fill_(float("nan"))
        func = warp_product(size, size, size, rows=rows, columns=columns, warps=warps, parts=parts)
        kernel = explicit(func)
        ours = seconds(on_stream(kernel, a, b, c))
        worst = float(((c.double() - wide).abs() / bound).max())
        words = f"{work / ours / 1e12:.0f} TFLOP/s, error {worst:.1e} of the bound"
        row(f"f16 {size}^3, {rows} x {columns} x {32 * parts}", ours, theirs, words)
    func = warp_product(size, size, size, warps=(2, 2))
    kernel = irkit.build(func, target="h100")
    row("128 x 128 x 32, barriers put in", seconds(on_stream(kernel, a, b, c)), theirs, "")
    kernel = explicit(func)
    kernel._driver = CUDA(by_nvrtc(kernel.source(), "sm_90"), shared=kernel.shared)
    row("128 x 128 x 32, CUDA C", seconds(on_stream(kernel, a, b, c)), theirs, "")
    print(f"cuBLAS {work / theirs / 1e12:.0f} TFLOP/s")


def plain_product(size: int) -> None:
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = (torch.randn(size, size, device="cuda") for _ in range(2))
    c = torch.empty(size, size, device="cuda")
    theirs = seconds(lambda: torch.matmul(a, b))
    for tile, own in ((64, 4), (128, 8)):
        func = product(size, size, size, tile=tile, own=own, step=16)
        ours = seconds(on_stream(irkit.build(func, target="h100"), a, b, c))
        words = f"{2 * size**3 / ours / 1e12:.1f} TFLOP/s"
        row(f"f32 {size}^3, {tile} x {tile}", ours, theirs, words)


def rows(count: int, columns: int) -> None:
    a, c, s = (torch.randn(n, device="cuda") for n in ((count, columns), (count, columns), count))
    size = count * columns * 4
    for func, out, theirs, moved in (
        (row_sums, s, lambda: torch.sum(a, 1), size),
        (softmax_rows, c, lambda: torch.softmax(a, 1), 2 * size),
    ):
        ours = seconds(on_stream(explicit(func(count, columns)), a, out))
        error = float((out - theirs()).abs().max())
        words = f"{moved / ours / 1e12:.2f} TB/s, apart by {error:.1e}"
        row(f"{func.__name__} {count} x {columns}", ours, seconds(theirs), words)


def host_side() -> None:
    kernel: Any = irkit.build(ELEMENTWISE, target="h100")
    a, b, c = (torch.ones(1000, device="cuda") for _ in range(3))
    kernel(1000, a, b, c, 1.0)
    begin = time.perf_counter()
    for _ in range(1000):
        kernel(1000, a, b, c, 1.0, stream=0)
    torch.cuda.synchronize()
    print(
        f"the host's side of a call with 3 tensors: {(time.perf_counter() - begin) * 1000:.0f} us"
    )


def main() -> None:
    print(torch.cuda.get_device_name(), torch.__version__)
    print(f"{'':44} {'irkit us':>9} {'torch us':>9} {'ratio':>6}")
    products(4096)
    plain_product(2048)
    for shape in ((8192, 4096), (32768, 1024)):
        rows(*shape)
    host_side()


if __name__ == "__main__":
    main()
