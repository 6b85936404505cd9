"""Buffers become one-dimensional."""

import numpy as np
import pytest

import irkit
from irkit.core import MOST_ELEMENTS, IRKitError, walk
from irkit.ir import (
    I64,
    Allocate,
    Buffer,
    PrimFunc,
    Var,
    as_dtype,
    evaluate,
    interpret,
    loop_ranges,
    parse,
    script,
    seq,
    shape_vars,
    simplify,
    verify,
)
from irkit.passes import loop
from irkit.processes import Limits, run_in_fork
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


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ("n, n", "mul_sat(n, n)"),
        ("n, 4", "mul_sat(n, 4)"),
        ("2, n, m, 8", "mul_sat(mul_sat(n, m), 16)"),
        ("n, 0", "0"),
        ("n", "n"),
    ],
)
def test_the_size_of_an_allocation_does_not_wrap_around(shape: str, size: str) -> None:
    text = f"def f(A: f32[n, m]):\n    T = alloc(f32[{shape}])\n    pass\n"
    allocate = next(walk(loop.flatten_buffers(parse(text)), Allocate))
    assert script(allocate.buffer.shape[0]) == size


@pytest.mark.parametrize("dtype", ["i32", "u8"])
def test_narrow_dimensions_are_multiplied_in_64_bits(dtype: str) -> None:
    n = Var("n", as_dtype(dtype))
    inner = Buffer("T", (n, n), "u8")
    func = PrimFunc("f", (Buffer("A", (n,), "u8"),), Allocate(inner, seq()))
    made = simplify(
        next(walk(loop.flatten_buffers(func), Allocate)).buffer.shape[0], loop_ranges(func)
    )
    assert made.dtype == I64
    assert evaluate(made, {n: 200}) == 40_000


STRIDED = """def f(A: f32[n, m], S: buffer(f32[1, 1], strides=(s, t)), C: i64[1]):
    T = alloc(f32[n, m], strides=(s, t))
    pass
"""


@pytest.mark.parametrize("n", [0, 1, 2, 1 << 32, 1 << 60])
@pytest.mark.parametrize("s", [0, 1, 5, 1 << 32, 1 << 62])
def test_the_reach_of_strides_does_not_wrap_around(n: int, s: int) -> None:
    func = parse(STRIDED)
    size = next(walk(loop.flatten_buffers(func), Allocate)).buffer.shape[0]
    values = dict(zip("nmst", (n, 3, s, 1), strict=True))
    names = {var: values[var.name] for var in shape_vars(func)}
    exact = 0 if n == 0 else 1 + (n - 1) * s + 2
    found = evaluate(size, names)
    assert found == exact if exact <= MOST_ELEMENTS else found > MOST_ELEMENTS


FILLED = """def f(E: u8[0, n], C: f32[1]):
    T = alloc(f32[n, n]{strides})
    for i in serial(0, n):
        for j in serial(0, n):
            T[i, j] = f32(1.0)
    C[0] = T[1, 3]
"""


@pytest.mark.parametrize("strides", ["", ", strides=(n, 1)", ", strides=(1, n)"])
def test_too_large_a_buffer_is_an_error_and_never_a_crash(strides: str) -> None:
    func = parse(FILLED.format(strides=strides))
    calls = [
        (np.zeros((0, n), np.uint8), np.zeros(1, np.float32))
        for n in (1 << 31, 1 << 32, (1 << 32) + 1, 1 << 60, 1 << 62)
    ]
    for args in calls:
        with pytest.raises(IRKitError, match="more than are left"):
            interpret(func, *args)

    def run() -> bytes:
        kernel = irkit.build(func)
        for args in calls:
            with pytest.raises(MemoryError):
                kernel(*args)
        return b"refused"

    assert run_in_fork(run, Limits(seconds=60, memory=4 << 30)) == b"refused"
