"""Schedules whose products are computed on tiles, or in f16 with one rounding."""

import re

import numpy as np
import pytest

from irkit import build, lower, te
from irkit.codegen import assembly, complete_target, emit
from irkit.core import Target
from irkit.ir import Expr, PrimFunc, as_dtype, interpret, numpy_dtype, verify
from irkit.schedule import Schedule
from tests.draws import LONG

SERVER = Target("llvm", cpu="sapphirerapids", triple="x86_64-unknown-linux-gnu")


def product(m: int, k: int, n: int, kinds: tuple[str, str, str]) -> PrimFunc:
    a, b = te.placeholder((m, k), kinds[0], name="A"), te.placeholder((k, n), kinds[1], name="B")
    r = te.reduce_axis((0, k), name="k")

    def at(i: te.IterVar, j: te.IterVar) -> Expr:
        x, y = a[i, r], b[r, j]
        if kinds[2] != kinds[0]:
            x, y = x.astype(kinds[2]), y.astype(kinds[2])
        return te.sum(x * y, axis=r)

    return te.create_prim_func([a, b, te.compute((m, n), at, name="C")])


def on_tiles(func: PrimFunc, group: int, intrinsic: str) -> PrimFunc:
    """Pack both operands into tiles, and multiply and add these."""
    sch, deep = Schedule(func), 16 * group
    block = sch.get_block("C")
    first, second = sch.cache_read(block, "A"), sch.cache_read(block, "B")

    def rows(i: Expr, k: Expr) -> list[Expr]:
        return [i // 16, k // deep, i % 16, k % deep]

    def columns(k: Expr, j: Expr) -> list[Expr]:
        return [j // 16, k // deep, k // group % 16, j % 16, k % group]

    def sums(i: Expr, j: Expr) -> list[Expr]:
        return [i // 16, j // 16, i % 16, j % 16]

    sch.transform_layout(first, rows)
    sch.transform_layout(second, columns)
    i, j, k = sch.get_loops(block)
    i, row = sch.split(i, [None, 16])
    j, column = sch.split(j, [None, 16])
    k, groups, one = sch.split(k, [None, 16, group])
    sch.reorder(i, j, k, row, column, groups, one)
    sch.reverse_compute_at(sch.cache_write(block), j)
    sch.transform_layout(block, sums)
    sch.decompose_reduction(block, k)
    sch.tensorize(row, intrinsic)
    return sch.func


TILES = [
    ("i8", "i8", "i32", "tdpbssd"),
    ("i8", "u8", "i32", "tdpbsud"),
    ("u8", "i8", "i32", "tdpbusd"),
    ("u8", "u8", "i32", "tdpbuud"),
    ("bf16", "bf16", "f32", "tdpbf16ps"),
]


@pytest.mark.parametrize(("a", "b", "out", "mnemonic"), TILES)
def test_a_product_on_tiles(a: str, b: str, out: str, mnemonic: str) -> None:
    group = 2 if a == "bf16" else 4
    rows, steps, columns = (32, 128, 48) if LONG else (16, 64, 32)
    func = product(rows, steps, columns, (a, b, out))
    scheduled = on_tiles(func, group, f"x86_{mnemonic}_16x16x{16 * group}")
    assert verify(scheduled) == []
    random = np.random.default_rng(0)
    left, right = random.integers(0, 9, (rows, steps)), random.integers(0, 9, (steps, columns))
    given = left.astype(numpy_dtype(as_dtype(a))), right.astype(numpy_dtype(as_dtype(b)))
    native, meant = (np.zeros((rows, columns), numpy_dtype(as_dtype(out))) for _ in range(2))
    build(scheduled)(*given, native)
    interpret(scheduled, *given, meant)
    assert (native == left @ right).all()
    assert (meant == native).all()


def test_tiles_are_read_from_packed_operands() -> None:
    func = on_tiles(product(32, 128, 48, ("u8", "i8", "i32")), 4, "x86_tdpbusd_16x16x64")
    target = complete_target(SERVER)
    text = assembly(emit([lower(func)], target), target)
    assert "\ttdpbusd\t" in text
    assert re.search(r"\ttileloadd\t\(%r\w+,%r\w+\)", text)
    assert "gather" not in text


def test_an_f16_product_of_rows() -> None:
    func = product(4, 6, 64, ("f16", "f16", "f16"))
    sch = Schedule(func)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    j, lane = sch.split(j, [None, 32])
    sch.reorder(i, j, k, lane)
    sch.decompose_reduction(block, k)
    sch.tensorize(lane, "x86_vfmaddph_512")
    random = np.random.default_rng(0)
    left, right = random.integers(-4, 5, (4, 6)), random.integers(-4, 5, (6, 64))
    out = np.zeros((4, 64), np.float16)
    build(sch.func)(left.astype(np.float16), right.astype(np.float16), out)
    assert (out == left @ right).all()
    target = complete_target(SERVER)
    text = assembly(emit([lower(sch.func)], target), target)
    assert re.search(r"\tvfmadd\d+ph\t.*%zmm", text)
    assert "vcvtph2ps" not in text
