"""shift_to_unsigned: a signed operand of a sum of products becomes an unsigned one."""

import numpy as np
import pytest

from irkit.core import ScheduleError
from irkit.ir import interpret, parse, verify
from irkit.schedule import BlockRef, Schedule
from irkit.te import compute, create_prim_func, placeholder, reduce_axis, sum as te_sum


def product(a: str = "i8", b: str = "i8", out: str = "i32") -> Schedule:
    left, right = placeholder((3, 5), a, name="A"), placeholder((5, 4), b, name="B")
    k = reduce_axis((0, 5), name="k")
    result = compute(
        (3, 4),
        lambda i, j: te_sum(left[i, k].astype(out) * right[k, j].astype(out), axis=k),
        name="C",
    )
    return Schedule(create_prim_func([left, right, result]))


@pytest.mark.parametrize("operand", ["A", "B"])
@pytest.mark.parametrize("seed", range(3))
def test_the_result_is_exact(operand: str, seed: int) -> None:
    sch = product()
    made = sch.shift_to_unsigned(BlockRef("C"), operand)
    assert [each.name for each in made] == ["C_unsigned", "C_sums", "C_shift"]
    assert verify(sch.func) == []
    assert f"{operand}_unsigned = alloc(u8" in sch.func.script()
    random = np.random.default_rng(seed)
    a, b = (random.integers(-128, 128, s).astype(np.int8) for s in ((3, 5), (5, 4)))
    c = np.zeros((3, 4), np.int32)
    interpret(sch.func, a, b, c)
    assert (c == a.astype(np.int32) @ b.astype(np.int32)).all()


def test_a_sum_that_wraps_around_still_does() -> None:
    sch = product("i16", "i16")
    sch.shift_to_unsigned(BlockRef("C"), "A")
    a, b = np.full((3, 5), -(2**15), np.int16), np.full((5, 4), -(2**15), np.int16)
    c = np.zeros((3, 4), np.int32)
    interpret(sch.func, a, b, c)
    assert (c == np.int64(5 * 2**30).astype(np.int32)).all()


@pytest.mark.parametrize(
    ("types", "reason"),
    [
        (("u8", "i8", "i32"), "not signed"),
        (("f32", "f32", "f32"), "not signed"),
        (("i32", "i32", "i32"), "not wider"),
    ],
)
def test_other_operands_are_refused(types: tuple[str, str, str], reason: str) -> None:
    sch = product(*types)
    before = sch.func
    with pytest.raises(ScheduleError, match=reason):
        sch.shift_to_unsigned(BlockRef("C"), "A")
    assert sch.func is before


def test_a_square_is_refused() -> None:
    text = """def f(A: i8[4, 4], C: i32[4]):
    for i in serial(0, 4):
        for k in serial(0, 4):
            with block("C"):
                vi = axis.spatial(4, i)
                vk = axis.reduce(4, k)
                with init():
                    C[vi] = i32(0)
                C[vi] = C[vi] + cast(A[vi, vk], i32) * cast(A[vi, vk], i32)
"""
    with pytest.raises(ScheduleError, match="two buffers"):
        Schedule(parse(text)).shift_to_unsigned(BlockRef("C"), "A")


def test_loops_that_are_split_are_refused() -> None:
    sch = product()
    sch.split(sch.get_loops(BlockRef("C"))[0], [None, 3])
    with pytest.raises(ScheduleError, match="own loops"):
        sch.shift_to_unsigned(BlockRef("C"), "A")
