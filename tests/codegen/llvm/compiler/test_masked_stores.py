"""A masked store writes the active lanes and no other byte."""

import numpy as np
import pytest

from irkit.codegen.llvm.compiler.masked_stores import hide_masks
from irkit.core import Target
from irkit.ir import numpy_dtype, parse
from tests.codegen.llvm.cases import compiled

# The last vector has one active lane, which LLVM sees once it has unrolled the loop.
TAIL = """
def tail(A: {wide}[{extent}], C: {narrow}[{extent}]):
    for i in serial(0, 3):
        t: boolx{lanes} = ramp(i * {lanes}, 1, {lanes}) < broadcast({extent}, {lanes})
        v: {wide}x{lanes} = load(A, (ramp(i * {lanes}, 1, {lanes}),), mask=t)
        store(C, (ramp(i * {lanes}, 1, {lanes}),), cast(v, "{narrow}x{lanes}"), mask=t)
"""


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize(
    ("wide", "narrow"),
    [("i32", "i8"), ("i32", "i16"), ("i64", "i32"), ("f32", "f16"), ("f32", "bf16"), ("i64", "u8")],
)
def test_a_tail_of_one_lane_writes_one_element(wide: str, narrow: str, lanes: int) -> None:
    extent = 2 * lanes + 1
    func = parse(TAIL.format(wide=wide, narrow=narrow, lanes=lanes, extent=extent))
    room = np.full(extent + 16, 77).astype(numpy_dtype(func.params[1].dtype))
    given = np.arange(1, extent + 1).astype(numpy_dtype(func.params[0].dtype))
    compiled([func], Target())["tail"](given, room[:extent])
    assert np.array_equal(room[:extent], given.astype(room.dtype))
    assert (room[extent:] == room.dtype.type(77)).all()


# LLVM vectorises this loop itself: 16 lanes without a mask, and 4 of which one is active.
GUARDED = """
def guarded(A: {wide}[17], C: {narrow}[17]):
    for i in serial(0, 20):
        if i < 17:
            C[i] = cast(A[i] * A[i] + A[i], {narrow})
"""


@pytest.mark.parametrize(
    ("wide", "narrow"), [("i32", "i8"), ("i64", "i16"), ("i64", "i32"), ("f32", "bf16")]
)
def test_a_loop_that_llvm_vectorizes_writes_no_more_than_its_elements(
    wide: str, narrow: str
) -> None:
    func = parse(GUARDED.format(wide=wide, narrow=narrow))
    room = np.full(17 + 16, 77).astype(numpy_dtype(func.params[1].dtype))
    given = (np.arange(17) % 7).astype(numpy_dtype(func.params[0].dtype))
    compiled([func], Target())["guarded"](given, room[:17])
    assert np.array_equal(room[:17], (given * given + given).astype(room.dtype))
    assert (room[17:] == room.dtype.type(77)).all()


def test_masks_are_hidden_once_a_function_and_width() -> None:
    store = "call void @llvm.masked.store.v{0}i8.p0(<{0} x i8> %a, ptr %p, <{0} x i1> {1}), !x !0"
    text = "\n".join(
        [
            "define void @f() {",
            "first:",
            f"  {store.format(4, 'splat (i1 true)')}",
            f"  {store.format(4, '%m')}",
            f"  {store.format(8, '%n')}",
            "}",
            "define void @g() {",
            f"  {store.format(4, '%m')}",
            "}",
        ]
    )
    made = hide_masks(text)
    assert made.count('call i8 asm ""') == 2
    assert made.count("shufflevector") == 3
    assert "and <4 x i1> splat (i1 true), %irkit.always4\n" in made
    assert made.count("<4 x i1> %irkit.mask") == 3
    byte = '  %irkit.byte = call i8 asm "", "=r,0"(i8 1)'
    assert made.splitlines()[:3] == [*text.splitlines()[:2], byte]
