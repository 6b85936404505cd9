"""Sums of products of narrow numbers are computed by the instructions of a processor."""

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from irkit import build, te
from irkit.autoschedule import Machine, auto_schedule
from irkit.ir import Buffer, Expr, PrimFunc, as_int, interpret, numpy_dtype, verify
from irkit.schedule import Schedule
from tests.draws import sampled

FEATURES = ("avx512f", "avx512vl", "avx512vnni", "avx512bf16", "avx512fp16")
MACHINE = Machine(features=FEATURES)


def product(
    m: int, k: int, n: int, a: str, b: str, out: str, *, flip_a: bool = False, flip_b: bool = False
) -> PrimFunc:
    left = te.placeholder((k, m) if flip_a else (m, k), a, name="A")
    right = te.placeholder((n, k) if flip_b else (k, n), b, name="B")
    r = te.reduce_axis((0, k), name="k")

    def at(i: te.IterVar, j: te.IterVar) -> Expr:
        x = left[r, i] if flip_a else left[i, r]
        y = right[j, r] if flip_b else right[r, j]
        return te.sum(x.astype(out) * y.astype(out), axis=r)

    return te.create_prim_func([left, right, te.compute((m, n), at, name="C")])


def arrays(func: PrimFunc, seed: int = 0) -> list[NDArray[Any]]:
    random = np.random.default_rng(seed)
    found = list[NDArray[Any]]()
    for param in func.params:
        assert isinstance(param, Buffer)
        shape, dtype = [as_int(dim) or 0 for dim in param.shape], param.dtype
        low, high = (-5, 5) if dtype.is_float else (dtype.low, dtype.high)
        drawn = random.integers(low, high, shape, endpoint=True)
        found.append(drawn.astype(numpy_dtype(dtype)))
    return found


KINDS = [
    ("u8", "i8", "i32", "x86_vpdpbusd_512_one"),
    ("i8", "i8", "i32", "x86_vpdpbusd_512_one"),
    ("i16", "i16", "i32", "x86_vpdpwssd_512_one"),
    ("bf16", "bf16", "f32", "x86_vdpbf16ps_512_one"),
    ("f16", "f16", "f16", "x86_vfmaddph_512_one"),
]


SHAPES = [(24, 64, 64), (13, 41, 50), (4, 7, 600)]


@pytest.mark.parametrize(
    ("a", "b", "out", "instruction", "shape"),
    sampled([(*kind, shape) for kind in KINDS for shape in SHAPES], every=2),
)
def test_a_product_is_exact_whatever_its_shape(
    a: str, b: str, out: str, instruction: str, shape: tuple[int, int, int]
) -> None:
    func = product(*shape, a, b, out)
    scheduled = auto_schedule(func, MACHINE)
    assert verify(scheduled) == []
    assert instruction in scheduled.script()
    given = arrays(func)
    wanted = [each.copy() for each in given]
    build(scheduled)(*given)
    build(func)(*wanted)
    assert (given[2] == wanted[2]).all()


@pytest.mark.parametrize(
    ("flip_a", "flip_b", "shape"),
    sampled(itertools.product((False, True), (False, True), SHAPES[:2]), every=3),
)
def test_transposed_operands_are_packed(
    flip_a: bool, flip_b: bool, shape: tuple[int, int, int]
) -> None:
    func = product(*shape, "u8", "i8", "i32", flip_a=flip_a, flip_b=flip_b)
    scheduled = auto_schedule(func, MACHINE)
    assert "x86_vpdpbusd_512_one" in scheduled.script()
    given = arrays(func)
    wanted = given[2].copy()
    left, right = (x.T if f else x for x, f in zip(given[:2], (flip_a, flip_b), strict=True))
    build(scheduled)(*given)
    wanted[:] = left.astype(np.int32) @ right.astype(np.int32)
    assert (given[2] == wanted).all()


def test_the_interpreter_computes_the_same() -> None:
    func = product(5, 19, 400, "i8", "i8", "i32")
    scheduled = auto_schedule(func, MACHINE)
    assert "x86_vpdpbusd_512_one" in scheduled.script()
    given = arrays(func)
    left, right = (each.astype(np.int32) for each in given[:2])
    interpret(scheduled, *given)
    assert (given[2] == left @ right).all()


@pytest.mark.parametrize(
    ("features", "instruction"),
    [
        (FEATURES, "x86_vpdpbusd_512_one"),
        (("avxvnni",), "x86_vpdpbusd_256_one"),
        (("avx512f", "avx512vl"), ""),
        ((), ""),
    ],
)
def test_only_instructions_of_the_machine_are_used(
    features: tuple[str, ...], instruction: str
) -> None:
    scheduled = auto_schedule(product(64, 64, 64, "u8", "i8", "i32"), Machine(features=features))
    assert (instruction or "def ") in scheduled.script()
    assert instruction or "x86_" not in scheduled.script()


@pytest.mark.parametrize(
    ("shape", "a", "b", "out"),
    [
        ((2, 64, 64), "u8", "i8", "i32"),  # Packing would cost as much as the product.
        ((8, 8, 8), "u8", "i8", "i32"),
        ((64, 64, 64), "i8", "u8", "i32"),
        ((64, 64, 64), "u8", "i8", "f32"),
        ((64, 64, 64), "f32", "f32", "f32"),
    ],
)
def test_other_products_are_left_to_other_rules(
    shape: tuple[int, int, int], a: str, b: str, out: str
) -> None:
    assert "x86_" not in auto_schedule(product(*shape, a, b, out), MACHINE).script()


def test_each_tile_of_a_padded_product_is_finished_where_it_was_computed() -> None:
    func = product(512, 256, 512, "i8", "i8", "i32")
    scheduled = auto_schedule(func, MACHINE)
    sch = Schedule(scheduled)
    assert "C_unpad" in scheduled.script()
    assert len(sch.get_loops(sch.get_block("C_shift"))) > 3
    given = arrays(func)
    left, right = (each.astype(np.int32) for each in given[:2])
    build(scheduled)(*given)
    assert (given[2] == left @ right).all()


def test_a_large_operand_is_packed_on_several_threads() -> None:
    sch = Schedule(auto_schedule(product(512, 512, 512, "u8", "i8", "i32"), MACHINE))
    kinds = [sch.loop(loop).kind for loop in sch.get_loops(sch.get_block("C_B_o"))]
    assert "parallel" in kinds


@pytest.mark.parametrize("flip_a", [False, True])
@pytest.mark.parametrize("flip_b", [False, True])
def test_transposed_operands_of_f16_are_packed(flip_a: bool, flip_b: bool) -> None:
    func = product(13, 41, 50, "f16", "f16", "f16", flip_a=flip_a, flip_b=flip_b)
    scheduled = auto_schedule(func, MACHINE)
    assert "x86_vfmaddph_512_one" in scheduled.script()
    given = arrays(func)
    left, right = (x.T if f else x for x, f in zip(given[:2], (flip_a, flip_b), strict=True))
    wanted = left.astype(np.float32) @ right.astype(np.float32)
    build(scheduled)(*given)
    assert (given[2] == wanted).all()
