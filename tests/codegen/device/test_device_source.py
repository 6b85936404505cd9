"""OpenCL C, CUDA C, host code, PTX, AMDGPU and SPIR-V: properties of the text."""

import re
from typing import Any

import pytest

import irkit
from irkit.core import IRKitError
from irkit.ir import parse
from irkit.phases import DEFAULT
from tests.codegen.device.programs import HALF, PRODUCT, PROGRAMS, SOFTMAX, SUM, TWO


def kernel_part(text: str, name: str) -> str:
    """Return the text from the head of a kernel on."""
    return text[text.index(f"{name}(") :]


def test_a_product_in_opencl_c_shares_panels_and_waits() -> None:
    kernel = irkit.build(PRODUCT, target="opencl")
    text = kernel_part(kernel.source(), "void product_kernel")
    assert "__kernel __attribute__((reqd_work_group_size(8, 8, 1)))" in kernel.source()
    assert text.count("__global const float *restrict") == 2
    assert "__local __attribute__((aligned(16))) float rows[128];" in text
    wait = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
    assert text.index(wait) < text.index("rows[q] =") < text.rindex(wait, 0, text.index("= rows["))
    assert "const int32_t by = (int32_t)get_group_id(1);" in text
    assert "const int32_t tx = (int32_t)get_local_id(0);" in text
    # Nothing of C or of another language is left over.
    assert not re.search(r"\b(sqrtf|fmaf|memcpy|threadIdx|__syncthreads|_Alignas|return 0)\b", text)


def test_a_product_in_cuda_c_is_the_same_but_for_the_words() -> None:
    texts = [
        kernel_part(irkit.build(PRODUCT, target=target).source(), "product_kernel")
        for target in ("opencl", "cuda")
    ]
    words = {
        r"__global |\[restrict\]|restrict |__restrict__ ": "",
        r"__local __attribute__\(\(aligned\(16\)\)\)|__shared__ __align__\(16\)": "SHARED",
        r"barrier\(CLK_LOCAL_MEM_FENCE \| CLK_GLOBAL_MEM_FENCE\)|__syncthreads\(\)": "WAIT",
        r"get_group_id\(1\)|blockIdx\.y": "BY",
        r"get_group_id\(0\)|blockIdx\.x": "BX",
        r"get_local_id\(1\)|threadIdx\.y": "TY",
        r"get_local_id\(0\)|threadIdx\.x": "TX",
    }
    for old, new in words.items():
        assert all(re.search(old, text) for text in texts)
        texts = [re.sub(old, new, text) for text in texts]
    assert texts[0] == texts[1]


def test_launches_are_data() -> None:
    kernel = irkit.build(TWO, target="cuda")
    first, second = kernel.launches
    assert [dim.value for dim in (*first.grid, *first.block)] == [4, 1, 1, 1, 1, 1]
    assert [dim.value for dim in (*second.grid, *second.block)] == [8, 1, 1, 8, 1, 1]
    assert [p.name for p in first.kernel.params] == ["A", "C", "D", "E", "M"]
    (product,) = irkit.build(PRODUCT, target="cuda").launches
    assert [buffer.name for buffer in product.shared] == ["rows", "columns"]


def test_memory_of_a_block_that_is_allocated_around_a_launch_is_of_each_block() -> None:
    kernel = irkit.build(SOFTMAX, target="opencl")
    (launch,) = kernel.launches
    assert {buffer.name for buffer in launch.shared} >= {"top", "total", "top_parts"}
    assert [param.name for param in launch.kernel.params] == ["A", "C"]


def test_memory_that_launches_of_many_blocks_share_is_refused() -> None:
    text = """def f(A: f32[4], C: f32[4]):
    S = alloc(f32[4], scope="shared")
    for b in thread(0, {blocks}, "blockIdx.x"):
        for t in thread(0, 2, "threadIdx.x"):
            S[b * 2 + t] = A[b * 2 + t]
    for b in thread(0, {blocks}, "blockIdx.x"):
        for t in thread(0, 2, "threadIdx.x"):
            C[b * 2 + t] = S[b * 2 + t]
"""
    with pytest.raises(IRKitError, match="'S' is allocated around several launches"):
        irkit.build(parse(text.format(blocks=2)), target="opencl")


BLOCK_MEMORY = """def f(A: f32[4, 8], C: f32[4, 8]):
    for b in thread(0, 4, "blockIdx.x"):
        T = alloc(f32[8]{scope})
        for t in thread(0, 8, "threadIdx.x"):
            T[t] = A[b, t]
        for u in thread(0, 8, "threadIdx.x"):
            C[b, u] = T[7 - u]
"""
ROWS = """def f(A: f32[8], C: f32[8]):
    for y in thread(0, 2, "threadIdx.y"):
        T = alloc(f32[4])
        for x in thread(0, 4, "threadIdx.x"):
            T[x] = A[y * 4 + x]
            evaluate(barrier())
            C[y * 4 + x] = T[3 - x]
"""
OWN = """def f(A: f32[4, 8], C: f32[4, 8]):
    R = alloc(f32[2], scope="local")
    for b in thread(0, 4, "blockIdx.x"):
        for t in thread(0, 8, "threadIdx.x"):
            R[0] = A[b, t]
            R[1] = R[0] * f32(2.0)
            C[b, t] = R[1] + R[0]
"""
words = pytest.mark.parametrize(
    ("target", "kind", "word"),
    [
        ("opencl", "opencl", "__local __attribute__"),
        ("cuda", "cuda", "__shared__ "),
        ("cuda", "ptx", ".shared .align 16 .b8"),
        ("amdgpu", "llvm", "addrspace(3) global"),
    ],
)


@words
@pytest.mark.parametrize("scope", ["", ', scope="shared"'])
def test_memory_of_a_block_is_shared_memory(scope: str, target: str, kind: Any, word: str) -> None:
    kernel = irkit.build(parse(BLOCK_MEMORY.format(scope=scope)), target=target)
    assert kernel.source(kind).count(word) == 1
    (launch,) = kernel.launches
    assert [(each.scope, each.shape[0].value) for each in launch.shared] == [("shared", 8)]


@words
def test_memory_between_two_thread_loops_has_a_row_for_each_outer_thread(
    target: str, kind: Any, word: str
) -> None:
    kernel = irkit.build(parse(ROWS), target=target)
    assert kernel.source(kind).count(word) == 1
    (launch,) = kernel.launches
    assert [each.shape[0].value for each in launch.shared] == [8]


@words
def test_memory_of_a_thread_is_not_shared(target: str, kind: Any, word: str) -> None:
    kernel = irkit.build(parse(OWN), target=target)
    assert word not in kernel.source(kind)
    assert [param.name for param in kernel.launches[0].kernel.params] == ["A", "C"]


def test_ptx_keeps_memory_of_a_thread_in_registers() -> None:
    text = irkit.build(parse(OWN), target="cuda").source("ptx")
    assert not re.search(r"\.(local|shared)\b", text)


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ("20000", r"a block shares 80000 bytes of memory \(T f32\); expected at most 32768"),
        ("n", r"buffer 'T' of 'f_kernel', which the threads of a block share, must have constant"),
    ],
)
def test_memory_of_a_block_that_does_not_fit_is_refused_by_its_size(size: str, reason: str) -> None:
    text = BLOCK_MEMORY.format(scope="").replace("f32[4, 8]", "f32[n, 8]")
    text = text.replace("alloc(f32[8])", f"alloc(f32[{size}])")
    text = text.replace("T[7 - u]", "T[cast(A[b, u], i64)]")
    with pytest.raises(IRKitError, match=reason):
        irkit.build(parse(text), target="opencl")


def test_host_code_in_cuda_launches_and_frees() -> None:
    text = irkit.build(TWO, target="cuda").source("host")
    assert "two_kernel<<<dim3(4, 1, 1), dim3(1, 1, 1), 0, stream>>>(A, C, D, E, M);" in text
    assert "two_kernel1<<<dim3(8, 1, 1), dim3(8, 1, 1), 0, stream>>>(C, M);" in text
    assert text.index("cudaMalloc((void **)&M, 4 * (size_t)64)") < text.index("cudaFree(M)")
    assert "for (int32_t step = 0; step < 3; ++step) {" in text


def test_host_code_in_opencl_sets_each_argument() -> None:
    text = irkit.build(TWO, target="opencl").source("host")
    assert text.count("clSetKernelArg(kernels[0], ") == 5
    assert "const size_t local[3] = {8, 1, 1}, global[3] = {(size_t)8 * 8, " in text


def test_thread_loops_stay_in_the_trace_of_a_device() -> None:
    kernel = irkit.build(SUM, target="cuda")
    assert 'in thread(i32(0), i32(5), "blockIdx.x")' in kernel.func.script()
    assert "thread(" not in DEFAULT.run(SUM).script()


@pytest.mark.parametrize("func", PROGRAMS, ids=lambda func: func.name)
@pytest.mark.parametrize(
    ("target", "kind", "words"),
    [
        ("cuda", "ptx", (".visible .entry", ".target sm_80", ".reqntid")),
        ("h100", "ptx", (".target sm_90",)),
        ("amdgpu", "amdgpu", ("amdgcn-amd-amdhsa--gfx942", "s_endpgm")),
    ],
)
def test_llvm_makes_text_of_every_program(
    func: irkit.ir.PrimFunc, target: str, kind: str, words: tuple[str, ...]
) -> None:
    kernel = irkit.build(func, target=target)
    text = kernel.source(kind)  # pyright: ignore[reportArgumentType] -- parametrized
    assert all(word in text for word in words)
    for launch in kernel.launches:
        assert launch.kernel.name in text
    assert ".extern .func" not in text  # No call of a library of the device.


def test_ptx_knows_where_memory_is() -> None:
    text = irkit.build(PRODUCT, target="cuda").source("ptx")
    assert text.count("bar.sync") >= 2
    assert ".shared .align 16" in text
    for word in ("ld.global", "st.global", "ld.shared", "st.shared"):
        assert word in text
    assert not re.search(r"\b(ld|st)\.(b|f|u|s)\d", text)  # A pointer that may point anywhere.
    assert ".local" not in text  # The threads' elements are registers.


def test_functions_of_f64_need_no_library_of_the_device() -> None:
    func = parse(
        "def f(A: f64[8]):\n"
        '    for t in thread(0, 8, "threadIdx.x"):\n'
        "        A[t] = fmod(sin(A[t]) + tan(A[t]), A[t])\n"
    )
    assert "fmod" in irkit.build(func, target="cuda").source()
    assert ".extern .func" not in irkit.build(func, target="cuda").source("ptx")
    assert "s_endpgm" in irkit.build(func, target="amdgpu").source("amdgpu")


def test_a_kind_of_source_that_a_target_lacks_is_refused() -> None:
    with pytest.raises(IRKitError, match="expected one of 'opencl', 'host', 'spirv', 'llvm'"):
        irkit.build(HALF, target="opencl").source("ptx")


def test_names_of_other_languages_are_not_taken() -> None:
    func = parse(
        "def kernel(half: f32[8], threadIdx: f32[8], float4: f32[8], barrier: f32[8]):\n"
        '    for get_local_id in thread(0, 8, "threadIdx.x"):\n'
        "        barrier[get_local_id] = half[get_local_id] + threadIdx[get_local_id]\n"
        "        float4[get_local_id] = half[get_local_id]\n"
    )
    for target in ("opencl", "cuda"):
        text = kernel_part(irkit.build(func, target=target).source(), "kernel_kernel")
        for name in ("half_", "threadIdx_", "float4_", "barrier_", "get_local_id_"):
            assert name in text
