"""The schedules of ``examples/schedules`` against NumPy, torch, numba and ONNX Runtime, f32.

``python -m benchmarks.schedules.examples`` measures all on one thread and on two; ``python -m
benchmarks.schedules.examples 1 product rows`` some of them, on one. torch and numba are measured if
they are installed.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import irkit
from benchmarks.schedules.peers import (
    chain_of_convolutions,
    numba_kernels,
    numpy_kernels,
    torch_kernels,
)
from benchmarks.timing import Thunk, once, paired
from examples.schedules import conv, elementwise, matmul, reductions
from irkit.ir import PrimFunc
from irkit.runtime import num_threads

SIZES = (256, 512, 1024, 2048)
LAYERS = ((64, 56), (128, 28), (256, 14), (512, 7))
CHAIN = 9
ELEMENTS, COLUMNS = 1 << 22, 1 << 10
ROUNDS = 5
_THREADS = ("IRKIT", "OMP", "OPENBLAS", "MKL", "NUMBA")


def compare(name: str, ours: Thunk, peers: dict[str, Thunk], work: float, repeats: int) -> None:
    """Print the speed relative to each peer, with minimum and maximum over some rounds: on one
    thread the median ratio, on several that of the best times. Units: ``work`` in bytes or
    operations."""
    alone = num_threads() == 1
    speeds_by_peer: list[str] = []
    seconds: list[float] = []
    for label, peer in peers.items():
        measure = paired if alone else in_bursts
        rounds = [measure(ours, peer, repeats=repeats) for _ in range(ROUNDS)]
        speeds = sorted(1 / ratio for _, _, ratio in rounds)
        mine, other = (min(each[side] for each in rounds) for side in (0, 1))
        seconds += [median(each[0] for each in rounds) if alone else mine]
        speed = median(speeds) if alone else other / mine
        speeds_by_peer.append(f"{label} {speed:.2f} ({speeds[0]:.2f}-{speeds[-1]:.2f})")
    mine = median(seconds)
    print(
        f"{name}: {mine * 1e6:.0f} us, {work / mine / 1e9:.0f} G/s; {', '.join(speeds_by_peer)}",
        flush=True,
    )


def in_bursts(ours: Thunk, peer: Thunk, *, repeats: int) -> tuple[float, float, float]:
    """Time a row of calls of one side, then of the other; return the best of each and their ratio.

    Idle threads spin for a while, and would take a processor from the other side: so each side
    waits until they sleep, and has time to wake its own.
    """

    def best(run: Thunk) -> float:
        time.sleep(0.3)
        for _ in range(repeats):
            run()
        return min(once(run) for _ in range(2 * repeats))

    mine, other = best(ours), best(peer)
    return mine, other, mine / other


def peers_of(name: str, threads: int, *operands: Any) -> dict[str, Thunk]:
    """Return the peers that have an operation, ready to run on some operands."""
    found = {
        "NumPy": numpy_kernels(),
        "torch": torch_kernels(threads),
        "numba": numba_kernels(threads),
    }
    return {
        label: partial(kernels[name], *operands)
        for label, kernels in found.items()
        if name in kernels
    }


def products(threads: int) -> None:
    """Products of matrices: with one operand packed in the call, with both, and prepacked."""
    for n in SIZES:
        a, b = np.random.default_rng(0).random((2, n, n), dtype=np.float32)
        c, panels = np.empty_like(a), matmul.panels(b)
        cases: dict[str, tuple[PrimFunc, Any]] = {
            "B packed in time": (matmul.schedule(matmul.matmul(n)).func, b),
            "A and B packed in time": (matmul.schedule(matmul.matmul(n), pack_a=True).func, b),
            "B prepacked": (matmul.schedule(matmul.matmul_prepacked(n)).func, panels),
        }
        peers = peers_of("matmul", threads, a, b, np.empty_like(a))
        for how, (func, second) in cases.items():
            kernel = irkit.build(func)
            kernel(a, second, c)
            np.testing.assert_allclose(c, a @ b, rtol=1e-4)
            repeats = max(3, 2048 // n)
            ours = partial(kernel, a, second, c)
            compare(f"product {n}, {how}", ours, peers, 2 * n**3, repeats)


def convolutions(threads: int) -> None:
    """Nine 3x3 convolutions in a row, so that neither side pays for its layout."""
    rng = np.random.default_rng(0)
    for channels, size in LAYERS:
        shape = (CHAIN, channels, channels, 3, 3)
        weights = list(rng.standard_normal(shape, dtype=np.float32) / np.float32(3 * channels**0.5))
        x = rng.standard_normal((channels, size, size), dtype=np.float32)
        session = chain_of_convolutions(weights, size, threads)
        chain = _our_chain(weights, x)
        np.testing.assert_allclose(conv.plain(chain()), session(x), rtol=1e-2, atol=1e-3)
        work = 2 * 9 * channels * x.size * CHAIN
        peers: dict[str, Thunk] = {"ONNX Runtime": partial(session, x)}
        compare(f"{CHAIN} convolutions {channels} x {size}²", chain, peers, work, 7)


def _our_chain(weights: list[Any], x: Any) -> Callable[[], Any]:
    channels, size, _ = x.shape
    func = conv.schedule(conv.conv3x3(channels, size), columns=conv.tile(size)).func
    kernel = irkit.build(func)
    packed = [conv.filters(w) for w in weights]
    first, *between = conv.blocked(x), *(conv.blocked(np.zeros_like(x)) for _ in range(2))
    inside = [each[:, 1:-1, 1:-1, :] for each in between]

    def run() -> Any:
        kernel(first, packed[0], inside[0])
        for at, w in enumerate(packed[1:]):
            kernel(between[at % 2], w, inside[(at + 1) % 2])
        return between[(len(packed) - 1) % 2]

    return run


def elements(threads: int) -> None:
    """Elementwise operations, which are limited by memory."""
    a, b, d = np.random.default_rng(0).standard_normal((3, ELEMENTS), dtype=np.float32)
    _memory("add", elementwise.schedule(elementwise.add(ELEMENTS)), threads, a, b, np.empty_like(a))
    func = elementwise.mul_add_relu(ELEMENTS)
    _memory("mul_add_relu", elementwise.schedule(func), threads, a, b, d, np.empty_like(a))
    func = reductions.total(ELEMENTS)
    _memory("total", reductions.schedule_total(func), threads, a, np.empty(1, np.float32))


def rows(threads: int) -> None:
    """Operations that read each row several times."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ELEMENTS // COLUMNS, COLUMNS), dtype=np.float32)
    g, b = rng.standard_normal((2, COLUMNS), dtype=np.float32)
    func = reductions.softmax(*x.shape)
    _memory("softmax", reductions.schedule_rows(func), threads, x, np.empty_like(x))
    func = reductions.layernorm(*x.shape)
    _memory("layernorm", reductions.schedule_rows(func), threads, x, g, b, np.empty_like(x))


def _memory(name: str, sch: irkit.Schedule, threads: int, *operands: Any) -> None:
    """Compare an operation with its peers; all write the same array, since its pages matter."""
    kernel = irkit.build(sch.func)
    peers = peers_of(name, threads, *operands)
    peers["NumPy"]()
    wanted = operands[-1].copy()
    kernel(*operands)
    if name != "total":  # NumPy returns the sum, and rounds it differently.
        np.testing.assert_allclose(operands[-1], wanted, rtol=1e-3, atol=1e-4)
    work = sum(each.nbytes for each in operands)
    compare(name, partial(kernel, *operands), peers, work, 15)


def compiler(threads: int) -> None:
    """Time lowering and building the product of 1024, with nothing cached."""
    func = matmul.schedule(matmul.matmul(1024)).func
    irkit.build(func)
    lowering: list[float] = []
    building: list[float] = []
    for _ in range(15):
        start = time.perf_counter()
        irkit.lower(func)
        lowering.append(time.perf_counter() - start)
        start = time.perf_counter()
        irkit.build(func)
        building.append(time.perf_counter() - start)
    print(
        f"product 1024: built in {median(building) * 1e3:.0f} ms "
        f"({min(building) * 1e3:.0f}-{max(building) * 1e3:.0f}), "
        f"of which lowering {median(lowering) * 1e3:.0f} (mark: 100)"
    )


PARTS: dict[str, Callable[[int], None]] = {
    "compiler": compiler,
    "product": products,
    "convolution": convolutions,
    "elements": elements,
    "rows": rows,
}


def main(arguments: list[str] | None = None) -> None:
    """Print all figures, or those for a number of threads."""
    if arguments:
        for name in arguments[1:] or PARTS:
            PARTS[name](int(arguments[0]))
        return
    for threads in "12":
        # The libraries read the number of threads when they are loaded.
        counts = {f"{name}_NUM_THREADS": threads for name in _THREADS}
        print(f"on {threads} thread{'s' * (threads > '1')}:", flush=True)
        command = [sys.executable, "-m", "benchmarks.schedules.examples", threads]
        subprocess.run(command, env=os.environ | counts | {"IRKIT_CACHE": "0"}, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
