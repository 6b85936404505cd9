"""A store with a mask writes the lanes that are set, and not a byte more."""

import numpy as np
import pytest

from irkit.core import Target
from irkit.ir import numpy_dtype, parse
from tests.codegen.cases import compiled

# Of the last vector one lane is inside, which LLVM sees once it has unrolled the loop.
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
