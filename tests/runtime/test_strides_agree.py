"""Strides of arguments: native code and the interpreter accept and refuse the same arrays, with the
same numbers for the variables that stand for strides."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError
from irkit.ir import interpret, parse

SYMBOLIC = """def f(A: buffer(f32[n, m], strides=(s, t)), C: i64[3]):
    C[0] = s
    C[1] = t
    for i in serial(0, n):
        for j in serial(0, m):
            C[2] = C[2] + cast(A[i, j], i64)
"""
CONSTANT = """def f(A: buffer(f32[n, m], strides=(8, 1)), C: i64[3]):
    for i in serial(0, n):
        for j in serial(0, m):
            C[2] = C[2] + cast(A[i, j], i64)
"""
SHARED = """def f(
    A: buffer(f32[n, m], strides=(s, 1)),
    B: buffer(f32[n, m], strides=(s, 1)),
    C: i64[3],
):
    C[0] = s
"""
APART = """def f(
    S: buffer(u8[1, 1], strides=(s, 1)),
    A: buffer(f32[2, 2], strides=(s, 1)),
    C: i64[3],
):
    C[0] = s
"""
WHOLE = np.arange(64, dtype=np.float32).reshape(8, 8)


def strided(shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    return np.lib.stride_tricks.as_strided(WHOLE, shape, strides)


ARRAYS = {
    "whole": WHOLE,
    "some columns": WHOLE[:, :3],
    "transposed": WHOLE.T,
    "rows reversed": WHOLE[::-1],
    "columns reversed": WHOLE[:, ::-1],
    "one row reversed": WHOLE[::-1][:1],
    "no rows": WHOLE[:0],
    "no columns": WHOLE[:, :0],
    "new and empty": np.zeros((0, 4), np.float32),
    "empty, far apart": strided((0, 8), (1 << 62, 4)),
    "one row, far apart": strided((1, 8), (1 << 62, 4)),
    "one row, far back": strided((1, 8), (-(1 << 62), 4)),
    "one row, between elements": strided((1, 8), (3, 4)),
    "rows between elements": strided((2, 7), (30, 4)),
    "broadcast": np.broadcast_to(WHOLE[0], (3, 8)),
}
Run = Callable[..., object]


def said(run: Run, *args: Any) -> object:
    """Return the results, or the message of the error."""
    result = np.zeros(3, np.int64)
    try:
        run(*args, result)
    except IRKitError as error:
        return type(error), error.message
    return result.tolist()


@pytest.mark.parametrize(
    "text", [SYMBOLIC, CONSTANT, SHARED], ids=["symbolic", "constant", "shared"]
)
def test_native_code_and_the_interpreter_agree(text: str) -> None:
    func = parse(text)
    kernel = irkit.build(func)
    several = set[str]()
    for name, array in ARRAYS.items():
        rows, columns = array.shape
        args = (array, WHOLE[:rows, :columns]) if text is SHARED else (array,)
        expected = said(lambda *given: interpret(func, *given), *args)
        assert said(kernel, *args) == expected, name
        several.add(str(expected))
    assert len(several) > 3


def test_a_declared_stride_is_not_compared_modulo_2_to_the_64() -> None:
    """The stride 2**62 of bytes must not be taken for the stride 0 of floats."""
    func = parse(APART)
    bytes_ = np.lib.stride_tricks.as_strided(np.zeros(1, np.uint8), (1, 1), (1 << 62, 1))
    args = bytes_, np.broadcast_to(WHOLE[0, :2], (2, 2))
    expected = said(lambda *given: interpret(func, *given), *args)
    assert isinstance(expected, tuple)
    assert said(irkit.build(func), *args) == expected
