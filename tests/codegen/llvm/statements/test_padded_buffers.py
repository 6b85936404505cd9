"""A temporary with padding between its rows keeps its strides and has room for them."""

import numpy as np
import pytest

import irkit
from irkit.core import walk
from irkit.ir import Allocate, as_int, interpret, parse
from irkit.phases import DEFAULT

PADDED = """
def f(A: f32[{m}, {n}], C: f32[{m}, {n}]):
    T = alloc(f32[{m}, {n}], strides=({row}, {column}), scope="{scope}")
    for i in serial(0, {m}):
        for j in serial(0, {n}):
            T[i, j] = A[i, j] + f32(1.0)
    for i in serial(0, {m}):
        for j in serial(0, {n}):
            C[i, j] = T[i, j] * f32(2.0)
"""


@pytest.mark.parametrize("scope", ["global", "local"])
@pytest.mark.parametrize(
    ("shape", "strides", "room"),
    [((6, 7), (9, 1), 52), ((6, 7), (1, 8), 54), ((200, 300), (304, 1), 199 * 304 + 300)],
)
def test_padding_survives_every_phase(
    shape: tuple[int, int], strides: tuple[int, int], room: int, scope: str
) -> None:
    text = PADDED.format(m=shape[0], n=shape[1], row=strides[0], column=strides[1], scope=scope)
    func = parse(text)
    lowered = DEFAULT.run(func)
    assert [as_int(each.buffer.shape[0]) for each in walk(lowered, Allocate)] == [room]
    a = np.arange(shape[0] * shape[1], dtype="f4").reshape(shape)
    results = [np.zeros(shape, "f4") for _ in range(4)]
    interpret(lowered, a, results[0])
    irkit.build(func)(a, results[1])
    irkit.build(func, check_bounds=True)(a, results[2])
    irkit.build(func, pipeline=DEFAULT.stop_after(0))(a, results[3])
    for result in results:
        np.testing.assert_array_equal(result, (a + 1) * 2)
