"""What code generation relies on in LLVM, tested here because most of the speed depends on it."""

import ml_dtypes
import numpy as np
import pytest

from irkit.codegen import assembly, complete_target, emit, host_target
from irkit.codegen.llvm.compiler.object_file import optimise
from irkit.core import Target
from irkit.ir import (
    F32,
    I32,
    Allocate,
    Buffer,
    Const,
    Expr,
    For,
    PrimFunc,
    Store,
    Var,
    broadcast,
    call,
    cast,
    const,
    dtype,
    index,
    parse,
    ramp,
    seq,
)
from tests.codegen.llvm.cases import both, compiled, crossed, elementwise, same_bits, special

x86 = pytest.mark.skipif(
    "+avx512f" not in host_target().features, reason="looks for the instructions of AVX-512"
)
i, k = Var("i"), Var("k")
SIZE = index(512)
ZERO = (index(0),)


def code(func: PrimFunc, level: int = 3) -> str:
    target = complete_target(Target(opt_level=level))
    return assembly(emit([func], target), target)


def buffers(*names: str) -> list[Buffer]:
    return [Buffer(name, (SIZE,), F32) for name in names]


def dot(**attrs: bool) -> PrimFunc:
    a, b, c = buffers("A", "B", "C")
    step = Store(c, ZERO, c[index(0)] + a[i] * b[i])
    return PrimFunc("dot", (a, b, c), For(i, index(0), SIZE, step), tuple(attrs.items()))


@x86
def test_contract_makes_fused_multiply_add() -> None:
    assert "vfmadd" in code(dot())
    assert "vfmadd" not in code(dot(contract=False))


@x86
def test_reassoc_vectorises_a_sum() -> None:
    assert "%zmm" not in code(dot())
    assert "%zmm" in code(dot(reassoc=True))


def stores_in_loop(text: str) -> int:
    return sum(line.strip().startswith("vmovss\t%xmm") for line in text.splitlines())


@x86
def test_noalias_keeps_a_sum_in_a_register() -> None:
    assert stores_in_loop(code(dot())) == 1
    assert stores_in_loop(code(dot(noalias=False))) > 1


@x86
@pytest.mark.parametrize("level", [1, 2, 3])
def test_an_accumulator_in_local_memory_is_promoted_to_registers(level: int) -> None:
    rows, lanes = 4, 16
    a, b, c = (Buffer(name, (SIZE, SIZE), F32) for name in "ABC")
    held = Buffer("held", (index(rows), index(lanes)), F32, "local")
    zero, all_lanes = broadcast(const(0.0, F32), lanes), ramp(0, 1, lanes)
    start = [Store(held, (index(r), all_lanes), zero) for r in range(rows)]
    step = [
        Store(
            held,
            (index(r), all_lanes),
            held[index(r), all_lanes] + broadcast(a[index(r), k], lanes) * b[k, all_lanes],
        )
        for r in range(rows)
    ]
    end = [Store(c, (index(r), all_lanes), held[index(r), all_lanes]) for r in range(rows)]
    body = Allocate(held, seq(*start, For(k, index(0), SIZE, seq(*step)), *end))
    text = code(PrimFunc("tile", (a, b, c), body), level)
    assert "(%rsp)" not in text
    assert text.count("vfmadd") % rows == 0
    assert "vfmadd" in text


def test_functions_of_the_math_library_are_found_in_the_process() -> None:
    for name in ("log", "atan2", "sinh", "expm1"):
        kind = dtype("f64")
        row = 2 if name == "atan2" else 1
        func = elementwise("f", [kind] * row, 4, lambda *a, name=name: call(name, *a))
        compiled([func])["f"](*[np.ones(4)] * row, np.zeros(4))


@pytest.mark.parametrize("lanes", [1, 4])
def test_f16_without_its_instructions_gives_the_same(lanes: int) -> None:
    half, single = dtype("f16"), dtype("f32")
    slow = Target(opt_level=1, features=("-f16c",)) if "+f16c" in host_target().features else None
    everything = np.arange(1 << 16, dtype="u2").view("f2")
    widen = elementwise("widen", [half], 1 << 16, lambda a: cast(a, single), lanes)
    add = crossed(special(half), 2, lanes)
    plus = elementwise("plus", [half, half], len(add[0]), lambda a, b: a + b, lanes)
    ties = np.arange(0, 1 << 32, 65_521 // 16, dtype="u8").astype("u4").view("f4")
    ties = np.concatenate([ties, ties[: -len(ties) % 4]])
    narrow = elementwise("narrow", [single], len(ties), lambda a: cast(a, half), lanes)
    kernels = compiled([widen, plus, narrow], slow or Target(opt_level=1))
    assert "half" not in kernels["widen"].source() or slow is None
    with np.errstate(all="ignore"):
        for func, given in ((plus, add),):
            native, expected = both(func, given, kernels[func.name])
            assert same_bits(native, expected).all()
        wide, back = np.zeros(1 << 16, "f4"), np.zeros(len(ties), "f2")
        kernels["widen"](everything, wide)
        assert same_bits(wide, everything.astype("f4")).all()
        kernels["narrow"](ties, back)
        assert same_bits(back, ties.astype("f2")).all()


def test_bf16_rounds_to_even_and_keeps_denormals() -> None:

    values = np.arange(0, 1 << 32, 65_521 // 16, dtype="u8").astype("u4").view("f4")
    func = elementwise("f", [F32], len(values), lambda a: cast(a, dtype("bf16")))
    got = np.zeros(len(values), ml_dtypes.bfloat16)
    compiled([func], Target())["f"](values, got)
    with np.errstate(all="ignore"):
        assert same_bits(got, values.astype(ml_dtypes.bfloat16)).all()


def test_stores_of_constants_can_become_memset() -> None:
    # Hence no kernel may have the name of a function that LLVM calls.
    (c,) = buffers("C")
    text = code(PrimFunc("memset", (c,), For(i, index(0), SIZE, Store(c, (i,), Const(0.0, F32)))))
    assert "irkit.kernel.memset:" in text


TILED = """\
def tiled(p: f32[2, 3, 4, 5], r: f32[14, 18, 16, 10]):
    p_flat = view(p, f32[120], offset=0)
    r_flat = view(r, f32[40320], offset=0)
    for a in serial(i32(0), i32(14)):
        for b in serial(i32(0), i32(18)):
            for c in serial(i32(0), i32(16)):
                for d in serial(i32(0), i32(10)):
                    r_flat[a * i32(2880) + b * i32(160) + c * i32(10) + d] = \
p_flat[a % i32(2) * i32(60) + b % i32(3) * i32(20) + c % i32(4) * i32(5) + d % i32(5)]
"""


def test_an_index_that_wraps_around_does_so_in_a_vectorised_loop() -> None:
    kernel = compiled([parse(TILED)], complete_target(Target(opt_level=3)))["tiled"]
    x = np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5)
    found = np.zeros((14, 18, 16, 10), np.float32)
    kernel(x, found)
    np.testing.assert_array_equal(found, np.tile(x, (7, 6, 4, 2)))


VECTOR_SUM = """\
def vector_sum(x: f32[64, 16], y: f32[16]):
    s = alloc(f32[16], scope="local")
    s[ramp(0, 1, 16)] = broadcast(f32(0.0), 16)
    for k in serial(0, 64):
        s[ramp(0, 1, 16)] = s[ramp(0, 1, 16)] + x[k, ramp(0, 1, 16)] * x[k, ramp(0, 1, 16)]
    y[ramp(0, 1, 16)] = s[ramp(0, 1, 16)]
"""


@x86
def test_level_1_keeps_vector_sums_in_registers_and_vectorises_nothing() -> None:
    found = code(parse(VECTOR_SUM), 1)
    assert "vfmadd" in found
    assert "rsp" not in found
    assert "zmm" in code(dot(reassoc=True))
    assert "zmm" not in code(dot(reassoc=True), 1)


def test_level_1_inlines_what_must_be_inlined() -> None:
    def power(x: Expr, y: Expr) -> Expr:
        return call("pow", x, y)

    func = elementwise("power", [I32, I32], 16, power, 4)
    target = complete_target(Target(opt_level=1))
    text = emit([func], target)
    assert " #1 {" in text
    assert "@irkit.pow" in text
    assert "@irkit.pow" not in str(optimise(text, target))


def test_the_lanes_of_a_contiguous_index_are_not_computed() -> None:
    text = emit([parse(VECTOR_SUM)], complete_target(Target()))
    assert "<16 x i64>" not in text
