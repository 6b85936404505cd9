"""What a device cannot run is refused before any code is written, with the remedy."""

import pytest

import irkit
from irkit.core import DEVICE_TABLE, DeviceRow, IRKitError, Target
from irkit.ir import parse

BLOCK = """
def f(A: f32[{n}]):
    for b in thread(0, {grid}, "{outer}"):
        for t in thread(0, {threads}, "{inner}"):
            A[b * {threads} + t] = f32(1.0)
"""


def block(grid: int, threads: int, outer: str = "blockIdx.x", inner: str = "threadIdx.x") -> str:
    return BLOCK.format(n=grid * threads, grid=grid, threads=threads, outer=outer, inner=inner)


REFUSED = {
    "too many threads": (
        block(2, 2048),
        "cuda",
        r"kernel 'f_kernel' for cuda: a block has 2048 threads \(2048 x 1 x 1\); expected at most "
        "1024",
        "Split a loop",
    ),
    "too many for a small device": (block(2, 512), "opencl", "512 threads .* at most 256", "Split"),
    "too many along z": (
        block(2, 128, inner="threadIdx.z"),
        "h100",
        "threadIdx.z has 128 threads; expected at most 64",
        "another axis than z",
    ),
    "too many blocks": (
        block(70000, 1, outer="blockIdx.y"),
        "a100",
        "blockIdx.y has 70000 blocks; expected at most 65535",
        "blockIdx.x",
    ),
    "threads of unknown number": (
        "def f(n: i32, A: f32[n]):\n"
        '    for t in thread(0, n, "threadIdx.x"):\n        A[t] = f32(1.0)\n',
        "cuda",
        "must be a constant number, found max.*n.* x 1 x 1",
        "Split the loop by a constant",
    ),
    "too much shared memory": (
        "def f(A: f32[64]):\n"
        '    for b in thread(0, 2, "blockIdx.x"):\n'
        '        for t in thread(0, 32, "threadIdx.x"):\n'
        '            S = alloc(f32[32, 1024], scope="shared")\n'
        "            for i in serial(0, 1024):\n"
        "                S[t, i] = A[b * 32 + t]\n"
        "            evaluate(barrier())\n"
        "            for i in serial(0, 1023):\n"
        "                A[b * 32 + t] = A[b * 32 + t] + S[31 - t, i] * S[31 - t, i + 1]\n",
        "cuda",
        r"a block shares 131072 bytes of memory \(S f32\); expected at most 101376",
        "tiles smaller",
    ),
    "an assertion": (
        'def f(A: f32[8]):\n    for t in thread(0, 8, "threadIdx.x"):\n'
        '        assert A[t] > f32(0.0), "positive"\n        A[t] = f32(1.0)\n',
        "opencl",
        "an assertion inside a launch cannot stop it",
        'target="llvm"',
    ),
    "no binding": (
        "def f(A: f32[8]):\n    for i in serial(0, 8):\n        A[i] = f32(1.0)\n",
        "opencl",
        "function 'f' has no loop that is bound to threads",
        's.bind(i, "blockIdx.x")',
    ),
    "a statement outside": (
        "def f(A: f32[8]):\n    A[0] = f32(2.0)\n"
        '    for t in thread(0, 8, "threadIdx.x"):\n        A[t] = f32(1.0)\n',
        "opencl",
        "a statement of 'f' is in no thread loop",
        "Bind a loop",
    ),
    "a condition over memory": (
        "def f(A: f32[8]):\n    if A[0] > f32(0.0):\n"
        '        for t in thread(0, 8, "threadIdx.x"):\n            A[t] = f32(1.0)\n',
        "cuda",
        "the condition around a launch reads 'A', which is memory of the device",
        "inside the thread loops",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_launch_beyond_the_device_is_refused(case: str) -> None:
    text, target, message, hint = REFUSED[case]
    with pytest.raises(IRKitError, match=message) as caught:
        irkit.build(parse(text), target=target, schedule="none")
    assert caught.value.span is not None
    assert hint in str(caught.value)


@pytest.mark.parametrize("row", DEVICE_TABLE, ids=lambda row: row.name)
def test_each_device_runs_as_many_threads_as_its_row_says_and_no_more(row: DeviceRow) -> None:
    target = Target(row.name)
    device = target.device
    assert device is not None
    assert device.kind == target.kind
    kernel = irkit.build(parse(block(3, device.threads)), target=target)
    assert kernel.launches[0].kernel.name == "f_kernel"
    with pytest.raises(IRKitError, match=f"expected at most {device.threads}"):
        irkit.build(parse(block(3, device.threads + 1)), target=target)


def test_a_barrier_that_some_threads_miss_is_refused() -> None:
    text = (
        'def f(A: f32[8], S: f32[8]):\n    for t in thread(0, 8, "threadIdx.x"):\n'
        "        if t < 4:\n            S[t] = A[t]\n            evaluate(barrier())\n"
        "            A[t] = S[3 - t]\n"
    )
    with pytest.raises(IRKitError, match="threads may disagree on the condition around a barrier"):
        irkit.build(parse(text), target="cuda")


def test_a_model_for_a_device_is_refused() -> None:
    with pytest.raises(IRKitError, match="a model cannot be compiled for cuda"):
        irkit.compile(b"", target="cuda")
