"""Buffers become one-dimensional."""

import numpy as np
import pytest

from irkit.ir import interpret, parse, verify
from irkit.passes import loop
from tests.passes.loop.programs import body, func, text


@pytest.mark.parametrize("rows", ["0", "n"])
def test_no_rows_take_no_memory_even_with_gaps(rows: str) -> None:
    text = f"""def f(A: f32[n], C: f32[1]):
    T = alloc(f32[{rows}, 4], strides=(8, 1))
    for i in serial(0, {rows}):
        T[i, 3] = A[i]
    C[0] = f32(1.0)
"""
    made = loop.flatten_buffers(parse(text))
    assert verify(made) == []
    for size in (0, 2):
        args = [np.ones(size, np.float32), np.zeros(1, np.float32)]
        interpret(made, *args)
        assert args[1][0] == 1.0


def test_a_buffer_of_rank_0_gets_one_element() -> None:
    made = loop.flatten_buffers(func("T = alloc(f32[()])", "T[()] = A[0]", "C[0] = T[()]"))
    assert body(made) == text("T = alloc(f32[1])", "T[0] = A[0]", "C[0] = T[0]")
