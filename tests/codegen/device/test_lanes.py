"""Memory and instructions of warps in kernels: what each lane does, and what is refused."""

from typing import Literal

import numpy as np
import pytest

import irkit
from irkit.codegen import join_lanes
from irkit.codegen.warp_barrier import WarpBarrier
from irkit.core import IRKitError, walk
from irkit.ir import Allocate, For, PrimFunc, as_int, find_instruction, interpret, parse
from irkit.runtime import DeviceKernel
from tests.codegen.device.warp_programs import WARP_TILE, warp_product

HEAD = 'for b in thread(0, 2, "blockIdx.x"):\n    '


def warp(body: str, memory: str = "m = alloc(f32[128], scope='warp')") -> PrimFunc:
    """Return a function whose blocks have two warps with memory of a warp each."""
    text = f"def f(A: f32[2, 2, 128], C: f32[2, 2, 128]):\n    {HEAD}"
    inner = "\n".join(f"            {line}" for line in (memory, *body.splitlines()))
    return parse(f'{text}    for w in thread(0, 2, "threadIdx.y"):\n{inner}\n'.replace("'", '"'))


def lanes(*lines: str) -> str:
    return "\n".join(["for l in thread(0, 32, 'threadIdx.x'):", *(f"    {x}" for x in lines)])


COPY = warp(
    f"{lanes('for r in unrolled(0, 4):', '    m[l * 4 + r] = A[b, w, l * 4 + r]')}\n"
    f"{lanes('for r in unrolled(0, 4):', '    C[b, w, l + 32 * r] = m[l * 4 + r]')}"
)


def built(func: PrimFunc, target: str = "cuda") -> DeviceKernel:
    kernel = irkit.build(func, target=target)
    assert isinstance(kernel, DeviceKernel)
    return kernel


def test_each_lane_keeps_its_row_in_memory_of_its_own() -> None:
    kernel = built(COPY)
    (launch,) = kernel.launches
    (own,) = [each.buffer for each in walk(launch.kernel.body, Allocate)]
    assert (own.scope, as_int(own.shape[0]), str(own.dtype)) == ("local", 4, "f32")
    assert [loop.thread for loop in walk(launch.kernel.body, For) if loop.kind == "thread"] == [
        "blockIdx.x",
        "threadIdx.y",
        "threadIdx.x",
    ]
    assert "ld.local" not in kernel.source("ptx")


def test_a_warp_computes_the_same_on_a_processor_and_in_the_interpreter() -> None:
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-8, 9, shape).astype("f2") for shape in ((16, 16), (8, 16)))
    found, native = np.zeros((16, 8), "f4"), np.zeros((16, 8), "f4")
    interpret(WARP_TILE, a, b, found)
    irkit.build(WARP_TILE)(a, b, native)
    wanted = a.astype("f4") @ b.astype("f4").T
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(native, wanted)


def test_the_instruction_is_in_both_texts_with_wide_loads_and_two_barriers() -> None:
    kernel = built(warp_product(64, 64, 64, rows=64, columns=64, warps=(2, 2)), "h100")
    for text in (kernel.source("ptx"), kernel.source()):
        assert text.count("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") == 16
    ptx = kernel.source("ptx")
    assert "ld.global.v4.b32" in ptx
    assert "ld.shared.v4.b32" in ptx
    assert "ld.local" not in ptx


def test_lanes_wait_for_each_other_where_they_meet_in_shared_memory() -> None:
    memory = "m = alloc(f32[128], scope='warp')\ns = alloc(f32[2, 32], scope='shared')"
    body = (
        f"{lanes('m[l * 4] = A[b, w, l]', 's[w, l] = m[l * 4]')}\n"
        f"{lanes('m[l * 4 + 1] = s[w, 31 - l]')}\n"
        f"{lanes('m[l * 4 + 2] = s[w, l]')}\n"
        f"{lanes('s[w, l] = m[l * 4 + 1]')}\n"
        f"{lanes('C[b, w, l] = m[l * 4 + 2]')}"
    )
    func = warp(body, memory.replace("\n", "\n            "))
    joined = join_lanes(func, 32)
    # After the first write, and before the second; not between two reads.
    assert sum(1 for _ in walk(joined.body, WarpBarrier)) == 2
    kernel = built(func)
    assert kernel.source().count("__syncwarp();") == 2
    assert kernel.source("ptx").count("bar.warp.sync") == 2


def test_what_an_iteration_wrote_the_next_one_waits_for() -> None:
    memory = "m = alloc(f32[128], scope='warp')\n            s = alloc(f32[2, 32], scope='shared')"
    inside = lanes("m[l * 4] = s[w, 31 - l]", "s[w, l] = m[l * 4]").replace("\n", "\n    ")
    func = warp(f"for step in serial(0, 3):\n    {inside}", memory)
    assert sum(1 for _ in walk(join_lanes(func, 32).body, WarpBarrier)) == 1


@pytest.mark.parametrize(
    ("func", "words"),
    [
        (
            warp(lanes("m[l * 4 + 4] = A[b, w, l]")),
            "an access of 'm' is not one of each lane's own",
        ),
        (warp(lanes("m[(31 - l) * 4] = A[b, w, l]")), "an access of 'm' is not one of each lane's"),
        (
            warp(lanes("m[l * 4] = A[b, w, l]", "m[l * 2] = A[b, w, l]")),
            "an access of 'm' is not one of each lane's own row",
        ),
        (
            warp(f"{lanes('m[l * 4] = A[b, w, l]')}\nC[b, w, 0] = f32(1.0)"),
            "a statement beside the loops over lanes is no instruction of a warp",
        ),
        (
            warp("for l in thread(0, 16, 'threadIdx.x'):\n    m[l * 8] = A[b, w, l]"),
            "expected the 32 lanes of a warp, bound to 'threadIdx.x'",
        ),
        (
            warp(f"k = alloc(f32[4])\n{lanes('m[l * 4] = A[b, w, l]', 'k[l % 4] = m[l * 4]')}"),
            "allocated beside the loops over lanes, so lanes would share it",
        ),
    ],
)
def test_what_is_not_for_lanes_is_refused(func: PrimFunc, words: str) -> None:
    with pytest.raises(IRKitError, match=words):
        join_lanes(func, 32)


@pytest.mark.parametrize("target", ["opencl"])
def test_a_device_without_warps_refuses_their_memory(target: str) -> None:
    with pytest.raises(IRKitError, match="needs a device whose threads run in warps"):
        built(COPY, target)


def test_one_thread_cannot_execute_an_instruction_of_a_warp() -> None:
    func = parse(
        "def f(A: f16[256], B: f16[128], C: f32[128]):\n"
        '    for t in thread(0, 1, "threadIdx.x"):\n'
        "        C[ramp(0, 1, 128)] = ptx_mma_m16n8k16_f16(C[ramp(0, 1, 128)], "
        "A[ramp(0, 1, 256)], B[ramp(0, 1, 128)])\n"
    )
    texts: tuple[Literal["ptx", "cuda"], ...] = ("ptx", "cuda")
    for text in texts:
        with pytest.raises(IRKitError, match="is executed by 32 threads together; found in code"):
            built(func).source(text)


def test_an_older_device_has_no_such_instruction() -> None:
    row = find_instruction("ptx_mma_m16n8k16_f16")
    assert row is not None
    assert (row.threads, row.features) == (32, ("sm_80",))
    with pytest.raises(IRKitError, match="has no code in cuda"):
        built(WARP_TILE, "cuda -arch=sm_75").source()


def test_shared_memory_above_what_kernels_declare_is_asked_for() -> None:
    func = warp_product(128, 128, 128, parts=2, warps=(2, 2))
    kernel = built(func, "h100")
    assert kernel.shared == {"warp_product_kernel": 65536}
    assert "extern __shared__" in kernel.source()
    assert "cudaFuncAttributeMaxDynamicSharedMemorySize, 65536" in kernel.source("host")
    assert "65536, stream>>>" in kernel.source("host")
    assert ".extern .shared" in kernel.source("ptx")
